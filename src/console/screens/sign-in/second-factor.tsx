import { useState } from 'preact/hooks';
import { encode } from 'uqr';
import { useAnswer } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Loading } from '../../components/empty.tsx';
import type { FieldDescription } from '../../components/field.tsx';
import { Form, text } from '../../components/form.tsx';
import { Problem } from '../../components/problem.tsx';
import { ShownOnce } from '../../components/to-copy.tsx';
import { say } from '../../components/toast.tsx';
import { resume } from '../../session.ts';
import { beginFactor, confirmFactor, type NewFactor, readFactor, removeFactor, renewCodes } from './calls.ts';
import { Gate } from './gate.tsx';

const code: FieldDescription = {
	kind: 'text',
	name: 'code',
	label: 'Code',
	required: true,
	code: true,
	autocomplete: 'one-time-code',
	maxLength: 64,
	hint: 'Type the six digits that the app shows now.',
};
const password: FieldDescription = {
	kind: 'password',
	name: 'password',
	label: 'Your password',
	required: true,
	autocomplete: 'current-password',
};

/** Shown after signing in, where the policy requires a second factor and the account has none. */
export function SetUpFirst({ email, onLeave }: { email: string; onLeave(): void }) {
	return (
		<Gate title="Set up a second factor">
			<p class="muted">You are signed in as {email}. Your network requires a code of an authenticator app beside the password.</p>
			<SetUp onDone={() => void resume()} />
			<Button kind="quiet" onClick={onLeave}>
				Sign out
			</Button>
		</Gate>
	);
}

/** The password, then the QR code and a code of the app, then the recovery codes. */
function SetUp({ hasOne = false, onDone }: { hasOne?: boolean; onDone(): void }) {
	const [made, setMade] = useState<NewFactor>();
	const [codes, setCodes] = useState<readonly string[]>();
	if (codes !== undefined) return <RecoveryCodes codes={codes} onDone={onDone} />;
	if (made === undefined) {
		return (
			<Form
				key="password"
				groups={[{ fields: hasOne ? [password, { ...code, hint: 'Use a code of your present app, or a recovery code.' }] : [password] }]}
				initial={{ password: '', code: '' }}
				action="Continue"
				onSubmit={async (values) => {
					const present = text(values, 'code');
					setMade(await beginFactor({ password: String(values['password']), ...(present !== '' && { code: present }) }));
				}}
			/>
		);
	}
	return (
		<>
			<p class="prose">Scan this with an authenticator app, or type the key into it. Then enter the code that it shows.</p>
			<QrCode text={made.uri} />
			<ShownOnce title="Key" text={made.secret.match(/.{1,4}/g)?.join(' ') ?? made.secret} />
			<Form
				key="code"
				groups={[{ fields: [code] }]}
				initial={{ code: '' }}
				action="Switch on"
				onSubmit={async (values) => setCodes((await confirmFactor({ code: text(values, 'code') })).recovery_codes)}
			/>
		</>
	);
}

function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone(): void }) {
	return (
		<>
			<p class="note warning">
				Keep these recovery codes in a place that you can reach without your phone. Each lets you in once. They are shown only once.
			</p>
			<ShownOnce title="Recovery codes" text={codes.join('\n')} />
			<div class="actions">
				<Button kind="primary" onClick={onDone}>
					I have kept them
				</Button>
			</div>
		</>
	);
}

/** Drawn here, so that nobody else sees the secret. It is dark on light in every theme, because cameras expect that. */
function QrCode({ text: content }: { text: string }) {
	const { size, data } = encode(content, { ecc: 'M', border: 4 });
	const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
	return (
		<svg class="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code for the authenticator app; the key stands below">
			<rect width={size} height={size} fill="#fff" />
			<path d={squares.join('')} fill="#000" />
		</svg>
	);
}

type Doing = 'set-up' | 'codes' | 'remove';

/** Lets users set up, replace and remove the second factor of their own account. */
export function SecondFactorDialog({ onClose }: { onClose(): void }) {
	const answer = useAnswer((signal) => readFactor({}, signal), []);
	const [doing, setDoing] = useState<Doing>();
	const [codes, setCodes] = useState<readonly string[]>();
	const state = answer.data;
	return (
		<Dialog title="Second factor" onClose={onClose} size="small">
			{answer.failure && <Problem failure={answer.failure} onRetry={answer.reload} />}
			{answer.loading && <Loading lines={3} />}
			{state && doing === undefined && codes === undefined && (
				<>
					<p class="prose">
						{state.enabled
							? `You enter a code of your authenticator app when you sign in. ${state.recovery_codes_left} recovery codes are left.`
							: 'With an authenticator app, a stolen password alone lets nobody in.'}
					</p>
					<div class="actions">
						{state.enabled && !state.required && <Button onClick={() => setDoing('remove')}>Switch off…</Button>}
						{state.enabled && <Button onClick={() => setDoing('codes')}>New recovery codes…</Button>}
						<Button kind="primary" onClick={() => setDoing('set-up')}>
							{state.enabled ? 'Use another app…' : 'Set up…'}
						</Button>
					</div>
				</>
			)}
			{doing === 'set-up' && (
				<SetUp
					hasOne={state?.enabled === true}
					onDone={() => {
						say('The second factor is in force.');
						onClose();
					}}
				/>
			)}
			{doing === 'codes' && codes === undefined && (
				<Form
					groups={[{ fields: [code] }]}
					initial={{ code: '' }}
					action="Make new codes"
					onCancel={onClose}
					onSubmit={async (values) => setCodes((await renewCodes({ code: text(values, 'code') })).recovery_codes)}
				/>
			)}
			{codes !== undefined && <RecoveryCodes codes={codes} onDone={onClose} />}
			{doing === 'remove' && (
				<Form
					groups={[{ fields: [code] }]}
					initial={{ code: '' }}
					action="Switch off"
					onCancel={onClose}
					onSubmit={async (values) => {
						await removeFactor({ code: text(values, 'code') });
						say('The second factor is switched off.');
						onClose();
					}}
				/>
			)}
		</Dialog>
	);
}

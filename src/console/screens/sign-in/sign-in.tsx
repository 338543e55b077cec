import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { asFailure } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { signIn } from '../../session.ts';
import { Gate } from './gate.tsx';
import { ByProvider, useWays } from './provider.tsx';

/** The sign-in form, on its own page or in the dialog that asks for the password again. */
export function SignIn({ within = false, email: known = '' }: { within?: boolean; email?: string }) {
	const ways = useWays();
	if (within) return <SignInForm known={known} />;
	return (
		<Gate title="Sign in" foot="No account or forgotten password? Ask an administrator for a one-time password.">
			<ByProvider ways={ways} />
			<SignInForm known={known} />
		</Gate>
	);
}

function SignInForm({ known }: { known: string }) {
	const [email, setEmail] = useState(known);
	const [password, setPassword] = useState('');
	/** Undefined until the service asks for a code. */
	const [code, setCode] = useState<string>();
	const [asked, setAsked] = useState(0);
	const [busy, setBusy] = useState(false);
	const [error, setError] = useState<string>();
	const [lockedS, setLockedS] = useState(0);
	const secret = useRef<HTMLInputElement>(null);
	const id = useId();
	useCountdown(lockedS, setLockedS);
	const submit = async () => {
		if (email.trim() === '' || password === '') return setError('Enter your e-mail address and your password.');
		setBusy(true);
		setError(undefined);
		try {
			await signIn(email.trim(), password, code);
		} catch (thrown) {
			const failure = asFailure(thrown);
			setBusy(false);
			if (failure.status === 401 && failure.field === 'code') {
				if (code !== undefined) setError(failure.message);
				setCode('');
				setAsked(asked + 1);
				return;
			}
			setCode(undefined);
			setPassword('');
			if (failure.status === 429) setLockedS(failure.retryAfterS ?? 60);
			else setError(failure.status === 401 ? 'The e-mail address or the password is wrong.' : failure.message);
			secret.current?.focus();
		}
	};
	return (
		<form
			class="form"
			noValidate
			onSubmit={(event) => {
				event.preventDefault();
				if (!busy && lockedS === 0) void submit();
			}}
		>
			<div class="field">
				<label for={`${id}-email`}>E-mail</label>
				<input
					id={`${id}-email`}
					type="email"
					autocomplete="username"
					value={email}
					readOnly={known !== ''}
					onInput={(event) => setEmail(event.currentTarget.value)}
					ref={(input) => {
						if (known === '' && input?.dataset['focused'] === undefined) input?.focus();
						if (input) input.dataset['focused'] = '';
					}}
				/>
			</div>
			<div class="field">
				<label for={`${id}-password`}>Password</label>
				<input
					id={`${id}-password`}
					ref={secret}
					type="password"
					autocomplete="current-password"
					data-autofocus={known === '' ? undefined : ''}
					value={password}
					aria-describedby={`${id}-error`}
					onInput={(event) => setPassword(event.currentTarget.value)}
				/>
			</div>
			{code !== undefined && <CodeField id={id} value={code} asked={asked} onValue={setCode} />}
			<div id={`${id}-error`} role="alert">
				{error !== undefined && <p class="error">{error}</p>}
				{lockedS > 0 && (
					<p class="error">Too many attempts. The account is locked for now. If you forgot your password, ask an administrator.</p>
				)}
			</div>
			<Button type="submit" kind="primary" busy={busy} disabled={lockedS > 0}>
				{lockedS > 0 ? `Try again in ${lockedS} s` : 'Sign in'}
			</Button>
		</form>
	);
}

interface CodeFieldProps {
	id: string;
	value: string;
	/** The number of times that the service asked for a code. */
	asked: number;
	onValue(code: string): void;
}

/** Takes the focus whenever the service asks for a code. */
function CodeField({ id, value, asked, onValue }: CodeFieldProps) {
	const field = useRef<HTMLInputElement>(null);
	useEffect(() => field.current?.focus(), [asked]);
	return (
		<div class="field">
			<label for={`${id}-code`}>Code</label>
			<input
				id={`${id}-code`}
				ref={field}
				type="text"
				autocomplete="one-time-code"
				maxLength={64}
				value={value}
				aria-describedby={`${id}-code-hint ${id}-error`}
				onInput={(event) => onValue(event.currentTarget.value)}
			/>
			<p class="hint" id={`${id}-code-hint`}>
				Use the code of your authenticator app, or a recovery code.
			</p>
		</div>
	);
}

function useCountdown(seconds: number, set: (seconds: number) => void): void {
	useEffect(() => {
		if (seconds <= 0) return;
		const timer = setTimeout(() => set(seconds - 1), 1000);
		return () => clearTimeout(timer);
	}, [seconds]);
}

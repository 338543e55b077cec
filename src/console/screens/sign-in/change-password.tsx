import { ApiFailure } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import type { FieldDescription } from '../../components/field.tsx';
import { Form, type Values } from '../../components/form.tsx';
import { say } from '../../components/toast.tsx';
import { changePassword, forgetTyped } from '../../session.ts';
import { Gate } from './gate.tsx';

const least = 12;

const current = (label: string): FieldDescription => ({
	kind: 'password',
	name: 'current',
	label,
	required: true,
	autocomplete: 'current-password',
});

const chosen: readonly FieldDescription[] = [
	{
		kind: 'password',
		name: 'password',
		label: 'New password',
		required: true,
		autocomplete: 'new-password',
		hint: `At least ${least} characters. A few words that you can remember work best.`,
	},
	{ kind: 'password', name: 'repeated', label: 'New password again', required: true, autocomplete: 'new-password' },
];

const empty = { current: '', password: '', repeated: '' };

/** @throws ApiFailure that names the invalid field */
async function send(values: Values): Promise<void> {
	const { current, password, repeated } = values as typeof empty;
	if (password.length < least) throw new ApiFailure(400, `A password has at least ${least} characters.`, 'password');
	if (password !== repeated) throw new ApiFailure(400, 'The two passwords differ.', 'repeated');
	try {
		await changePassword(current, password);
	} catch (error) {
		if (error instanceof ApiFailure && error.field === 'current') forgetTyped();
		throw error;
	}
	say('Your password is changed.');
}

interface ChangePasswordProps {
	email: string;
	/** The one-time password, where it was typed on this page. Otherwise the form asks for it. */
	typed: string | undefined;
	onLeave(): void;
}

/** Shown after signing in with a one-time password. The user has to choose a password first. */
export function ChangePassword({ email, typed, onLeave }: ChangePasswordProps) {
	const fields = typed === undefined ? [current('One-time password'), ...chosen] : chosen;
	return (
		<Gate title="Choose a password">
			<p class="muted">You are signed in as {email} with a one-time password. That password works only this once.</p>
			<input type="hidden" autocomplete="username" value={email} />
			<Form groups={[{ fields }]} initial={{ ...empty, current: typed ?? '' }} action="Change password" onSubmit={send} />
			<Button kind="quiet" onClick={onLeave}>
				Sign out
			</Button>
		</Gate>
	);
}

export function PasswordDialog({ onClose }: { onClose(): void }) {
	return (
		<Dialog title="Change password" onClose={onClose} size="small">
			<Form
				groups={[{ fields: [current('Current password'), ...chosen] }]}
				initial={empty}
				action="Change password"
				onCancel={onClose}
				onSubmit={async (values) => {
					await send(values);
					onClose();
				}}
			/>
		</Dialog>
	);
}

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { asFailure } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { signIn } from '../../session.ts';
import { Gate } from './gate.tsx';

/** The sign-in form, on its own page or in the dialog that asks for the password again. */
export function SignIn({ within = false, email: known = '' }: { within?: boolean; email?: string }) {
	if (within) return <SignInForm known={known} />;
	return (
		<Gate title="Sign in" foot="No account or forgotten password? Ask an administrator for a one-time password.">
			<SignInForm known={known} />
		</Gate>
	);
}

function SignInForm({ known }: { known: string }) {
	const [email, setEmail] = useState(known);
	const [password, setPassword] = useState('');
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
			await signIn(email.trim(), password);
		} catch (thrown) {
			const failure = asFailure(thrown);
			setBusy(false);
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

function useCountdown(seconds: number, set: (seconds: number) => void): void {
	useEffect(() => {
		if (seconds <= 0) return;
		const timer = setTimeout(() => set(seconds - 1), 1000);
		return () => clearTimeout(timer);
	}, [seconds]);
}

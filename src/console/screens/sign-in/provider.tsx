import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { readWays, type Ways } from '../../session.ts';

const reasons: Readonly<Record<string, string>> = {
	away: 'The sign-in provider does not answer. Local accounts can sign in below.',
	denied: 'The sign-in provider did not let you in.',
	refused: 'The answer of the sign-in provider could not be used. Try again, or ask an administrator.',
	expired: 'This sign-in was begun in another browser, or too long ago. Try again.',
	'no-email': 'The sign-in provider did not state your e-mail address. Ask an administrator.',
	'no-role': 'None of your groups has a role here. Ask an administrator.',
	account: 'There is another account with your e-mail address. Ask an administrator.',
	disabled: 'Your account is disabled. Ask an administrator.',
	busy: 'Too many attempts. Try again in a moment.',
};

const parameter = 'sign-in';

/** Returns why the provider sent the browser back without a session. The address says it once. */
function useReason(): string | undefined {
	const [reason] = useState(() => new URLSearchParams(location.search).get(parameter) ?? undefined);
	useEffect(() => {
		if (reason !== undefined) history.replaceState(history.state, '', '/');
	}, []);
	return reason === undefined ? undefined : (reasons[reason] ?? reasons['refused']);
}

/** The ways to sign in. While they are not known, the form for local accounts is there. */
export function useWays(): Ways | undefined {
	const [ways, setWays] = useState<Ways>();
	useEffect(() => {
		const asking = new AbortController();
		readWays({}, asking.signal).then(setWays, () => undefined);
		return () => asking.abort();
	}, []);
	return ways;
}

/** The button that leads to the provider, which sends the browser back to this page. */
export function ByProvider({ ways }: { ways: Ways | undefined }) {
	const reason = useReason();
	return (
		<>
			<div role="alert">{reason !== undefined && <p class="note warning">{reason}</p>}</div>
			{ways?.provider && (
				<>
					<Button kind="primary" onClick={() => location.assign(`/api/v1/session/provider?return=${encodeURIComponent(pageOf(location))}`)}>
						{`Sign in with ${new URL(ways.provider.issuer).hostname}`}
					</Button>
					<p class="hint">{ways.local === 'administrators' ? 'Administrators may use a local account:' : 'Or use a local account:'}</p>
				</>
			)}
		</>
	);
}

function pageOf({ pathname, search }: Location): string {
	return new URLSearchParams(search).has(parameter) ? '/' : `${pathname}${search}`;
}

/** Leads whoever the provider signed in back to the provider, which leaves this page. */
export function SignInAgain() {
	return (
		<>
			<p class="prose">Sign in again at the sign-in provider. You come back to this page; what you have typed is lost.</p>
			<ByProvider ways={useWays()} />
		</>
	);
}

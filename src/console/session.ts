import type { Role } from '#core/role.ts';
import { ApiFailure, call, credentials } from './api.ts';
import { createStore, forgetKept } from './store.ts';

export interface SignedInUser {
	email: string;
	role: Role;
	sites: { slug: string; name: string }[];
}

interface SessionAnswer {
	user: SignedInUser;
	csrf_token: string;
	must_change_password: boolean;
}

export type Session =
	| { state: 'unknown' }
	| { state: 'unreachable'; failure: ApiFailure }
	| { state: 'signed-out' }
	/** `epoch` grows with each sign-in, so that requests that failed without a session are repeated. */
	| { state: 'signed-in'; user: SignedInUser; epoch: number }
	| { state: 'change-password'; user: SignedInUser }
	/** The sign-in session has ended. The screens stay behind the dialog that asks for the password. */
	| { state: 'ended'; user: SignedInUser; epoch: number };

export const session = createStore<Session>({ state: 'unknown' });

const readSession = call<object, SessionAnswer>('GET', '/session');
const beginSession = call<{ email: string; password: string }, SessionAnswer>('POST', '/session');
const endSession = call<object, void>('DELETE', '/session');
const putPassword = call<{ current: string; password: string }, void>('PUT', '/session/password');

let epoch = 0;

credentials.onUnauthorized = () => {
	const current = session.get();
	if (current.state === 'signed-in') session.set({ state: 'ended', user: current.user, epoch: current.epoch });
	else if (current.state !== 'ended') session.set({ state: 'signed-out' });
};

function take(answer: SessionAnswer): void {
	credentials.csrfToken = answer.csrf_token;
	const before = session.get();
	if (before.state === 'ended' && before.user.email !== answer.user.email) forgetKept();
	epoch++;
	session.set(
		answer.must_change_password ? { state: 'change-password', user: answer.user } : { state: 'signed-in', user: answer.user, epoch },
	);
}

/** Checks if the browser's cookie still belongs to a session. */
export async function resume(): Promise<void> {
	try {
		take(await readSession());
	} catch (error) {
		if (!(error instanceof ApiFailure)) throw error;
		session.set(error.status === 401 ? { state: 'signed-out' } : { state: 'unreachable', failure: error });
	}
}

/** @throws ApiFailure 401, or 429 while the account is locked */
export async function signIn(email: string, password: string): Promise<void> {
	take(await beginSession({ email, password }));
}

export async function signOut(): Promise<void> {
	try {
		await endSession();
	} catch (error) {
		if (!(error instanceof ApiFailure && error.status === 401)) throw error;
	}
	forgetKept();
	credentials.csrfToken = '';
	session.set({ state: 'signed-out' });
}

/** After the change, the session may have a new token. */
export async function changePassword(current: string, password: string): Promise<void> {
	await putPassword({ current, password });
	await resume();
}

const rank: Record<Role, number> = { auditor: 0, manager: 1, administrator: 2 };

/** True if the first role includes the second. */
export function includes(role: Role, least: Role): boolean {
	return rank[role] >= rank[least];
}

export function currentUser(): SignedInUser | undefined {
	const current = session.get();
	return current.state === 'signed-in' || current.state === 'ended' ? current.user : undefined;
}

/** True if the signed-in user has this role. The service checks again. */
export function may(least: Role): boolean {
	const user = currentUser();
	return user !== undefined && includes(user.role, least);
}

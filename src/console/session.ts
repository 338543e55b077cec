import type { Role } from '#core/role.ts';
import { ApiFailure, call, credentials } from './api.ts';
import { createStore, forgetKept } from './store.ts';

export interface SignedInUser {
	email: string;
	role: Role;
	sites: { slug: string; name: string }[];
	/** The account has no password here. */
	byProvider?: boolean;
}

interface SessionAnswer {
	user: SignedInUser;
	csrf_token: string;
	must_change_password: boolean;
	must_set_second_factor?: true;
	sign_in?: 'provider';
}

/** The ways to sign in, which everybody may know. */
export interface Ways {
	local: 'all' | 'administrators';
	provider: { issuer: string } | null;
}

export type Session =
	| { state: 'unknown' }
	| { state: 'unreachable'; failure: ApiFailure }
	| { state: 'signed-out' }
	/** `epoch` grows with each sign-in, so that requests that failed without a session are repeated. */
	| { state: 'signed-in'; user: SignedInUser; epoch: number }
	/** `typed` is the one-time password, where it was typed on this page: it is not asked for a second time. */
	| { state: 'change-password'; user: SignedInUser; typed: string | undefined }
	/** The policy requires a second factor, and the account has none. */
	| { state: 'set-second-factor'; user: SignedInUser }
	/** The sign-in session has ended. The screens stay behind the dialog that asks for the password. */
	| { state: 'ended'; user: SignedInUser; epoch: number };

export const session = createStore<Session>({ state: 'unknown' });

const readSession = call<object, SessionAnswer>('GET', '/session');
const beginSession = call<{ email: string; password: string; code?: string }, SessionAnswer>('POST', '/session');
const endSession = call<object, { provider_sign_out: string } | undefined>('DELETE', '/session');
export const readWays = call<object, Ways>('GET', '/session/ways');
const putPassword = call<{ current: string; password: string }, void>('PUT', '/session/password');

let epoch = 0;

credentials.onUnauthorized = () => {
	const current = session.get();
	if (current.state === 'signed-in') session.set({ state: 'ended', user: current.user, epoch: current.epoch });
	else if (current.state !== 'ended') session.set({ state: 'signed-out' });
};

function take(answer: SessionAnswer, typed?: string): void {
	credentials.csrfToken = answer.csrf_token;
	const before = session.get();
	if (before.state === 'ended' && before.user.email !== answer.user.email) forgetKept();
	epoch++;
	const user = { ...answer.user, byProvider: answer.sign_in === 'provider' };
	if (answer.must_change_password) session.set({ state: 'change-password', user, typed });
	else if (answer.must_set_second_factor) session.set({ state: 'set-second-factor', user });
	else session.set({ state: 'signed-in', user, epoch });
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

/** @throws ApiFailure 401, with the field `code` if one is asked for, or 429 while the account is locked */
export async function signIn(email: string, password: string, code?: string): Promise<void> {
	take(await beginSession({ email, password, ...(code !== undefined && { code }) }), password);
}

export async function signOut(): Promise<void> {
	let leaveTo: string | undefined;
	try {
		leaveTo = (await endSession())?.provider_sign_out;
	} catch (error) {
		if (!(error instanceof ApiFailure && error.status === 401)) throw error;
	}
	forgetKept();
	credentials.csrfToken = '';
	session.set({ state: 'signed-out' });
	if (leaveTo !== undefined) location.assign(leaveTo);
}

/** After the change, the session may have a new token. */
export async function changePassword(current: string, password: string): Promise<void> {
	await putPassword({ current, password });
	await resume();
}

/** The form asks for the one-time password again, because the one that was typed is refused. */
export function forgetTyped(): void {
	const current = session.get();
	if (current.state === 'change-password') session.set({ ...current, typed: undefined });
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

import { randomBytes } from 'node:crypto';
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import type pg from 'pg';
import { newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { Role } from '#core/role.ts';
import { type ConnectionPool, carriedOut } from '#storage/connection-pool.ts';
import {
	addProviderAccount,
	beginProviderSession,
	bindProviderAccount,
	endProviderSessions,
	joinSites,
	leaveSites,
	readGroups,
	readMembership,
	setReach,
	takeProviderAccount,
} from '#storage/statements/administrative/provider-sign-in.ts';
import { insertAuditEvent } from '#storage/statements/administrative/read-access.ts';
import { endSessionsOf } from '#storage/statements/administrative/sign-in.ts';
import type { Audit } from '../audit.ts';
import type { AccessLimits } from '../limits.ts';
import { digestOfToken } from '../sessions.ts';
import { ProviderError } from '../tokens/call.ts';
import { type Attempt, attemptOf } from './attempt.ts';
import type { ProviderIdentity } from './identity.ts';
import { ProviderAway, type SignInProvider } from './provider.ts';
import { type GroupGrant, joined } from './reach.ts';

/**
 * Reasons not to let somebody in who comes from the provider. `away`: it does not answer; `denied`: it did not let them in; `refused`: its answer
 * cannot be used; `expired`: this browser did not ask, or long ago; `no-email`, `no-role`: it states no address, or no group that is mapped;
 * `account`: the address is that of another account; `disabled`: the account is.
 */
export const refusals = ['away', 'denied', 'refused', 'expired', 'no-email', 'no-role', 'account', 'disabled'] as const;
export type Refusal = (typeof refusals)[number];

export class SignInRefused extends Error {
	override readonly name = 'SignInRefused';
	readonly reason: Refusal;

	constructor(reason: Refusal, options?: ErrorOptions) {
		super(`the sign-in was refused: ${reason}`, options);
		this.reason = reason;
	}
}

export interface ProviderSignInOptions {
	provider: SignInProvider;
	database: ConnectionPool;
	audit: Audit;
	limits: Pick<AccessLimits, 'sessionIdleMsMax' | 'sessionMsMax'>;
	log: Log;
}

interface Account {
	id: string;
	email: string;
	active: boolean;
	role: Role;
	allSites: boolean;
}

/** Lets people in whom the provider knows. Their groups decide their role and sites, anew at each sign-in. */
export class ProviderSignIn {
	readonly #options: ProviderSignInOptions;

	constructor(options: ProviderSignInOptions) {
		this.#options = options;
	}

	get provider(): SignInProvider {
		return this.#options.provider;
	}

	/**
	 * Returns the attempt that the provider answers. A page of another origin that leads browsers here has none, and costs nobody anything.
	 * @throws SignInRefused `expired`
	 */
	attemptOf(answer: URL, cookie: string | undefined): Attempt {
		const attempt = attemptOf(cookie);
		if (attempt === undefined || answer.searchParams.get('state') !== attempt.state) throw new SignInRefused('expired');
		return attempt;
	}

	/**
	 * Returns the token of a new session, or why there is none.
	 * @throws SignInRefused `refused` if the answer is none that the provider gave to this attempt
	 */
	async finish(answer: URL, attempt: Attempt, source: string): Promise<{ token: string } | { refusal: Refusal }> {
		try {
			const identity = await this.#identityOf(answer, attempt);
			return { token: await this.#begin(identity, source) };
		} catch (error) {
			if (!(error instanceof SignInRefused)) throw error;
			const { reason } = error;
			const subject = `${reason} at ${this.provider.settings.issuer}`.slice(0, 200);
			if (reason !== 'away') this.#options.audit.record({ action: 'user.sign-in-failed', subject, source });
			// Whoever made an answer up is to be slowed down, and nobody else.
			if (reason === 'refused') throw error;
			return { refusal: reason };
		}
	}

	async #identityOf(answer: URL, attempt: Attempt): Promise<ProviderIdentity> {
		try {
			return await this.provider.identityOf(answer, attempt);
		} catch (error) {
			const reason = reasonOf(error);
			this.#options.log.warn({ err: error, reason }, 'a sign-in by the provider failed');
			throw new SignInRefused(reason, { cause: error });
		}
	}

	async #begin(identity: ProviderIdentity, source: string): Promise<string> {
		const { database, audit, limits } = this.#options;
		const token = randomBytes(32).toString('base64url');
		const settled = await database.transaction(async (client): Promise<Account | Refusal> => {
			const account = await this.#accountOf(client, identity);
			if (typeof account === 'string') return account;
			if (!account.active) return 'disabled';
			const grant = joined(await groupsOf(client, identity.groups ?? []));
			await this.#setReach(client, account, grant, source);
			if (grant === undefined) return 'no-role';
			const { sessionIdleMsMax, sessionMsMax } = limits;
			const values = [digestOfToken(token), account.id, source, identity.session, sessionIdleMsMax, sessionMsMax];
			await carriedOut(client, beginProviderSession, values);
			return account;
		});
		if (typeof settled === 'string') throw new SignInRefused(settled);
		const { email } = settled;
		const detail = { provider: this.provider.settings.issuer, provider_subject: identity.subject };
		audit.recordOf({ siteId: null, actor: email, action: 'user.sign-in', subject: email, source, detail });
		return token;
	}

	/** A subject who is new gets an account of their own. It never takes over one that has their address by chance. */
	async #accountOf(client: pg.ClientBase, { subject, email, isVerified, groups }: ProviderIdentity): Promise<Account | Refusal> {
		const { issuer } = this.provider.settings;
		const known = await take(client, issuer, subject);
		if (known !== undefined) return known;
		if (email === undefined) return 'no-email';
		if (isVerified) await carriedOut(client, bindProviderAccount, [issuer, subject, email]);
		const bound = await take(client, issuer, subject);
		if (bound !== undefined) return bound;
		if (joined(await groupsOf(client, groups ?? [])) === undefined) return 'no-role';
		await carriedOut(client, addProviderAccount, [issuer, subject, email, newId()]);
		return (await take(client, issuer, subject)) ?? 'account';
	}

	/** Whoever has no role any more keeps the account, sees nothing, and is signed out. */
	async #setReach(client: pg.ClientBase, account: Account, grant: GroupGrant | undefined, source: string): Promise<void> {
		const after = grant ?? { role: 'auditor' as const, allSites: false, sites: [] };
		const [row] = await carriedOut(client, readMembership, [account.id]);
		const before: GroupGrant = { role: account.role, allSites: account.allSites, sites: row?.[0] as string[] };
		if (grant === undefined) await carriedOut(client, endSessionsOf, [account.id]);
		if (JSON.stringify(before) === JSON.stringify(after)) return;
		await carriedOut(client, setReach, [account.id, after.role, after.allSites]);
		await carriedOut(client, leaveSites, [account.id, after.sites]);
		await carriedOut(client, joinSites, [account.id, after.sites]);
		const detail = JSON.stringify({ before: told(before), after: told(after) });
		const values = [newId(), new Date().toISOString(), null, 'sign-in provider', 'user.set', account.email, source, detail, null, null];
		await carriedOut(client, insertAuditEvent, values);
	}

	/** Ends sessions as a logout token says. Returns false if the token is not the provider's. */
	async logOut(token: string, source: string): Promise<boolean> {
		const { provider, database, audit } = this.#options;
		const ended = await provider.loggedOut(token);
		if (ended === undefined) return false;
		const rows = await database.run(endProviderSessions, [provider.settings.issuer, ended.subject, ended.session]);
		for (const [email] of rows) {
			const subject = email ?? '';
			audit.recordOf({ siteId: null, actor: 'sign-in provider', action: 'user.sign-out', subject, source, detail: {} });
		}
		return true;
	}
}

function told({ role, allSites, sites }: GroupGrant): object {
	return { role, all_sites: allSites, site_ids: sites };
}

async function take(client: pg.ClientBase, issuer: string, subject: string): Promise<Account | undefined> {
	const [row] = await carriedOut(client, takeProviderAccount, [issuer, subject]);
	if (row === undefined) return undefined;
	const [id, email, active, role, allSites] = row as [string, string, boolean, Role, boolean];
	return { id, email, active, role, allSites };
}

async function groupsOf(client: pg.ClientBase, groups: readonly string[]): Promise<GroupGrant[]> {
	const rows = (await carriedOut(client, readGroups, [groups])) as [Role, boolean, string[]][];
	return rows.map(([role, allSites, sites]) => ({ role, allSites, sites }));
}

function reasonOf(error: unknown): Refusal {
	if (error instanceof AuthorizationResponseError) return 'denied';
	if (error instanceof ResponseBodyError) return error.status >= 500 ? 'away' : 'refused';
	if (error instanceof ProviderAway) return 'away';
	if (error instanceof ProviderError) return 'refused';
	const isTimeOut = error instanceof ClientError && error.code === 'OAUTH_TIMEOUT';
	const isUnreachable = error instanceof TypeError && error.message === 'fetch failed';
	return isTimeOut || isUnreachable ? 'away' : 'refused';
}

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Role } from '#core/role.ts';
import type { StatementRunner } from '#storage/connection.ts';
import { beginSession, endSession, heldSessions, readSession } from '#storage/statements/administrative/sign-in.ts';
import type { AccessLimits } from './limits.ts';

/** The sign-in session of a person, as it is now. */
export interface Session {
	/** SHA-256 of the token. Only the browser has the token itself. */
	digest: Buffer;
	userId: string;
	email: string;
	role: Role;
	/** The sites that the person may see: all of them for an administrator or an auditor of all sites. */
	sites: readonly { slug: string; name: string }[];
	allSites: boolean;
	mustChangePassword: boolean;
	/** The policy requires a second factor, and the account has none. */
	mustSetSecondFactor: boolean;
	/** The way by which the account signs in. */
	signIn: 'local' | 'provider';
	/** Changes need this token besides the cookie. It is derived from the session's token. */
	csrfToken: string;
}

/** Sessions are in the database. Every request reads it, so a session that ends does so on every node at once. */
export class Sessions {
	readonly #database: StatementRunner;
	readonly #limits: AccessLimits;

	constructor(database: StatementRunner, limits: AccessLimits) {
		this.#database = database;
		this.#limits = limits;
	}

	/** Returns the token of a new session, or undefined if the account has changed since its password was checked. */
	async begin(userId: string, passwordHash: string, source: string): Promise<string | undefined> {
		const token = randomBytes(32).toString('base64url');
		const { sessionIdleMsMax, sessionMsMax } = this.#limits;
		const values = [digestOfToken(token), userId, passwordHash, source, sessionIdleMsMax, sessionMsMax];
		const rows = await this.#database.run(beginSession, values);
		return rows.length > 0 ? token : undefined;
	}

	async find(token: string): Promise<Session | undefined> {
		if (!/^[\w-]{43}$/.test(token)) return undefined;
		const digest = digestOfToken(token);
		const [row] = await this.#database.run(readSession, [digest, this.#limits.sessionIdleMsMax, this.#limits.sessionMsMax]);
		if (row === undefined) return undefined;
		const [userId, email, role, mustChange, mustSet, signIn, sites, allSites] = row;
		return {
			digest,
			userId: userId ?? '',
			email: email ?? '',
			role: role as Role,
			sites: JSON.parse(sites ?? '[]'),
			allSites: allSites === 't',
			mustChangePassword: mustChange === 't',
			mustSetSecondFactor: mustSet === 't',
			signIn: signIn === 'provider' ? 'provider' : 'local',
			csrfToken: csrfTokenOf(token),
		};
	}

	/** Returns the sessions that are still valid, by hexadecimal digest, with their reach. It does not count as use of a session. */
	async held(digests: readonly string[]): Promise<ReadonlyMap<string, string>> {
		const values = [digests, this.#limits.sessionIdleMsMax, this.#limits.sessionMsMax];
		return new Map((await this.#database.run(heldSessions, values)).map(([digest, reach]) => [digest ?? '', reach ?? '']));
	}

	async end(session: Session): Promise<void> {
		await this.#database.run(endSession, [session.digest]);
	}
}

/** Returns the sites of a session as one text. */
export function reachOf({ allSites, sites }: Session): string {
	return allSites ? '*' : sites.map(({ slug }) => slug).join(' ');
}

/** The database has digests of tokens only. */
export function digestOfToken(token: string): Buffer {
	return createHash('sha256').update(token).digest();
}

function csrfTokenOf(token: string): string {
	return createHmac('sha256', token).update('csrf').digest('base64url');
}

export function isCsrfToken(session: Session, given: string | undefined): boolean {
	const [expected, found] = [session.csrfToken, given ?? ''].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
	return timingSafeEqual(expected, found);
}

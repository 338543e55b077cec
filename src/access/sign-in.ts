import { randomBytes, timingSafeEqual } from 'node:crypto';
import { parseAddress } from '#core/address.ts';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import type { StatementRunner } from '#storage/connection.ts';
import {
	addFirstAdministrator,
	changePassword,
	countSignIn,
	countUsers,
	forgiveSignIn,
	readAccount,
	readBrowserProof,
} from '#storage/statements/administrative/sign-in.ts';
import type { Audit } from './audit.ts';
import type { AccessLimits } from './limits.ts';
import { hashPassword, oneTimePassword, passwordFault, passwordMatches } from './password.ts';
import type { Session, Sessions } from './sessions.ts';

/** Wrong passwords of an address until it is locked, in terms of those of an account: many people may share it. */
const perAddress = 4;
/** After so long without another, one wrong password is forgotten. */
const forgottenMs = { account: 3_600_000, address: 60_000, browser: 3_600_000, change: 3_600_000 };

/** What wrong passwords are counted by; `change`: those that are given as the current one of an account, with a session of it. */
type Counter = readonly [kind: keyof typeof forgottenMs, name: string];

/** From where somebody signs in. */
export interface Caller {
	source: string;
	/** What the browser was given when the account was signed in to from it before. */
	browser?: string | undefined;
}

export interface SignInOptions {
	database: StatementRunner;
	sessions: Sessions;
	audit: Audit;
	limits: AccessLimits;
}

/** Lets people in by e-mail and password, and slows down those who guess. */
export class SignIn {
	readonly #options: SignInOptions;
	#checking: Promise<unknown> = Promise.resolve();
	#waiting = 0;

	constructor(options: SignInOptions) {
		this.#options = options;
	}

	/**
	 * The token of a new session, and what makes the browser a known one: it is counted by itself, so that strangers who guess do not
	 * lock out who signed in there before. Who does not exist, is disabled, has no password or another gets the same answer after the same work.
	 * @throws Failure `unauthenticated`; `too-many-requests` while the account or the address, or the known browser, is locked, whether the account exists or not
	 */
	async signIn(email: string, password: string, { source, browser }: Caller): Promise<{ token: string; browser: string }> {
		const { sessions, database, audit, limits } = this.#options;
		const account = accountOf(email);
		const known = await this.#knownBrowser(account, browser);
		const counters: Counter[] =
			known === undefined
				? [
						['address', networkOf(source)],
						['account', account],
					]
				: [['browser', known]];
		await this.#count(counters);
		const [row] = await database.run(readAccount, [account]);
		const [userId = null, knownEmail = null, passwordHash = null, oneTimeMs = null] = row ?? [];
		const matches = await this.#check(password, passwordHash);
		const isExpired = matches && Number(oneTimeMs) > limits.oneTimePasswordMsMax;
		const token = matches && !isExpired && userId && passwordHash ? await sessions.begin(userId, passwordHash, source) : undefined;
		if (token === undefined) {
			audit.record({ action: 'user.sign-in-failed', subject: knownEmail ?? 'no such user', source });
			// Told to those alone who know the password.
			const why = isExpired ? 'the one-time password has expired; have another one made' : 'the e-mail address or the password is wrong';
			throw new Failure('unauthenticated', why);
		}
		await this.#forgive(counters);
		audit.recordOf({ ...byPerson(knownEmail ?? '', source), action: 'user.sign-in' });
		return { token, browser: await this.#browserOf(account, known ?? randomBytes(16).toString('base64url')) };
	}

	async signOut(session: Session, source: string): Promise<void> {
		await this.#options.sessions.end(session);
		this.#options.audit.recordOf({ ...byPerson(session.email, source), action: 'user.sign-out' });
	}

	/**
	 * A person sets a password of their own; their other sessions end.
	 * @throws Failure `sender-not-authorized` when the current password is another, `unprocessable` when the new one will not do
	 */
	async changePassword(session: Session, current: string, password: string, source: string): Promise<void> {
		const { database, audit } = this.#options;
		const { email, userId, digest } = session;
		// Strangers, who have no session, do not count here.
		const counters: Counter[] = [['change', accountOf(email)]];
		await this.#count(counters);
		const [row] = await database.run(readAccount, [email]);
		const held = row?.[2] ?? null;
		if (!(await this.#check(current, held)) || held === null) {
			audit.record({ action: 'user.change-password-failed', subject: email, source });
			throw new Failure('sender-not-authorized', 'the current password is another');
		}
		await this.#forgive(counters);
		const fault = current === password ? 'the new password is the current one' : passwordFault(password, email);
		if (fault !== undefined) throw new Failure('unprocessable', fault);
		const hash = await this.#queued(() => hashPassword(password));
		const changed = await database.run(changePassword, [userId, held, hash, digest, newId(), email, source]);
		if (changed.length === 0) throw new Failure('conflict', 'the password was changed meanwhile');
	}

	/** The name of a browser from which the account was signed in to before. */
	async #knownBrowser(account: string, browser: string | undefined): Promise<string | undefined> {
		const [, name] = /^([\w-]{22})\.[0-9a-f]{64}$/.exec(browser ?? '') ?? [];
		if (name === undefined || browser === undefined) return undefined;
		const expected = await this.#browserOf(account, name);
		return expected.length === browser.length && timingSafeEqual(Buffer.from(expected), Buffer.from(browser)) ? name : undefined;
	}

	async #browserOf(account: string, name: string): Promise<string> {
		const [row] = await this.#options.database.run(readBrowserProof, [account, name]);
		return `${name}.${row?.[0] ?? ''}`;
	}

	async #count(counters: readonly Counter[]): Promise<void> {
		const { database, limits } = this.#options;
		for (const [kind, name] of counters) {
			const failuresMax = limits.signInFailuresMax * (kind === 'address' ? perAddress : 1);
			const [row] = await database.run(countSignIn, [
				kind,
				name,
				failuresMax,
				limits.signInLockMsMax,
				forgottenMs[kind],
				limits.signInLockMs,
			]);
			if (row?.[0] === 't') continue;
			const retryAfterSeconds = Math.max(1, Number(row?.[1] ?? 1));
			throw new Failure('too-many-requests', 'too many wrong passwords', { retryAfterSeconds });
		}
	}

	/** Of an address, which others may share, one attempt alone. */
	async #forgive(counters: readonly Counter[]): Promise<void> {
		const { database } = this.#options;
		for (const [kind, name] of counters) await database.run(forgiveSignIn, [kind, name, kind !== 'address']);
	}

	#check(password: string, hash: string | null): Promise<boolean> {
		return this.#queued(() => passwordMatches(password, hash));
	}

	/** One at a time: each takes a thread that files are written by as well. */
	async #queued<T>(work: () => Promise<T>): Promise<T> {
		if (this.#waiting >= this.#options.limits.signInsWaitingMax) {
			throw new Failure('too-many-requests', 'too many passwords wait to be checked', { retryAfterSeconds: 2 });
		}
		this.#waiting++;
		const turn = this.#checking.then(work);
		this.#checking = turn.catch(() => undefined);
		try {
			return await turn;
		} finally {
			this.#waiting--;
		}
	}
}

function byPerson(email: string, source: string) {
	return { siteId: null, actor: email, subject: email, source, detail: {} };
}

function accountOf(email: string): string {
	return email.trim().toLowerCase();
}

/** Of an IPv6 address the /64: everybody has a whole one. */
function networkOf(source: string): string {
	const bytes = parseAddress(source);
	return bytes?.length === 16 ? Buffer.from(bytes.slice(0, 8)).toString('hex') : source;
}

/** Of the first administrator; an address that nobody can have elsewhere. */
const firstEmail = 'admin@localhost';

/** Where nobody is known yet: an administrator with a password that is told this once. */
export async function firstAdministrator(database: StatementRunner): Promise<{ email: string; password: string } | undefined> {
	const [row] = await database.run(countUsers, []);
	if (row?.[0] !== '0') return undefined;
	const password = oneTimePassword();
	const values = [newId(), firstEmail, await hashPassword(password), newId()];
	const added = await database.run(addFirstAdministrator, values);
	return added.length > 0 ? { email: firstEmail, password } : undefined;
}

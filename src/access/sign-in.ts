import { randomBytes, timingSafeEqual } from 'node:crypto';
import { parseAddress } from '#core/address.ts';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import type { StatementRunner } from '#storage/connection.ts';
import { changePassword, countSignIn, forgiveSignIn, readAccount, readBrowserProof } from '#storage/statements/administrative/sign-in.ts';
import type { Audit } from './audit.ts';
import type { AccessLimits } from './limits.ts';
import { type Passwords, passwordFault } from './password.ts';
import { type SecondFactors, wrongCode } from './second-factor/second-factors.ts';
import type { Session, Sessions } from './sessions.ts';

/** An address is locked after this many times the wrong passwords of an account, because many people may share it. */
const perAddress = 4;
/** One wrong password is forgotten after each such time without another. */
const forgottenMs = { account: 3_600_000, address: 60_000, browser: 3_600_000, change: 3_600_000 };

/** Wrong passwords are counted by these. `change` counts wrong current passwords given in a session of the account. */
type Counter = readonly [kind: keyof typeof forgottenMs, name: string];

/** Whoever signs in with a local account gives these. */
export interface Credentials {
	email: string;
	password: string;
	/** The code of the second factor, where the account has one. */
	code?: string | undefined;
}

/** The origin of a sign-in. */
export interface Caller {
	source: string;
	/** The proof that the browser received at an earlier sign-in of the account. */
	browser?: string | undefined;
}

export interface SignInOptions {
	database: StatementRunner;
	sessions: Sessions;
	audit: Audit;
	passwords: Passwords;
	limits: AccessLimits;
	/** `administrators`: others sign in by the provider. */
	localSignIn: 'all' | 'administrators';
	secondFactors: SecondFactors;
}

/** Signs people in by e-mail and password, and slows down guessing. */
export class SignIn {
	readonly #options: SignInOptions;
	#checking: Promise<unknown> = Promise.resolve();
	#waiting = 0;

	constructor(options: SignInOptions) {
		this.#options = options;
	}

	/**
	 * Returns the token of a new session and the proof that makes the browser a known one. A known browser is counted separately, so that
	 * strangers who guess do not lock out its user. An unknown or disabled user and a wrong password get the same answer after the same work.
	 * @throws Failure `unauthenticated`; `too-many-requests` while the account, the address or the known browser is locked, whether the
	 * account exists or not
	 */
	async signIn({ email, password, code }: Credentials, { source, browser }: Caller): Promise<{ token: string; browser: string }> {
		const { sessions, database, audit, limits, localSignIn } = this.#options;
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
		const [userId = null, knownEmail = null, passwordHash = null, oneTimeMs = null, role = null, sealed = null] = row ?? [];
		const matches = await this.#check(password, passwordHash);
		const isExpired = matches && Number(oneTimeMs) > limits.oneTimePasswordMsMax;
		const isElsewhere = matches && localSignIn === 'administrators' && role !== 'administrator';
		const isLetIn = matches && !isExpired && !isElsewhere;
		if (isLetIn && userId !== null && sealed !== null)
			await this.#requireCode({ userId, email: knownEmail ?? '', sealed, code, source }, counters);
		const token = isLetIn && userId && passwordHash ? await sessions.begin(userId, passwordHash, source) : undefined;
		if (token === undefined) {
			audit.record({ action: 'user.sign-in-failed', subject: knownEmail ?? 'no such user', source });
			throw new Failure('unauthenticated', whyNot(isExpired, isElsewhere));
		}
		await this.#forgive(counters);
		audit.recordOf({ ...byPerson(knownEmail ?? '', source), action: 'user.sign-in' });
		return { token, browser: await this.#browserOf(account, known ?? randomBytes(16).toString('base64url')) };
	}

	get secondFactors(): SecondFactors {
		return this.#options.secondFactors;
	}

	/** Whoever knows the password and has not been asked for a code yet made no guess. A wrong code counts as a wrong password does. */
	async #requireCode({ userId, email, sealed, code, source }: GivenCode, counters: readonly Counter[]): Promise<void> {
		if (code === undefined) {
			for (const [kind, name] of counters) await this.#options.database.run(forgiveSignIn, [kind, name, false]);
			throw new Failure('unauthenticated', 'enter the code of your authenticator app', { location: { expression: 'code' } });
		}
		if (await this.secondFactors.matches(userId, Buffer.from(sealed, 'hex'), code, { email, source })) return;
		this.#options.audit.record({ action: 'user.second-factor-failed', subject: email, source });
		throw wrongCode('unauthenticated');
	}

	/**
	 * Makes a secret for a second factor. Whoever finds an open session cannot do so: it takes the password, and a code of the present one.
	 * @throws Failure `sender-not-authorized` if the password is wrong, `unprocessable` if the code is
	 */
	async beginSecondFactor(session: Session, { password, code }: Omit<Credentials, 'email'>, source: string) {
		return this.guarded(session, async () => {
			const [row] = await this.#options.database.run(readAccount, [session.email]);
			if (!(await this.#check(password, row?.[2] ?? null))) throw new Failure('sender-not-authorized', 'the password is wrong');
			await this.secondFactors.require(session, code, source);
			return this.secondFactors.begin(session);
		});
	}

	/** Counts what is guessed in a session with wrong current passwords. Strangers have no session, so they cannot use up these attempts. */
	guarded<T>(session: Session, work: () => Promise<T>): Promise<T> {
		return this.#counting([['change', accountOf(session.email)]], work);
	}

	/** Counts attempts at the provider by their address, with wrong passwords: each makes this service call the provider. */
	counted<T>(source: string, work: () => Promise<T>): Promise<T> {
		return this.#counting([['address', networkOf(source)]], work);
	}

	async signOut(session: Session, source: string): Promise<void> {
		await this.#options.sessions.end(session);
		this.#options.audit.recordOf({ ...byPerson(session.email, source), action: 'user.sign-out' });
	}

	/**
	 * Changes a person's own password and ends their other sessions.
	 * @throws Failure `sender-not-authorized` if the current password is wrong, `unprocessable` if the new one is not acceptable
	 */
	async changePassword(session: Session, current: string, password: string, source: string): Promise<void> {
		const { database, audit, passwords } = this.#options;
		const { email, userId, digest } = session;
		const held = await this.guarded(session, async () => {
			const [row] = await database.run(readAccount, [email]);
			const hash = row?.[2] ?? null;
			if ((await this.#check(current, hash)) && hash !== null) return hash;
			audit.record({ action: 'user.change-password-failed', subject: email, source });
			throw new Failure('sender-not-authorized', 'the current password is wrong');
		});
		const fault = current === password ? 'the new password must differ from the current one' : passwordFault(password, email);
		if (fault !== undefined) throw new Failure('unprocessable', fault);
		const hash = await this.#queued(() => passwords.hash(password));
		const changed = await database.run(changePassword, [userId, held, hash, digest, newId(), email, source]);
		if (changed.length === 0) throw new Failure('conflict', 'the password has been changed in the meantime');
	}

	/** Returns the name of a browser that has signed in to the account before. */
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

	/** Counts an attempt, and forgives it if the work does not throw. */
	async #counting<T>(counters: readonly Counter[], work: () => Promise<T>): Promise<T> {
		await this.#count(counters);
		const result = await work();
		await this.#forgive(counters);
		return result;
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
			throw new Failure('too-many-requests', 'too many wrong passwords; try again later', { retryAfterSeconds });
		}
	}

	/** Forgives an address only one attempt, because others may share it. */
	async #forgive(counters: readonly Counter[]): Promise<void> {
		const { database } = this.#options;
		for (const [kind, name] of counters) await database.run(forgiveSignIn, [kind, name, kind !== 'address']);
	}

	#check(password: string, hash: string | null): Promise<boolean> {
		return this.#queued(() => this.#options.passwords.matches(password, hash));
	}

	/** Checks one password at a time, because each check takes a thread that writing files needs too. */
	async #queued<T>(work: () => Promise<T>): Promise<T> {
		if (this.#waiting >= this.#options.limits.signInsWaitingMax) {
			throw new Failure('too-many-requests', 'too many people are signing in; try again in a moment', { retryAfterSeconds: 2 });
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

interface GivenCode {
	userId: string;
	email: string;
	/** In hexadecimal. */
	sealed: string;
	code: string | undefined;
	source: string;
}

/** Only somebody who knows the password learns more than that one of the two is wrong. */
function whyNot(isExpired: boolean, isElsewhere: boolean): string {
	if (isExpired) return 'the one-time password has expired; ask for a new one';
	if (isElsewhere) return 'sign in by the provider; local accounts are for administrators';
	return 'the e-mail address or the password is wrong';
}

function byPerson(email: string, source: string) {
	return { siteId: null, actor: email, subject: email, source, detail: {} };
}

function accountOf(email: string): string {
	return email.trim().toLowerCase();
}

/** Reduces an IPv6 address to its /64, because every subscriber has a whole one. */
function networkOf(source: string): string {
	const bytes = parseAddress(source);
	return bytes?.length === 16 ? Buffer.from(bytes.slice(0, 8)).toString('hex') : source;
}

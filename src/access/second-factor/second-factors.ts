import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import type { StatementRunner } from '#storage/connection.ts';
import {
	keepPendingFactor,
	readSecondFactor,
	removeSecondFactor,
	replaceRecoveryCodes,
	setSecondFactor,
	useFactorStep,
	useRecoveryCode,
} from '#storage/statements/administrative/second-factor.ts';
import type { Audit } from '../audit.ts';
import type { Session } from '../sessions.ts';
import type { SecretBox } from './secret-box.ts';
import { base32, otpauthUri, stepOf } from './totp.ts';

export interface SecondFactorsOptions {
	database: StatementRunner;
	audit: Audit;
	box: SecretBox;
	clock: Clock;
}

export interface SecondFactorState {
	enabled: boolean;
	/** The policy of the network requires it of the user's role. */
	required: boolean;
	recoveryCodesLeft: number;
}

/** RFC 4226 §4 recommends 160 bits. */
const secretBytes = 20;
const recoveryCodes = 10;
/** 80 bits. Nobody guesses that, so a fast digest does. */
const recoveryBytes = 10;
/** The name under which authenticator apps list the account. */
const appName = 'Tributary';

/** Second factors of local accounts. */
export class SecondFactors {
	readonly #options: SecondFactorsOptions;

	constructor(options: SecondFactorsOptions) {
		this.#options = options;
	}

	async stateOf(session: Session): Promise<SecondFactorState> {
		const { enabled, required, recoveryCodesLeft } = await this.#read(session);
		return { enabled: enabled !== undefined, required, recoveryCodesLeft };
	}

	async #read({ userId }: Pick<Session, 'userId'>) {
		const [row] = await this.#options.database.run(readSecondFactor, [userId]);
		const [enabled = null, pending = null, required = null, left = null] = row ?? [];
		const bytes = (hex: string | null) => (hex === null ? undefined : Buffer.from(hex, 'hex'));
		return { enabled: bytes(enabled), pending: bytes(pending), required: required === 't', recoveryCodesLeft: Number(left ?? 0) };
	}

	/** Makes a secret that is not used before a code of it was given. */
	async begin({ userId, email }: Session): Promise<{ secret: string; uri: string }> {
		const { database, box } = this.#options;
		const secret = randomBytes(secretBytes);
		await database.run(keepPendingFactor, [userId, box.seal(secret, userId)]);
		return { secret: base32(secret), uri: otpauthUri(secret, email, appName) };
	}

	/**
	 * Puts the secret in force, ends the other sessions of the user, and returns recovery codes, which nobody sees again.
	 * @throws Failure `unprocessable` if the code is not of the secret
	 */
	async confirm(session: Session, code: string, source: string): Promise<readonly string[]> {
		const { database, box, clock } = this.#options;
		const { userId, email, digest } = session;
		const { pending } = await this.#read(session);
		if (pending === undefined) throw new Failure('conflict', 'no second factor is being set up; begin again');
		const step = stepOf(normalised(code), box.open(pending, userId), clock.nowMs());
		if (step === undefined) throw wrongCode('unprocessable');
		const codes = newCodes();
		const values = [userId, pending, step, digestsOf(codes, userId), digest, newId(), email, source];
		const set = await database.run(setSecondFactor, values);
		if (set.length === 0) throw new Failure('conflict', 'the second factor has been set up in the meantime');
		return codes;
	}

	/** @throws Failure `unprocessable` if the code is wrong */
	async renewRecoveryCodes(session: Session, code: string, source: string): Promise<readonly string[]> {
		const { userId, email } = session;
		await this.require(session, code, source);
		const codes = newCodes();
		await this.#options.database.run(replaceRecoveryCodes, [userId, digestsOf(codes, userId), newId(), email, source]);
		return codes;
	}

	/** @throws Failure `unprocessable` if the code is wrong, or the policy requires a second factor */
	async remove(session: Session, code: string, source: string): Promise<void> {
		const { userId, email, digest } = session;
		const { required } = await this.#read(session);
		if (required) throw new Failure('unprocessable', 'the policy of the network requires a second factor of your role');
		await this.require(session, code, source);
		await this.#options.database.run(removeSecondFactor, [userId, digest, newId(), email, source]);
	}

	/** @throws Failure `unprocessable` unless the code is one of the user's, where the user has a second factor */
	async require(session: Session, code: string | undefined, source: string): Promise<void> {
		const { enabled } = await this.#read(session);
		if (enabled === undefined) return;
		if (code === undefined || !(await this.matches(session.userId, enabled, code, { email: session.email, source })))
			throw wrongCode('unprocessable');
	}

	/** Tells whether a code is right, and uses it up: neither a code of the app nor a recovery code counts twice. */
	async matches(userId: string, sealed: Buffer, given: string, { email, source }: { email: string; source: string }): Promise<boolean> {
		const { database, box, clock, audit } = this.#options;
		const code = normalised(given);
		if (/^[a-z2-7]{16}$/.test(code)) {
			const [row] = await database.run(useRecoveryCode, [userId, digestOf(code, userId)]);
			if (row === undefined) return false;
			const detail = { left: Number(row[0]) };
			audit.recordOf({ siteId: null, actor: email, action: 'user.recovery-code', subject: email, source, detail });
			return true;
		}
		const step = /^\d{6}$/.test(code) ? stepOf(code, box.open(sealed, userId), clock.nowMs()) : undefined;
		if (step === undefined) return false;
		return (await database.run(useFactorStep, [userId, sealed, step])).length > 0;
	}
}

export function wrongCode(code: 'unprocessable' | 'unauthenticated'): Failure {
	return new Failure(code, 'the code is wrong, or it was used already', { location: { expression: 'code' } });
}

/** People type codes with blanks and hyphens. */
function normalised(code: string): string {
	return code.replace(/[\s-]/g, '').toLowerCase();
}

function newCodes(): string[] {
	return Array.from({ length: recoveryCodes }, () => {
		const text = base32(randomBytes(recoveryBytes)).toLowerCase();
		return text.match(/.{4}/g)?.join('-') ?? text;
	});
}

function digestOf(code: string, userId: string): Buffer {
	return createHash('sha256').update(`${userId} ${code}`).digest();
}

function digestsOf(codes: readonly string[], userId: string): Buffer[] {
	return codes.map((code) => digestOf(normalised(code), userId));
}

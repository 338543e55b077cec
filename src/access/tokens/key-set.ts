import { type CryptoKey, importJWK, type JWK } from 'jose';
import type { Json } from '#core/json.ts';
import { ProviderError } from './call.ts';
import { Held, type HeldOptions } from './held.ts';

/** Asymmetric algorithms only: with a secret that both sides know, everybody who can check a token could make one. */
const algorithms = ['RS256', 'RS384', 'ES256', 'ES384'] as const;
type Algorithm = (typeof algorithms)[number];

export function isAlgorithm(name: unknown): name is Algorithm {
	return (algorithms as readonly unknown[]).includes(name);
}

const keyForms: Readonly<Record<Algorithm, { kty: string; crv?: string }>> = {
	RS256: { kty: 'RSA' },
	RS384: { kty: 'RSA' },
	ES256: { kty: 'EC', crv: 'P-256' },
	ES384: { kty: 'EC', crv: 'P-384' },
};
/** A provider publishes a few keys. A longer list would only cost time with every token. */
const keysMax = 100;

/** The part of a token's header that names its key. */
export interface KeyName {
	kid: string | undefined;
	alg: Algorithm;
}

export interface KeySetOptions extends Pick<HeldOptions<readonly JWK[]>, 'freshMs' | 'staleMs' | 'log' | 'clock' | 'what'> {
	fetch(): Promise<Json>;
	/** The shortest time between two requests for keys that are not known. */
	unknownMs: number;
}

/** The keys by which an issuer signs (RFC 7517). */
export class KeySet {
	readonly #held: Held<readonly JWK[]>;
	readonly #options: KeySetOptions;
	/** Keys that were imported. A new list of keys has none. */
	#made = new WeakMap<JWK, Map<Algorithm, Promise<CryptoKey | Uint8Array>>>();
	#soughtAtMs = Number.NEGATIVE_INFINITY;

	constructor(options: KeySetOptions) {
		this.#options = options;
		this.#held = new Held({ ...options, fetch: async () => keysOf(await options.fetch()) });
	}

	/** Returns undefined when the issuer has no such key, and `unavailable` when that cannot be found out. */
	async find(name: KeyName): Promise<CryptoKey | Uint8Array | 'unavailable' | undefined> {
		const keys = await this.#held.current();
		const known = keys && named(keys, name);
		if (known !== undefined) return this.#make(known, name.alg);
		const nowMs = this.#options.clock.nowMs();
		// The issuer may have a new key. Whoever invents names of keys does not make this service call the issuer all the time.
		if (keys !== undefined && nowMs - this.#soughtAtMs >= this.#options.unknownMs) {
			this.#soughtAtMs = nowMs;
			const renewed = await this.#held.renewed();
			const found = renewed && named(renewed, name);
			if (found !== undefined) return this.#make(found, name.alg);
		}
		return this.#held.isFailing ? 'unavailable' : undefined;
	}

	#make(key: JWK, algorithm: Algorithm): Promise<CryptoKey | Uint8Array> {
		const made = this.#made.get(key) ?? new Map<Algorithm, Promise<CryptoKey | Uint8Array>>();
		this.#made.set(key, made);
		const ready = made.get(algorithm) ?? importJWK(key, algorithm);
		made.set(algorithm, ready);
		return ready;
	}
}

function keysOf(answer: Json): JWK[] {
	const list = answer !== null && typeof answer === 'object' && !Array.isArray(answer) ? answer['keys'] : undefined;
	if (!Array.isArray(list)) throw new ProviderError('the answer is no list of keys');
	if (list.length > keysMax) throw new ProviderError('the list of keys is too long');
	return list.filter((key) => key !== null && typeof key === 'object' && !Array.isArray(key)) as JWK[];
}

/** A token without `kid` is checked by the only key that fits, if there is only one. */
function named(keys: readonly JWK[], { kid, alg }: KeyName): JWK | undefined {
	const { kty, crv } = keyForms[alg];
	const fitting = keys.filter(
		(key) =>
			key.kty === kty &&
			(crv === undefined || key.crv === crv) &&
			(key.alg === undefined || key.alg === alg) &&
			(key.use === undefined || key.use === 'sig') &&
			(key.key_ops === undefined || key.key_ops.includes('verify')) &&
			(kid === undefined || key.kid === kid),
	);
	return fitting.length === 1 ? fitting[0] : undefined;
}

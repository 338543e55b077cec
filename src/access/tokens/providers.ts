import type { Clock } from '#core/clock.ts';
import type { JsonObject } from '#core/json.ts';
import type { Log } from '#core/log.ts';
import type { HttpReach } from '#core/permitted-request.ts';
import type { AccessLimits } from '../limits.ts';
import { callProvider, ProviderError } from './call.ts';
import { Held } from './held.ts';
import { introspect } from './introspection.ts';
import { keySource, type TokenIssuer } from './issuer.ts';
import { KeySet } from './key-set.ts';
import { discover, type ProviderMetadata } from './metadata.ts';

/** Sites name providers, so not every address is called (`targets`). */
export interface ProvidersOptions extends Pick<HttpReach, 'targets' | 'trace'> {
	limits: Pick<
		AccessLimits,
		'tokenProviderMsMax' | 'tokenKeysMsMax' | 'tokenKeysStaleMsMax' | 'tokenKeysUnknownMs' | 'tokenIntrospectionsMax'
	>;
	log: Log;
	clock: Clock;
}

/** Keeps what the OIDC providers of all sites publish: their metadata and keys, and their word on opaque tokens. */
export class Providers {
	readonly #options: ProvidersOptions;
	readonly #metadata = new Map<string, Held<ProviderMetadata>>();
	readonly #keys = new Map<string, KeySet>();
	#introspections = 0;

	constructor(options: ProvidersOptions) {
		this.#options = options;
	}

	/** Returns undefined while they cannot be had. Who is not patient does not wait for a provider that is away. */
	metadataOf(issuer: string, isPatient = true): Promise<ProviderMetadata | undefined> {
		return kept(this.#metadata, issuer, () => {
			const fetch = () => discover(issuer, this.#reach);
			return new Held({ ...this.#holding(`metadata of the issuer ${issuer}`), fetch });
		}).current(isPatient);
	}

	keysOf(row: Pick<TokenIssuer, 'issuer' | 'jwksUrl'>): KeySet {
		const { limits } = this.#options;
		return kept(this.#keys, keySource(row), () => {
			const fetch = async () => {
				const url = row.jwksUrl ?? (await this.metadataOf(row.issuer))?.jwksUrl;
				if (url === undefined) throw new ProviderError('the address of the keys is not known');
				return callProvider(url, { method: 'GET' }, this.#reach);
			};
			return new KeySet({ ...this.#holding(`keys of the issuer ${row.issuer}`), fetch, unknownMs: limits.tokenKeysUnknownMs });
		});
	}

	get #reach(): HttpReach {
		const { limits, targets, trace } = this.#options;
		return { targets, msMax: limits.tokenProviderMsMax, trace };
	}

	#holding(what: string) {
		const { limits, log, clock } = this.#options;
		return { what, freshMs: limits.tokenKeysMsMax, staleMs: limits.tokenKeysStaleMsMax, log, clock };
	}

	/** Returns the claims of an opaque token; undefined if it is not active, `unavailable` if that cannot be found out. */
	async introspect(endpoint: NonNullable<TokenIssuer['introspection']>, token: string): Promise<JsonObject | 'unavailable' | undefined> {
		const { limits, log } = this.#options;
		if (this.#introspections >= limits.tokenIntrospectionsMax) return 'unavailable';
		this.#introspections++;
		try {
			return await introspect(endpoint, token, this.#reach);
		} catch (error) {
			log.warn({ err: error, endpoint: endpoint.url }, 'a token could not be introspected');
			return 'unavailable';
		} finally {
			this.#introspections--;
		}
	}

	/** Forgets providers that no site names any more. */
	keepOnly(rows: readonly TokenIssuer[]): void {
		const issuers = new Set(rows.map(({ issuer }) => issuer));
		const sources = new Set(rows.map(keySource));
		for (const issuer of this.#metadata.keys()) if (!issuers.has(issuer)) this.#metadata.delete(issuer);
		for (const source of this.#keys.keys()) if (!sources.has(source)) this.#keys.delete(source);
	}
}

function kept<Thing>(things: Map<string, Thing>, name: string, make: () => Thing): Thing {
	const held = things.get(name);
	if (held !== undefined) return held;
	const made = make();
	things.set(name, made);
	return made;
}

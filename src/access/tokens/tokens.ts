import { createHash } from 'node:crypto';
import { compactVerify, decodeJwt, decodeProtectedHeader, errors, type ProtectedHeaderParameters } from 'jose';
import type { Clock } from '#core/clock.ts';
import type { JsonObject } from '#core/json.ts';
import type { Log } from '#core/log.ts';
import type { HttpReach } from '#core/permitted-request.ts';
import type { KeyGrant, Unavailable } from '../directory.ts';
import type { AccessLimits } from '../limits.ts';
import { endpointsOf, type FoundEndpoints } from './endpoints.ts';
import { clientOf, keySource, scopesOf, type TokenIssuer, takes } from './issuer.ts';
import { isAlgorithm, type KeyName } from './key-set.ts';
import { Providers } from './providers.ts';

/** `targets` and `trace` are for the calls of providers. */
export interface TokensOptions extends Pick<HttpReach, 'targets' | 'trace'> {
	/** The issuers of all sites as the access directory knows them. The list is another one after a change. */
	directory: { readonly issuers: readonly TokenIssuer[]; readonly certain: boolean };
	limits: AccessLimits;
	log: Log;
	clock: Clock;
}

export type TokenGrant = KeyGrant | Unavailable | undefined;

/** The findings about a token. Which site takes it is decided anew for every request. */
interface Checked {
	/** Undefined if nobody vouches for it. */
	claims: JsonObject | undefined;
	/** Those who vouch for it: key sources, or the URL of an introspection endpoint. */
	vouched: ReadonlySet<string>;
	untilMs: number;
}

/** RFC 6750 §2.1 (b64token). Headers as a whole are bounded too; a token of a provider has one or two kilobytes. */
const form = /^[A-Za-z0-9\-._~+/]{1,8192}=*$/;
const jwtForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** RFC 9068 §2.1. Providers that are older than it write JWT, or nothing. Other kinds of tokens are no access tokens. */
const tokenTypes: ReadonlySet<string> = new Set(['at+jwt', 'application/at+jwt', 'jwt']);

/**
 * Identifies callers by access tokens of OIDC providers. The check of a signature runs beside other requests, and its outcome is kept for a
 * short time. Nothing of a token is logged but its issuer.
 */
export class Tokens {
	readonly #options: TokensOptions;
	readonly #providers: Providers;
	/** The key is the digest of the token; the oldest comes first. */
	readonly #checked = new Map<string, Checked>();
	readonly #checking = new Map<string, Promise<Checked | Unavailable>>();
	#issuers: readonly TokenIssuer[] = [];

	constructor(options: TokensOptions) {
		this.#options = options;
		this.#providers = new Providers(options);
	}

	/** True where any site takes access tokens. Where none does, the header Authorization means nothing here: proxies have uses of their own for it. */
	get areTaken(): boolean {
		return this.#options.directory.issuers.length > 0;
	}

	/** Returns undefined for every kind of wrong token, so that a caller learns nothing about issuers. */
	grantOf(token: string): TokenGrant | Promise<TokenGrant> {
		if (!form.test(token)) return undefined;
		this.#takeOver();
		const digest = createHash('sha256').update(token).digest('base64');
		const held = this.#checked.get(digest);
		if (held !== undefined && held.untilMs > this.#options.clock.nowMs()) return this.#granted(held);
		return this.#check(token, digest);
	}

	/** See `endpointsOf`. */
	async endpointsOf(siteId: string | undefined, isPatient: boolean): Promise<FoundEndpoints> {
		this.#takeOver();
		const found = await endpointsOf(this.#issuers, siteId, this.#providers, isPatient);
		return found === 'none' && !this.#options.directory.certain ? 'away' : found;
	}

	#takeOver(): void {
		const { issuers } = this.#options.directory;
		if (issuers === this.#issuers) return;
		this.#issuers = issuers;
		this.#providers.keepOnly(issuers);
	}

	/** Nobody is told that a token is wrong while its issuer may have been added elsewhere. */
	#unknown(): Unavailable | undefined {
		return this.#options.directory.certain ? undefined : 'unavailable';
	}

	/** A token leads to exactly one row of one site, or to none. */
	#granted({ claims, vouched }: Checked): TokenGrant {
		if (claims === undefined || !this.#isTimely(claims)) return this.#unknown();
		const [row, ...others] = this.#issuers.filter((issuer) => vouchedFor(issuer, claims, vouched) && takes(issuer, claims));
		if (row === undefined || others.length > 0) return this.#unknown();
		const { siteId, siteSlug, settings, moved } = row;
		return { keyId: `token:${clientOf(row, claims)}`, siteId, siteSlug, settings, ...(moved && { moved }), scopes: scopesOf(row, claims) };
	}

	/** RFC 7519 §4.1.4 and §4.1.5. A token that never expires is not taken. */
	#isTimely({ exp, nbf }: JsonObject): boolean {
		const { clock, limits } = this.#options;
		const nowMs = clock.nowMs();
		if (typeof exp !== 'number' || nowMs >= exp * 1000 + limits.tokenSkewMsMax) return false;
		return nbf === undefined || (typeof nbf === 'number' && nowMs >= nbf * 1000 - limits.tokenSkewMsMax);
	}

	async #check(token: string, digest: string): Promise<TokenGrant> {
		const running = this.#checking.get(digest) ?? this.#find(token).finally(() => this.#checking.delete(digest));
		this.#checking.set(digest, running);
		const found = await running;
		if (found === 'unavailable') return found;
		if (this.#checked.size >= this.#options.limits.tokensCheckedMax) {
			// The oldest entry comes first.
			for (const oldest of this.#checked.keys()) {
				this.#checked.delete(oldest);
				break;
			}
		}
		this.#checked.delete(digest);
		this.#checked.set(digest, found);
		return this.#granted(found);
	}

	async #find(token: string): Promise<Checked | Unavailable> {
		const untilMs = this.#options.clock.nowMs() + this.#options.limits.tokenCheckedMsMax;
		const jwt = jwtForm.test(token) ? readJwt(token) : undefined;
		const found = jwt === undefined ? await this.#introspected(token) : await this.#verified(token, jwt);
		return found === 'unavailable' ? found : { ...found, untilMs };
	}

	/** No provider is asked about a token whose claims no site takes, so that nobody makes this service call one by invented tokens. */
	async #verified(token: string, { header, claims }: Jwt): Promise<Omit<Checked, 'untilMs'> | Unavailable> {
		const key = keyNameOf(header);
		// A token that is bound to a key of its client (RFC 9449, RFC 8705) must not be taken from whoever bears it.
		if (key === undefined || claims['cnf'] !== undefined || !this.#isTimely(claims)) return none;
		const rows = this.#issuers.filter((row) => row.issuer === claims['iss'] && takes(row, claims));
		const sources = new Map(rows.map((row) => [keySource(row), row]));
		const vouched = new Set<string>();
		for (const [source, row] of sources) {
			const outcome = await this.#signedBy(row, token, key);
			if (outcome === 'unavailable') return outcome;
			if (outcome) vouched.add(source);
		}
		return vouched.size === 0 ? none : { claims, vouched };
	}

	async #signedBy(row: TokenIssuer, token: string, name: KeyName): Promise<boolean | Unavailable> {
		const { log } = this.#options;
		try {
			const key = await this.#providers.keysOf(row).find(name);
			if (key === 'unavailable') return key;
			if (key === undefined) {
				log.debug({ issuer: row.issuer }, 'a token was refused: its issuer has no such key');
				return false;
			}
			await compactVerify(token, key, { algorithms: [name.alg] });
			return true;
		} catch (error) {
			if (error instanceof errors.JWSSignatureVerificationFailed)
				log.debug({ issuer: row.issuer }, 'a token was refused: its signature is wrong');
			else log.warn({ err: error, issuer: row.issuer }, 'a token was refused because its key cannot be used');
			return false;
		}
	}

	/** An opaque token does not say where it is from, so only one provider can be asked. Another must never see the tokens of this one. */
	async #introspected(token: string): Promise<Omit<Checked, 'untilMs'> | Unavailable> {
		const endpoints = new Map(this.#issuers.flatMap(({ introspection }) => (introspection ? [[introspection.url, introspection]] : [])));
		const [endpoint, ...others] = endpoints.values();
		if (endpoint === undefined || others.length > 0) return none;
		const claims = await this.#providers.introspect(endpoint, token);
		if (claims === 'unavailable') return claims;
		if (claims === undefined || claims['cnf'] !== undefined) return none;
		return { claims, vouched: new Set([endpoint.url]) };
	}
}

const none = { claims: undefined, vouched: new Set<string>() };

function vouchedFor(row: TokenIssuer, { iss }: JsonObject, vouched: ReadonlySet<string>): boolean {
	if (row.issuer === iss && vouched.has(keySource(row))) return true;
	// The answer of an introspection endpoint need not repeat the issuer (RFC 7662 §2.2).
	return row.introspection !== undefined && vouched.has(row.introspection.url) && (iss === undefined || iss === row.issuer);
}

interface Jwt {
	header: ProtectedHeaderParameters;
	claims: JsonObject;
}

/** Reads a token without trusting it. */
function readJwt(token: string): Jwt | undefined {
	try {
		return { header: decodeProtectedHeader(token), claims: decodeJwt(token) as JsonObject };
	} catch (error) {
		if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
		throw error;
	}
}

/** Returns undefined for a header of something else than an access token that this service can check. */
function keyNameOf({ alg, kid, typ, crit }: ProtectedHeaderParameters & { crit?: unknown }): KeyName | undefined {
	if (!isAlgorithm(alg) || crit !== undefined || (typ !== undefined && !tokenTypes.has(String(typ).toLowerCase()))) return undefined;
	return { alg, kid: typeof kid === 'string' ? kid : undefined };
}

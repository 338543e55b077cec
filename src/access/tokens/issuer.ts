import type { Json, JsonObject } from '#core/json.ts';
import { readScopes, type Scopes } from '#record/scopes.ts';
import type { Settings } from '#record/settings/settings.ts';

/** An introspection endpoint (RFC 7662), and how this service identifies itself there. */
export interface IntrospectionEndpoint {
	url: string;
	clientId: string;
	clientSecret: string;
}

/** The tokens that a site takes: from which issuer, for which audience, of which clients. */
export interface TokenIssuer {
	id: string;
	siteId: string;
	siteSlug: string;
	/** The settings of the site. */
	settings: Settings;
	/** The claim `iss`, exactly. */
	issuer: string;
	/** One of the values of the claim `aud`. */
	audience: string;
	/** Ids of the clients whose tokens are taken. */
	clients: ReadonlySet<string>;
	/** Undefined: the issuer's metadata name it. */
	jwksUrl: string | undefined;
	/** Undefined: the issuer's metadata name it. */
	tokenEndpoint: string | undefined;
	/** The claim with the id of the client. Undefined: the usual ones. */
	clientClaim: string | undefined;
	/** The claim with the scopes. Undefined: the usual ones. */
	scopeClaim: string | undefined;
	/** A further claim that a token must have, for issuers that serve several sites. */
	siteClaim: { name: string; value: string } | undefined;
	introspection: IntrospectionEndpoint | undefined;
	/** The site is served from another database now: says where and since when. */
	moved?: string | undefined;
}

/** RFC 9068 §2.2; `azp` is OpenID Connect's, and `appid` that of older tokens of Microsoft Entra. */
const usualClientClaims = ['client_id', 'azp', 'appid'];
/** RFC 9068 §2.2.3; Microsoft Entra and Okta write `scp`. */
const usualScopeClaims = ['scope', 'scp'];

function own(claims: JsonObject, name: string): Json | undefined {
	return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** A claim of several values is a list, or one text. */
function textsOf(value: Json | undefined): string[] {
	if (typeof value === 'string') return [value];
	return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** The id stands in the audit trail and in its index. Providers give much shorter ones. */
const clientIdMax = 255;

export function clientOf({ clientClaim }: TokenIssuer, claims: JsonObject): string | undefined {
	for (const name of clientClaim === undefined ? usualClientClaims : [clientClaim]) {
		const value = own(claims, name);
		if (typeof value === 'string' && value.length <= clientIdMax) return value;
	}
	return undefined;
}

export function scopesOf({ scopeClaim }: TokenIssuer, claims: JsonObject): Scopes {
	const names = scopeClaim === undefined ? usualScopeClaims : [scopeClaim];
	const found = names.map((name) => own(claims, name)).find((value) => value !== undefined);
	return readScopes(
		textsOf(found).flatMap((text) => text.split(' ')),
		own(claims, 'patient'),
	);
}

/** Tells whether the claims are those of a token that the site takes. Who stated them is another question. */
export function takes(row: TokenIssuer, claims: JsonObject): boolean {
	const client = clientOf(row, claims);
	return (
		client !== undefined &&
		row.clients.has(client) &&
		textsOf(own(claims, 'aud')).includes(row.audience) &&
		(row.siteClaim === undefined || textsOf(own(claims, row.siteClaim.name)).includes(row.siteClaim.value))
	);
}

/** The names under which what a provider says is held. Sites that name the same address share it. */
export function keySource({ issuer, jwksUrl }: Pick<TokenIssuer, 'issuer' | 'jwksUrl'>): string {
	return jwksUrl ?? `issuer ${issuer}`;
}

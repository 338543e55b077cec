import { z } from 'zod';
import { isUuid, newId } from '#core/id.ts';
import { hostOf, isProviderUrl } from '#core/provider-url.ts';
import { type EntityManager, TokenIssuer } from '#storage/entities/index.ts';
import { type AdministrationContext, AdministrationError, change } from './context.ts';
import { refuseSharedTokens } from './issuer-conflicts.ts';
import { ownerOf } from './keys.ts';
import { instant } from './schemas.ts';
import { siteBySlug } from './sites.ts';
import { refuseGuarded } from './targets.ts';
import { ofVisibleSites } from './visible-sites.ts';

const url = z
	.string()
	.trim()
	.max(1000)
	.refine((text) => isProviderUrl(text), 'a URL of a provider begins with https://, or with http:// if it is on this host');
/** Names and values of claims, ids of clients, audiences: no control characters, which no provider writes there. */
const text = z
	.string()
	.trim()
	.regex(/^[^\p{Cc}]{1,500}$/u, '1 to 500 characters without control characters');
const orNone = <Schema extends z.ZodType>(schema: Schema) => schema.or(z.literal(''));

const required = {
	issuer: url.describe('the claim iss of the tokens, exactly; it is also where the metadata of the provider are looked for'),
	audience: text.describe('a value that the claim aud of the tokens has; it stands for this service'),
	clients: z.array(text).min(1).max(200).describe('the ids of the clients whose tokens are taken'),
};
const optional = {
	jwks_url: orNone(url).describe('where the keys of the provider are; by default its metadata say so'),
	token_endpoint: orNone(url).describe('where clients get tokens; by default the metadata of the provider say so'),
	client_claim: orNone(text).describe('the claim with the id of the client; by default client_id, azp or appid'),
	scope_claim: orNone(text).describe('the claim with the scopes; by default scope or scp'),
	site_claim: orNone(text).describe('a further claim that a token must have, for an issuer that serves several sites'),
	site_value: orNone(text).describe('the value of that claim, or one of its values'),
	introspection_url: orNone(url).describe('where opaque tokens are introspected (RFC 7662); only an administrator may set it'),
	introspection_client: orNone(text).describe('the client id of this service at that URL'),
	introspection_secret: orNone(text).describe('the secret of that client; it is never shown'),
};
const changed = {
	jwks_url: optional.jwks_url.optional(),
	token_endpoint: optional.token_endpoint.optional(),
	client_claim: optional.client_claim.optional(),
	scope_claim: optional.scope_claim.optional(),
	site_claim: optional.site_claim.optional(),
	site_value: optional.site_value.optional(),
	introspection_url: optional.introspection_url.optional(),
	introspection_client: optional.introspection_client.optional(),
	introspection_secret: optional.introspection_secret.optional(),
};

export const addIssuerInput = z.strictObject({
	site: z.string(),
	owner: z.string(),
	label: z.string().max(200).default(''),
	...required,
	...changed,
});
export const setIssuerInput = z.strictObject({
	id: z.string(),
	owner: z.string().optional(),
	label: z.string().max(200).optional(),
	issuer: required.issuer.optional(),
	audience: required.audience.optional(),
	clients: required.clients.optional(),
	...changed,
});
type Given = Partial<z.infer<typeof setIssuerInput>>;

export const issuerRecord = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	owner: z.string(),
	label: z.string(),
	issuer: z.string(),
	audience: z.string(),
	clients: z.array(z.string()),
	jwks_url: z.string().nullable(),
	token_endpoint: z.string().nullable(),
	client_claim: z.string().nullable(),
	scope_claim: z.string().nullable(),
	site_claim: z.string().nullable(),
	site_value: z.string().nullable(),
	introspection_url: z.string().nullable(),
	introspection_client: z.string().nullable(),
	active: z.boolean(),
	created_at: instant,
});
type IssuerRecord = z.infer<typeof issuerRecord>;

function record(row: TokenIssuer): IssuerRecord {
	return {
		id: row.id,
		site: row.site.slug,
		owner: row.owner.email,
		label: row.label,
		issuer: row.issuer,
		audience: row.audience,
		clients: row.clients,
		jwks_url: row.jwksUrl ?? null,
		token_endpoint: row.tokenEndpoint ?? null,
		client_claim: row.clientClaim ?? null,
		scope_claim: row.scopeClaim ?? null,
		site_claim: row.siteClaim ?? null,
		site_value: row.siteValue ?? null,
		introspection_url: row.introspectionUrl ?? null,
		introspection_client: row.introspectionClient ?? null,
		active: row.active,
		created_at: row.createdAt.toISOString(),
	};
}

/** Opaque tokens are a matter of all sites: such a token does not say where it is from. */
function refuseIntrospection({ actor }: AdministrationContext, given: Given): void {
	const name = (['introspection_url', 'introspection_client', 'introspection_secret'] as const).find((member) => given[member]);
	if (name !== undefined && (actor.role !== 'administrator' || actor.sites !== 'all'))
		throw new AdministrationError('only an administrator of all sites may set the introspection of tokens', 'forbidden', name);
}

/** The URLs that this service calls itself. Clients get their tokens at `token_endpoint`. */
function refuseTargets(context: AdministrationContext, given: Given): void {
	for (const name of ['issuer', 'jwks_url', 'introspection_url'] as const) {
		const url = given[name];
		if (url) refuseGuarded(context, hostOf(url), name);
	}
}

/** Sets what the input names. An empty text removes a value. */
function apply(row: TokenIssuer, given: Given): void {
	row.label = given.label ?? row.label;
	row.issuer = given.issuer ?? row.issuer;
	row.audience = given.audience ?? row.audience;
	row.clients = given.clients === undefined ? row.clients : [...new Set(given.clients)];
	const or = (value: string | undefined, held: string | null | undefined) => (value === undefined ? (held ?? null) : value || null);
	row.jwksUrl = or(given.jwks_url, row.jwksUrl);
	row.tokenEndpoint = or(given.token_endpoint, row.tokenEndpoint);
	row.clientClaim = or(given.client_claim, row.clientClaim);
	row.scopeClaim = or(given.scope_claim, row.scopeClaim);
	row.siteClaim = or(given.site_claim, row.siteClaim);
	row.siteValue = or(given.site_value, row.siteValue);
	row.introspectionUrl = or(given.introspection_url, row.introspectionUrl);
	row.introspectionClient = or(given.introspection_client, row.introspectionClient);
	row.introspectionSecret = or(given.introspection_secret, row.introspectionSecret);
}

function refuseHalves({ siteClaim, siteValue, introspectionUrl, introspectionClient, introspectionSecret }: TokenIssuer): void {
	if ((siteClaim === null) !== (siteValue === null))
		throw new AdministrationError('site_claim and site_value belong together', 'form', siteClaim === null ? 'site_claim' : 'site_value');
	const given = [introspectionUrl, introspectionClient, introspectionSecret].filter((value) => value !== null).length;
	if (given !== 0 && given !== 3)
		throw new AdministrationError(
			'introspection_url, introspection_client and introspection_secret belong together',
			'form',
			'introspection_url',
		);
}

/** @throws AdministrationError when the row is incomplete, or takes tokens that another row takes */
async function refuseFaults(context: AdministrationContext, em: EntityManager, row: TokenIssuer): Promise<void> {
	refuseHalves(row);
	const sameIssuer = await em.find(TokenIssuer, { issuer: row.issuer, id: { $ne: row.id } }, { populate: ['site'] });
	refuseSharedTokens(context, row, sameIssuer);
	if (row.introspectionUrl === null) return;
	const asking = await em.find(TokenIssuer, { introspectionUrl: { $ne: null } });
	const differs = (other: TokenIssuer) =>
		other.introspectionUrl !== row.introspectionUrl || other.introspectionClient !== row.introspectionClient;
	if (asking.some((other) => other.id !== row.id && differs(other)))
		throw new AdministrationError(
			'opaque tokens are introspected at another URL or by another client already; a token does not say which is meant',
			'conflict',
			'introspection_url',
		);
}

export async function addIssuer(context: AdministrationContext, input: z.input<typeof addIssuerInput>): Promise<IssuerRecord> {
	refuseIntrospection(context, input);
	refuseTargets(context, input);
	return change(context, async (em) => {
		const site = await siteBySlug(em, input.site);
		const owner = await ownerOf(context, em, input.owner, site);
		if (!site.active || !owner.active) throw new AdministrationError('the site or the owner is disabled');
		const row = em.create(
			TokenIssuer,
			{
				...{ site, owner, id: newId(context.nowMs()), label: '', issuer: input.issuer, audience: input.audience, clients: [] },
				...{ jwksUrl: null, tokenEndpoint: null, clientClaim: null, scopeClaim: null, siteClaim: null, siteValue: null },
				...{ introspectionUrl: null, introspectionClient: null, introspectionSecret: null },
				...{ active: true, createdAt: new Date(context.nowMs()) },
			},
			{ persist: false },
		);
		apply(row, input);
		await refuseFaults(context, em, row);
		em.persist(row);
		const after = record(row);
		return [after, { action: 'issuer.add', subject: row.id, siteId: site.id, after }];
	});
}

/** Lists issuers, newest first. */
export async function listIssuers(context: AdministrationContext): Promise<IssuerRecord[]> {
	const options = { populate: ['site', 'owner'], orderBy: { createdAt: 'desc', id: 'desc' } } as const;
	return (await context.em.fork().find(TokenIssuer, ofVisibleSites(context), options)).map(record);
}

async function issuerById(em: EntityManager, id: string): Promise<TokenIssuer> {
	const row = isUuid(id) ? await em.findOne(TokenIssuer, { id }, { populate: ['site', 'owner'] }) : null;
	if (!row) throw new AdministrationError(`there is no issuer '${id}'`, 'not-found');
	return row;
}

export async function showIssuer({ em }: AdministrationContext, id: string): Promise<IssuerRecord> {
	return record(await issuerById(em.fork(), id));
}

export async function setIssuer(
	context: AdministrationContext,
	{ id, active, ...given }: z.infer<typeof setIssuerInput> & { active?: boolean },
): Promise<IssuerRecord> {
	refuseIntrospection(context, given);
	refuseTargets(context, given);
	return change(context, async (em) => {
		const row = await issuerById(em, id);
		const before = record(row);
		if (given.owner !== undefined) row.owner = await ownerOf(context, em, given.owner, row.site);
		if (active !== undefined) row.active = active;
		apply(row, given);
		await refuseFaults(context, em, row);
		if (given.introspection_secret) await shareSecret(em, row);
		const action = active === undefined ? 'issuer.set' : active ? 'issuer.enable' : 'issuer.disable';
		const after = record(row);
		return [after, { action, subject: id, siteId: row.site.id, before, after }];
	});
}

/** One client of the provider has one secret, whichever site names it. */
async function shareSecret(em: EntityManager, row: TokenIssuer): Promise<void> {
	const same = { introspectionUrl: row.introspectionUrl, introspectionClient: row.introspectionClient };
	for (const other of await em.find(TokenIssuer, same)) other.introspectionSecret = row.introspectionSecret;
}

export function removeIssuer(context: AdministrationContext, id: string): Promise<IssuerRecord> {
	return change(context, async (em) => {
		const row = await issuerById(em, id);
		const before = record(row);
		em.remove(row);
		return [before, { action: 'issuer.remove', subject: id, siteId: row.site.id, before }];
	});
}

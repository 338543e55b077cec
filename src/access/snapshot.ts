import type pg from 'pg';
import type { KeyScope } from '#record/key-scopes.ts';
import { readSettings } from '#record/settings/settings.ts';
import { carriedOut } from '#storage/connection-pool.ts';
import {
	readAccessVersion,
	readApiKeys,
	readCrossOrigins,
	readDefinitionVersions,
	readDicomSites,
	readIntegrationClients,
	readMovedSites,
	readRemoteAes,
	readSites,
	readTokenIssuers,
} from '#storage/statements/administrative/read-access.ts';
import type { ListedAddresses } from './address-holders.ts';
import type { DicomClient, DicomSite } from './association-index.ts';
import type { KeyGrant, RemoteAe, SiteLimits } from './directory.ts';
import { type IntegrationClient, rangesOf } from './integration-client.ts';
import type { KeyLife } from './key-life.ts';
import type { TokenIssuer } from './tokens/issuer.ts';

export interface HeldKey {
	grant: KeyGrant;
	digest: Buffer;
	life: KeyLife;
}

export interface Snapshot {
	version: string;
	keys: ReadonlyMap<string, HeldKey>;
	/** The active clients of active sites. */
	clients: readonly IntegrationClient[];
	/** The addresses of all clients. */
	listed: readonly ListedAddresses[];
	dicomSites: readonly DicomSite[];
	dicomClients: readonly DicomClient[];
	/** The key is `remoteAeKey`. */
	remoteAes: ReadonlyMap<string, RemoteAe>;
	/** The slugs of the active sites. */
	slugs: readonly string[];
	/** The key is the id of the site. Sites without an entry have only the node's limits. */
	siteLimits: ReadonlyMap<string, SiteLimits>;
	issuers: readonly TokenIssuer[];
	/** The key is the id of the site. Sites without an entry have loaded no definitions. */
	definitionVersions: ReadonlyMap<string, string>;
	/** Says of a site that is served from another database now where and since when; the key is its id. */
	movedSites: ReadonlyMap<string, string>;
	/** The origins whose web pages may call, of all sites together. */
	crossOrigins: ReadonlySet<string>;
}

/** The separator is a backslash, which no AE title contains. */
export function remoteAeKey(siteId: string, title: string): string {
	return `${siteId}\\${title}`;
}

export async function readVersion(client: pg.ClientBase): Promise<string> {
	const [row] = await carriedOut(client, readAccessVersion);
	return String(row?.[0]);
}

/** Reads everything that decides access. The version is read first, so that the next poll notices a change made meanwhile. */
export async function readSnapshot(client: pg.ClientBase, allowAnySource: boolean): Promise<Snapshot> {
	const version = await readVersion(client);
	const movedSites = new Map(((await carriedOut(client, readMovedSites)) as MovedRow[]).map(([id, ...moved]) => [id, movedText(...moved)]));
	const keys = new Map((await carriedOut(client, readApiKeys)).map((row) => heldKey(row as KeyRow, movedSites)));
	const all = (await carriedOut(client, readIntegrationClients)) as ClientRow[];
	const listed = all.map(listedBy);
	const rows = all.filter(isActive);
	const clients = rows.map((row) => clientOf(row, allowAnySource));
	const dicomClients = rows.flatMap((row, index) => dicomClientOf(row, clients[index]));
	const dicomSites = ((await carriedOut(client, readDicomSites)) as SiteRow[]).map(([siteId, siteSlug, aeTitle, hasClients, settings]) => ({
		siteId,
		siteSlug,
		aeTitle,
		hasClients,
		settings: readSettings(settings),
	}));
	const remoteAes = new Map<string, RemoteAe>();
	for (const [siteId, title, host, port, tls] of (await carriedOut(client, readRemoteAes)) as RemoteAeRow[]) {
		remoteAes.set(remoteAeKey(siteId, title), { title, host, port, tls });
	}
	const siteLimits = new Map<string, SiteLimits>();
	const slugs: string[] = [];
	for (const [siteId, slug, waitingMax, associationsMax] of (await carriedOut(client, readSites)) as LimitsRow[]) {
		slugs.push(slug);
		if (waitingMax === null && associationsMax === null) continue;
		siteLimits.set(siteId, { waitingMax: waitingMax ?? undefined, associationsMax: associationsMax ?? undefined });
	}
	const issuers = ((await carriedOut(client, readTokenIssuers)) as IssuerRow[]).map((row) => issuerOf(row, movedSites));
	const definitionVersions = new Map((await carriedOut(client, readDefinitionVersions)) as [string, string][]);
	const crossOrigins = new Set((await carriedOut(client, readCrossOrigins)).map(([origin]) => String(origin)));
	return {
		version,
		keys,
		clients,
		listed,
		dicomSites,
		dicomClients,
		remoteAes,
		slugs,
		siteLimits,
		issuers,
		definitionVersions,
		movedSites,
		crossOrigins,
	};
}

type KeyRow = [string, Buffer, string, string, unknown, KeyScope[] | null, Date, Date | null, string | null];

function heldKey(row: KeyRow, movedSites: Snapshot['movedSites']): [string, HeldKey] {
	const [keyId, digest, siteId, siteSlug, settings, scopes, createdAt, expiresAt, replacedBy] = row;
	const moved = movedSites.get(siteId);
	const limits = { ...(scopes !== null && { keyScopes: scopes }), ...(moved && { moved }) };
	const grant = { keyId, siteId, siteSlug, settings: readSettings(settings), ...limits };
	return [keyId, { grant, digest, life: { createdAt, expiresAt, isReplaced: replacedBy !== null } }];
}

type ClientRow = [
	string,
	string,
	string,
	unknown,
	string[],
	string[],
	string | null,
	string | null,
	Date,
	string | null,
	string[],
	boolean,
];

type RemoteAeRow = [string, string, string, number, boolean];

type LimitsRow = [string, string, number | null, number | null];

type MovedRow = [string, string, string | null, Date | null];

/** Says where a site is now. The address of its database has no password. */
function movedText(slug: string, peer: string | null, at: Date | null): string {
	return `the site '${slug}' was moved to the database ${peer ?? ''} on ${at?.toISOString() ?? ''}: send it there`;
}

/** Id, site, slug, settings, issuer, audience, clients; then, or null: JWKS URL, token endpoint, claims of client, scopes and site. */
type IssuerRow = [string, string, string, unknown, string, string, string[], ...(string | null)[]];

type SiteRow = [string, string, string, boolean, unknown];

function issuerOf(row: IssuerRow, movedSites: Snapshot['movedSites']): TokenIssuer {
	const [id, siteId, siteSlug, settings, issuer, audience, clients, ...further] = row;
	const [jwksUrl, tokenEndpoint, clientClaim, scopeClaim, siteClaim, siteValue, url, clientId, clientSecret] = further.map(
		(text) => text ?? undefined,
	);
	return {
		...{ id, siteId, siteSlug, settings: readSettings(settings), issuer, audience, clients: new Set(clients) },
		...{ jwksUrl, tokenEndpoint, clientClaim, scopeClaim, moved: movedSites.get(siteId) },
		siteClaim: siteClaim === undefined ? undefined : { name: siteClaim, value: siteValue ?? '' },
		introspection: url === undefined ? undefined : { url, clientId: clientId ?? '', clientSecret: clientSecret ?? '' },
	};
}

/** The client and its site are. */
function isActive(row: ClientRow): boolean {
	return row[11];
}

/** A range that the policy does not allow any more was its site's before, and counts here. */
function listedBy([, siteId, , , , allowedIps]: ClientRow): ListedAddresses {
	return { siteId, ranges: rangesOf(allowedIps, true) };
}

function clientOf(row: ClientRow, allowAnySource: boolean): IntegrationClient {
	const [clientId, siteId, siteSlug, settings, protocols, allowedIps, application, facility, createdAt] = row;
	return {
		grant: { clientId, siteId, siteSlug, settings: readSettings(settings) },
		protocols,
		ranges: rangesOf(allowedIps, allowAnySource),
		sendingApplication: application || undefined,
		sendingFacility: facility || undefined,
		createdAt: createdAt.toISOString(),
	};
}

function dicomClientOf(row: ClientRow, client: IntegrationClient | undefined): DicomClient[] {
	if (!client?.protocols.includes('dicom')) return [];
	const { grant, ranges, createdAt } = client;
	const [callingAe, grants] = row.slice(9, 11) as [string | null, string[]];
	return [
		{
			clientId: grant.clientId,
			siteId: grant.siteId,
			settings: grant.settings,
			ranges,
			callingAe: callingAe || undefined,
			grants: new Set(grants),
			createdAt,
		},
	];
}

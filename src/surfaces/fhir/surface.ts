import type { Failure } from '#core/failure.ts';
import { systemTimers } from '#core/timers.ts';
import { fhirOpenApi } from '#fhir/openapi.ts';
import { LongSearchTable } from '#storage/long-searches.ts';
import { ResourceReads } from '#storage/resource-reads.ts';
import type { SurfaceAddress } from '#storage/runtime-file.ts';
import { readCursorKey } from '#storage/statements/administrative/read-access.ts';
import { authorize } from '../http/authorize.ts';
import { CrossOrigin } from '../http/cross-origin.ts';
import { withKeyScopes } from '../http/documentation/key-scopes.ts';
import { documentationRoutes } from '../http/documentation/routes.ts';
import { httpOptions, listening } from '../http/listen.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import { listensEverywhere } from '../http/origin.ts';
import { createHttpServer } from '../http/server.ts';
import type { GuestSurface, ServiceNode, Surface } from '../node.ts';
import { recordedRoutes } from './accesses.ts';
import { bulkRoutes } from './bulk.ts';
import { Cursors } from './cursor.ts';
import { LongSearches } from './long-searches.ts';
import { fhirRoutes, renderFhirFailure } from './routes.ts';
import { SiteLibraries } from './site-libraries.ts';
import { unknownOperations } from './unknown-operation.ts';

/** Serves FHIR R4 with exports and imports, on an origin that it shares with guests. */
export function fhirSurface(...guests: readonly GuestSurface[]): Surface {
	return { name: 'fhir', open: (node) => open(node, guests) };
}

async function open(node: ServiceNode, guests: readonly GuestSurface[]): Promise<Record<string, SurfaceAddress>> {
	const { config, version, metrics, clock, directory, tokens, gateway, database, bulk, log, audit } = node;
	const { limits, HOST: host, FHIR_PORT: port, PUBLIC_METADATA: publicMetadata } = config;
	const publicOrigin = { url: config.PUBLIC_URL, hosts: config.PUBLIC_HOSTS };
	if (listensEverywhere(host) && publicOrigin.url === undefined && publicOrigin.hosts.length === 0)
		node.log.warn(
			'absolute links name an address of this machine; PUBLIC_URL or PUBLIC_HOSTS give them the name by which clients reach it',
		);
	const crossOrigin = new CrossOrigin(() => directory.crossOrigins());
	const reader = database.reads;
	const reads = new ResourceReads(reader);
	const cursors = await cursorsOf(node);
	const libraries = new SiteLibraries(directory, database.currentReads, log);
	const longSearches = longSearchesOf(node);
	const paging = { cursors, longSearches };
	const fhir = { directory, tokens, libraries, ...paging, reader, reads, gateway, clock, audit, limits, metrics, version, publicMetadata };
	const parts = guests.map(({ openApi }) => openApi);
	// Exports and imports are recorded with their jobs.
	const ofFhir = [...recordedRoutes({ audit }, fhirRoutes(fhir)), ...bulkRoutes({ ...fhir, bulk })];
	const served = [...ofFhir, ...unknownOperations(fhir, ofFhir), ...guests.flatMap((guest) => guest.routes(node))];
	const openApi = (server: string) => withKeyScopes(fhirOpenApi(version, server, ...parts), served);
	const routes = [...served, ...(config.API_DOCUMENTATION ? documentationRoutes(openApi, 'FHIR R4 at /fhir, DICOMweb at /dicomweb') : [])];
	const renderFailure = (failure: Failure, request: Pick<HttpRequest, 'header' | 'path'>): HttpAnswer => {
		const guest = guests.find(({ owns }) => owns(request.path));
		return guest === undefined ? renderFhirFailure(failure, request) : guest.renderFailure(failure, request);
	};
	return listening(
		node,
		'fhir',
		host,
		createHttpServer({
			...httpOptions(node),
			...{ publicOrigin, crossOrigin, name: 'fhir', keyed: true, port, routes, renderFailure },
			surfaceOf: (path) => guests.find(({ owns }) => owns(path))?.name ?? 'fhir',
			admit: (request) => authorize(fhir, request),
		}),
	);
}

/** How often a node deletes expired searches of all sites. */
const sweepMs = 600_000;

function longSearchesOf({ database, config, log, onClose }: ServiceNode): LongSearches {
	const table = new LongSearchTable(database.journal);
	const sweep = systemTimers.every(sweepMs, () => {
		table.deleteExpired().catch((error: unknown) => log.warn({ err: error }, 'expired searches could not be deleted'));
	});
	onClose(() => sweep.stop());
	return new LongSearches(table, config.limits);
}

/** The key of cursors is kept in the database, so that each node can read the cursors of the others. */
async function cursorsOf({ database }: ServiceNode): Promise<Cursors> {
	const [row] = await database.people.rows<{ cursor_key: Buffer }>(readCursorKey, []);
	if (row === undefined) throw new Error('the database has no cursor key');
	return new Cursors(row.cursor_key);
}

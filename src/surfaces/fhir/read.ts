import { Failure } from '#core/failure.ts';
import { isUuid } from '#core/id.ts';
import type { ResourceDefinition } from '#fhir/resource.ts';
import { scopeClause } from '#fhir/scope-clause.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import { type Shape, shaped } from '#fhir/shape.ts';
import { renderStored } from '#fhir/stored.ts';
import { isFhirId, rowIdOf } from '#record/row-id.ts';
import type { Clause, SearchPlan } from '#record/search-plan.ts';
import { isDeletion, type StoredResource } from '#record/stored-resource.ts';
import { readVersion, searchResources } from '#storage/search.ts';
import { isDeletedStudy } from '#storage/statements/administrative/study-retention.ts';
import { namesTag } from '../http/entity-tag.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import { readTrail } from './audit-events.ts';
import type { Interacting } from './context.ts';

/** https://hl7.org/fhir/R4/http.html#read */
export async function read(on: Interacting): Promise<HttpAnswer> {
	const { context, request, definition, mediaType } = on;
	const id = request.params['id'] ?? '';
	// No client can put a resource of its own before an event of the trail.
	const event = definition.type === 'AuditEvent' ? await readTrail(on, id) : undefined;
	if (event !== undefined) return event;
	const row = await readReached(on, id);
	// The answer is the same for an id of another site, an unknown id and a malformed id.
	if (row === undefined) {
		await refuseRemoved(on, id);
		throw new Failure('not-found', `there is no ${definition.type} with this id`);
	}
	refuseDeleted(definition.type, row);
	return resourceAnswer(row, { context, request, definition, mediaType });
}

type Reaching = Pick<Interacting, 'context' | 'grant' | 'definition' | 'base'>;

/**
 * A study that retention deleted is gone for good. A caller whose scopes reach a part of the type is told what all are told of an unknown id.
 * @throws Failure `gone`
 */
export async function refuseRemoved({ context, grant, definition, base }: Reaching, id: string): Promise<void> {
	if (definition.type !== 'ImagingStudy' || !isUuid(id)) return;
	const { reader, limits } = context;
	if (scopeClause(definition, 'r', grant.scopes, { base, limits }) !== undefined) return;
	const [found] = await reader.run(isDeletedStudy, [grant.siteId, id]);
	if (found !== undefined) throw new Failure('gone', 'the study was deleted, because its retention is over');
}

/** Returns the resource; undefined if there is none, or if the scopes of the caller do not reach it. */
export async function readReached({ context, grant, definition, base }: Reaching, id: string): Promise<StoredResource | undefined> {
	const { siteId, scopes } = grant;
	const { type, table } = definition;
	const { reader, reads, limits } = context;
	const reached = scopeClause(definition, 'r', scopes, { base, limits });
	if (reached === undefined) return reads.read(siteId, table.table, id);
	if (!isFhirId(id)) return undefined;
	const clauses: Clause[] = [{ kind: 'reference', column: 'id', ids: [rowIdOf(id)] }, reached];
	const plan: SearchPlan = { resourceType: type, table: table.table, clauses, sort: [], count: 1, after: undefined, extent: 'whole' };
	const { rows } = await searchResources(reader, siteId, plan, limits.searchBytesMax);
	return rows[0];
}

/** https://hl7.org/fhir/R4/http.html#vread */
export async function vread(on: Interacting): Promise<HttpAnswer> {
	const { context, request, grant, definition, mediaType } = on;
	const { id = '', version = '' } = request.params;
	const { type, table } = definition;
	const row = await readVersion(context.reader, grant.siteId, { table: table.table, type, id, version });
	if (row === undefined) {
		await refuseRemoved(on, id);
		throw new Failure('not-found', `there is no ${type} with this id and version`);
	}
	refuseDeleted(type, row);
	return resourceAnswer(row, { context, request, definition, mediaType });
}

/** Names the version of the deletion, on which a write that brings the resource back may be based. */
export function refuseDeleted(type: string, row: StoredResource): void {
	if (isDeletion(row)) throw new Failure('gone', `the ${type} was deleted, by version ${row.version}`);
}

type Answering = Pick<Interacting, 'context' | 'request' | 'definition' | 'mediaType'>;

export function resourceAnswer(row: StoredResource, { context, request, definition, mediaType }: Answering): HttpAnswer {
	const headers = { ETag: `W/"${row.version}"`, 'Last-Modified': new Date(row.lastUpdated).toUTCString() };
	if (isUnchanged(request, row)) return { status: 304, headers };
	const shape = shapeOf(request, definition, context);
	const shown = shape === undefined ? row : shaped(definition, row, shape);
	return { status: 200, headers: { 'Content-Type': mediaType, ...headers }, body: renderStored(definition.type, shown) };
}

const isInstant = /^\d{4}-/;

/** Compares the validators of the request (RFC 9110 §13.1.2 and §13.1.3). An entity tag takes precedence over a date. */
export function isUnchanged(request: HttpRequest, { version, lastUpdated }: Pick<StoredResource, 'version' | 'lastUpdated'>): boolean {
	const tags = request.header('if-none-match');
	if (tags !== undefined) return namesTag(tags, `"${version}"`);
	const given = request.header('if-modified-since');
	if (given === undefined) return false;
	const changed = Date.parse(lastUpdated);
	// The header of HTTP has whole seconds; an entry of a Bundle has an instant.
	return (isInstant.test(given) ? changed : Math.floor(changed / 1000) * 1000) <= Date.parse(given);
}

/** Reads `_summary` and `_elements`, which a read takes too (FHIR R4 §3.1.0.1.9). */
function shapeOf(request: HttpRequest, definition: ResourceDefinition, { limits }: Interacting['context']): Shape | undefined {
	if (!/(?:^|&)_(?:summary|elements)=/.test(request.query)) return undefined;
	const wanted = new URLSearchParams(
		[...new URLSearchParams(request.query)].filter(([name]) => name === '_summary' || name === '_elements'),
	);
	const { shape, counting } = parseSearch(definition, wanted.toString(), { limits, lenient: false, base: '', scopes: undefined });
	if (counting)
		throw new Failure('invalid', '_summary=count is for searches and cannot be used to read a resource', {
			location: { expression: '_summary' },
		});
	return shape;
}

import { Failure } from '#core/failure.ts';
import { history } from '#fhir/bundle.ts';
import { cursorParameter } from '#fhir/search/result.ts';
import { rowIdOf } from '#record/row-id.ts';
import { readHistory } from '#storage/search.ts';
import { readSystemHistory } from '#storage/system-history.ts';
import type { HttpAnswer } from '../http/message.ts';
import type { Interacting } from './context.ts';
import { linkTo } from './links.ts';
import { pageParameters } from './page-parameters.ts';
import { refuseRemoved } from './read.ts';
import { type OnSystem, searchedTypes } from './system.ts';

/** Answers the history of one resource (https://hl7.org/fhir/R4/http.html#history). */
export async function historyOfInstance(on: Interacting): Promise<HttpAnswer> {
	const { context, grant, definition, request } = on;
	const id = request.params['id'] ?? '';
	const current = await context.reads.read(grant.siteId, definition.table.table, id);
	if (current === undefined) {
		await refuseRemoved(on, id);
		throw new Failure('not-found', `there is no ${definition.type} with this id`);
	}
	return answer(on, `${definition.type}/${id}`, rowIdOf(id));
}

/** Answers the history of all resources of a type. */
export function historyOfType(on: Interacting): Promise<HttpAnswer> {
	return answer(on, on.definition.type, undefined);
}

async function answer(
	{ context, request, grant, definition, mediaType, base }: Interacting,
	path: string,
	rowId: string | undefined,
): Promise<HttpAnswer> {
	const { type, table } = definition;
	const { siteId } = grant;
	const { count, since, cursor, applied } = pageParameters(request.query, context.limits);
	const scope = { siteId, of: `${path}/_history`, applied };
	const [lastUpdated, id, version] = cursor === undefined ? [] : context.cursors.open(scope, cursor);
	const after = lastUpdated && id ? { lastUpdated, id, version: Number(version) } : undefined;
	const { rows, next } = await readHistory(
		context.reader,
		siteId,
		{ table: table.table, type },
		{
			rowId,
			since,
			after,
			count,
			bytesMax: context.limits.searchBytesMax,
		},
	);
	const link = (parameters: readonly (readonly [string, string])[]) => linkTo(`${base}/${path}/_history`, parameters);
	const self = link(cursor === undefined ? applied : [...applied, [cursorParameter, cursor]]);
	const position = next && [next.lastUpdated, next.id, String(next.version)];
	const body = history({
		base,
		versions: rows.map((stored) => ({ type, stored })),
		total: cursor === undefined && next === undefined ? rows.length : undefined,
		self,
		next: position && link([...applied, [cursorParameter, context.cursors.seal(scope, position)]]),
	});
	return { status: 200, headers: { 'Content-Type': mediaType }, body };
}

/** Answers the history of all resources of all types (https://hl7.org/fhir/R4/http.html#history). */
export async function historyOfSystem({ context, grant, mediaType, base, query }: OnSystem): Promise<HttpAnswer> {
	const { siteId, scopes } = grant;
	const { count, since, cursor, applied } = pageParameters(query, context.limits);
	const scope = { siteId, of: '_history', applied };
	const [lastUpdated, id, version, ofType] = cursor === undefined ? [] : context.cursors.open(scope, cursor);
	const after = lastUpdated && id && ofType ? { lastUpdated, id, version: Number(version), type: ofType } : undefined;
	const shapes = searchedTypes(scopes, []).map(({ table }) => table);
	const { versions, next } = await readSystemHistory(
		context.reader,
		siteId,
		{ shapes, since, after, count },
		context.limits.searchBytesMax,
	);
	const link = (parameters: readonly (readonly [string, string])[]) => linkTo(`${base}/_history`, parameters);
	const position = next && [next.lastUpdated, next.id, String(next.version), next.type];
	const body = history({
		base,
		versions,
		total: cursor === undefined && next === undefined ? versions.length : undefined,
		self: link(cursor === undefined ? applied : [...applied, [cursorParameter, cursor]]),
		next: position && link([...applied, [cursorParameter, context.cursors.seal(scope, position)]]),
	});
	return { status: 200, headers: { 'Content-Type': mediaType }, body };
}

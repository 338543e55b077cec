import { Failure } from '#core/failure.ts';
import { renderStored } from '#fhir/stored.ts';
import { readResource } from '#storage/search.ts';
import type { HttpAnswer } from '../http/message.ts';
import type { Interacting } from './context.ts';

/** https://hl7.org/fhir/R4/http.html#read */
export async function read({ context, request, grant, definition, mediaType }: Interacting): Promise<HttpAnswer> {
	const row = await readResource(context.reader, grant.siteId, definition.table.table, request.params['id'] ?? '');
	// The same answer for an id of another site, an id that never was, and what is no id.
	if (row === undefined) throw new Failure('not-found', `there is no ${definition.type} with this id`);
	const headers = { ETag: `W/"${row.version}"`, 'Last-Modified': new Date(row.lastUpdated).toUTCString() };
	if (namesVersion(request.header('if-none-match'), row.version)) return { status: 304, headers };
	return { status: 200, headers: { 'Content-Type': mediaType, ...headers }, body: renderStored(definition.type, row) };
}

/** Weak comparison (RFC 9110 §13.1.2). */
function namesVersion(header: string | undefined, version: string): boolean {
	if (header === undefined) return false;
	return header.split(',').some((tag) => {
		const name = tag.trim().replace(/^W\//, '');
		return name === '*' || name === `"${version}"`;
	});
}

import { givenIdOf } from '#record/row-id.ts';
import { isDeletion, type StoredResource } from '#record/stored-resource.ts';
import { renderStored } from './stored.ts';

export interface Links {
	self: string;
	next: string | undefined;
}

export interface SearchEntry {
	type: string;
	stored: StoredResource;
	mode: 'match' | 'include';
	/** How sure the answer to `$match` is of this patient. */
	graded?: { grade: string; score: number };
}

const matchGrade = 'http://hl7.org/fhir/StructureDefinition/match-grade';

export interface SearchPage extends Links {
	/** The FHIR base URL without a trailing slash. */
	base: string;
	entries: readonly SearchEntry[];
	total: number | undefined;
	/** OperationOutcome as JSON text: notices to the client about the page. */
	outcome?: string | undefined;
}

/** A Bundle of type searchset (FHIR R4 §2.36), as JSON text. */
export function searchset({ base, entries, total, outcome, ...links }: SearchPage): string {
	const rendered = entries.map(
		({ type, stored, mode, graded }) =>
			`{"fullUrl":${JSON.stringify(`${base}/${type}/${stored.id}`)},"resource":${renderStored(type, stored)},"search":${graded === undefined ? `{"mode":"${mode}"}` : searchOf(mode, graded)}}`,
	);
	if (outcome !== undefined) rendered.push(`{"resource":${outcome},"search":{"mode":"outcome"}}`);
	return bundle('searchset', total, links, rendered);
}

function searchOf(mode: string, { grade, score }: NonNullable<SearchEntry['graded']>): string {
	return JSON.stringify({ extension: [{ url: matchGrade, valueCode: grade }], mode, score });
}

function bundle(type: string, total: number | undefined, { self, next }: Links, entries: readonly string[]): string {
	const links = [{ relation: 'self', url: self }, ...(next === undefined ? [] : [{ relation: 'next', url: next }])];
	const counted = total === undefined ? '' : `,"total":${total}`;
	const listed = entries.length === 0 ? '' : `,"entry":[${entries.join(',')}]`;
	return `{"resourceType":"Bundle","type":"${type}"${counted},"link":${JSON.stringify(links)}${listed}}`;
}

export interface HistoryVersion {
	type: string;
	stored: StoredResource;
}

export interface HistoryVersions extends Links {
	base: string;
	versions: readonly HistoryVersion[];
	total: number | undefined;
}

const isAssigned = (id: string) => givenIdOf(id) === null;

/** A Bundle of type history (FHIR R4 §3.1.0.12): versions, newest first, each with the request that made it. */
export function history({ base, versions, total, ...links }: HistoryVersions): string {
	const entries = versions.map(({ type, stored }) => {
		const url = `${type}/${stored.id}`;
		if (isDeletion(stored)) return deletionEntry(base, url, stored);
		const created = stored.version === '1';
		// A resource under an id that a client chose was created by PUT.
		const request = created && isAssigned(stored.id) ? { method: 'POST', url: type } : { method: 'PUT', url };
		const response = { status: created ? '201' : '200', etag: `W/"${stored.version}"`, lastModified: stored.lastUpdated };
		return `{"fullUrl":${JSON.stringify(`${base}/${url}`)},"resource":${renderStored(type, stored)},"request":${JSON.stringify(request)},"response":${JSON.stringify(response)}}`;
	});
	return bundle('history', total, links, entries);
}

/** It has no resource (bdl-3, bdl-4). */
function deletionEntry(base: string, url: string, { version, lastUpdated }: StoredResource): string {
	const response = { status: '204', etag: `W/"${version}"`, lastModified: lastUpdated };
	return JSON.stringify({ fullUrl: `${base}/${url}`, request: { method: 'DELETE', url }, response });
}

import type { StoredResource } from '#record/stored-resource.ts';
import { renderStored } from './stored.ts';

export interface SearchPage {
	type: string;
	/** The FHIR base URL, without a slash at its end. */
	base: string;
	matches: readonly StoredResource[];
	total: number | undefined;
	self: string;
	next: string | undefined;
}

/** A Bundle of type searchset (FHIR R4 §2.36), as JSON text. */
export function searchset({ type, base, matches, total, self, next }: SearchPage): string {
	const links = [{ relation: 'self', url: self }, ...(next === undefined ? [] : [{ relation: 'next', url: next }])];
	const entries = matches.map(
		(stored) =>
			`{"fullUrl":${JSON.stringify(`${base}/${type}/${stored.id}`)},"resource":${renderStored(type, stored)},"search":{"mode":"match"}}`,
	);
	const counted = total === undefined ? '' : `,"total":${total}`;
	const listed = entries.length === 0 ? '' : `,"entry":[${entries.join(',')}]`;
	return `{"resourceType":"Bundle","type":"searchset"${counted},"link":${JSON.stringify(links)}${listed}}`;
}

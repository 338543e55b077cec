import type { JsonObject } from '#core/json.ts';
import { indexText } from '#record/index-text.ts';
import type { ColumnValue } from '#record/table-shape.ts';
import { instantBounds } from './date.ts';
import { asObject, asObjects, asText } from './elements.ts';
import type { SearchColumns } from './resource.ts';

const uidPrefix = 'urn:oid:';
/** DICOM's own system, and that of URIs in which other systems state a UID. */
const uidSystems = ['urn:dicom:uid', 'urn:ietf:rfc:3986'];

/** The search columns of an ImagingStudy that a client wrote. A rendered one has them in the index of images. */
export const writtenStudyColumns: SearchColumns = {
	columns: [
		{ name: 'study_uid', sqlType: 'text' },
		{ name: 'accession_number', sqlType: 'text' },
		{ name: 'accession_system', sqlType: 'text' },
		{ name: 'status', sqlType: 'text' },
		{ name: 'identifiers', sqlType: 'text[]' },
		{ name: 'modalities', sqlType: 'text[]' },
		{ name: 'sop_classes', sqlType: 'text[]' },
		{ name: 'series_uids', sqlType: 'text[]' },
		{ name: 'instance_uids', sqlType: 'text[]' },
		{ name: 'started_start', sqlType: 'timestamptz' },
		{ name: 'started_end', sqlType: 'timestamptz' },
	],
	valuesOf: (resource) => {
		const identifiers = asObjects(resource['identifier']);
		const accession = identifiers.find(isAccession);
		const series = asObjects(resource['series']);
		const instances = series.flatMap((one) => asObjects(one['instance']));
		return [
			cut(studyUidOf(identifiers)),
			cut(asText(accession?.['value'])),
			cut(asText(accession?.['system'])),
			asText(resource['status']) ?? null,
			listOf(identifiers.flatMap(identifierTokens)),
			listOf([...series, ...asObjects(resource['modality']).map((modality) => ({ modality }))].map((one) => codeOf(one, 'modality'))),
			listOf(instances.map((one) => codeOf(one, 'sopClass'))),
			listOf(series.map(({ uid }) => withoutPrefix(asText(uid)))),
			listOf(instances.map(({ uid }) => withoutPrefix(asText(uid)))),
			...instantBounds(asText(resource['started'])),
		];
	},
};

function studyUidOf(identifiers: readonly JsonObject[]): string | undefined {
	const stated = identifiers.filter(({ system }) => uidSystems.includes(asText(system) ?? ''));
	return stated
		.map(({ value }) => asText(value))
		.find((value) => value?.startsWith(uidPrefix))
		?.slice(uidPrefix.length);
}

function isAccession({ type }: JsonObject): boolean {
	return asObjects(asObject(type)?.['coding']).some(({ code }) => code === 'ACSN');
}

/** Returns the forms in which a search may name the identifier; see `identifierToken` of search/token-columns.ts. */
function identifierTokens({ system, value }: JsonObject): string[] {
	const [of, number] = [asText(system) ?? '', asText(value)];
	const whole = number === undefined ? [] : [number, `${of}|${number}`];
	return of === '' ? whole : [...whole, `${of}|`];
}

function codeOf(element: JsonObject, name: string): string | undefined {
	return withoutPrefix(asText(asObject(element[name])?.['code']));
}

function withoutPrefix(uid: string | undefined): string | undefined {
	return uid?.startsWith(uidPrefix) ? uid.slice(uidPrefix.length) : uid;
}

function cut(text: string | undefined): ColumnValue {
	return text === undefined ? null : indexText(text);
}

function listOf(values: readonly (string | undefined)[]): ColumnValue {
	const stated = new Set(values.flatMap((value) => (value === undefined ? [] : [indexText(value)])));
	return stated.size === 0 ? null : [...stated];
}

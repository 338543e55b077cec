import type { Row } from '#record/apply/rows.ts';
import type { PatientIdentifier } from '#record/holdings/patient-identifiers.ts';
import type { ColumnValue, TableShape } from '#record/table-shape.ts';
import { textLiteral } from './statement.ts';

/** The input of `copy … from stdin`: the statement, and the rows in its format. */
export interface CopyRows {
	text: string;
	rows: Buffer;
}

/** A CSV format whose marks occur in no JSON text, so that a resource needs no escaping. */
const csv = `(format csv, delimiter E'\\x02', quote E'\\x01', escape E'\\x01')`;
const delimiter = '\x02';

/** New resources of one type. */
export function copyResources(shape: TableShape, siteId: string, rows: readonly Row[]): CopyRows {
	const columns = [
		...(shape.isShared ? ['resource_type'] : []),
		'site_id',
		'id',
		'given_id',
		'version',
		'last_updated',
		'source',
		'meta',
		'resource',
	];
	const further = [...shape.links, ...shape.search].map(({ name }) => name);
	let lines = '';
	for (const row of rows) {
		const { id, givenId, version, lastUpdated, source, meta, text } = row;
		if (shape.isShared) lines += shape.resourceType + delimiter;
		lines += [siteId, id, field(givenId), version, lastUpdated, field(source), field(meta), field(text)].join(delimiter);
		for (const { name } of shape.links) lines += delimiter + field(row.links[name] ?? null);
		for (const value of shape.searchValues(row.resource ?? JSON.parse(text))) lines += delimiter + field(value);
		lines += '\n';
	}
	return { text: `copy ${shape.keptIn} (${[...columns, ...further].join(', ')}) from stdin with ${csv}`, rows: Buffer.from(lines) };
}

/** The identifiers of new patients, by their row ids. */
export function copyIdentifiers(siteId: string, patients: Iterable<readonly [string, readonly PatientIdentifier[]]>): CopyRows {
	let lines = '';
	for (const [patientId, identifiers] of patients) {
		for (const { value, system, old, rank } of identifiers) {
			lines += [siteId, field(value), field(system), patientId, old, rank].join(delimiter);
			lines += '\n';
		}
	}
	return {
		text: `copy patient_identifier (site_id, value, system, patient_id, old, rank) from stdin with ${csv}`,
		rows: Buffer.from(lines),
	};
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these have a meaning in the form above.
const marks = /[\x00-\x02\r\n]/;

/** Formats a field. NULL is an empty field. NUL is dropped, because PostgreSQL cannot hold it. */
function field(value: ColumnValue): string {
	if (value === null) return '';
	const text = Array.isArray(value) ? textLiteral(value) : String(value);
	if (text !== '' && !marks.test(text)) return text;
	return `\x01${text.replaceAll('\0', '').replaceAll('\x01', '\x01\x01')}\x01`;
}

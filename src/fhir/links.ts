import type { Json, JsonObject } from '#core/json.ts';
import { rowIdOf } from '#record/row-id.ts';
import type { Column, ColumnValue } from '#record/table-shape.ts';
import { asObject, asText } from './elements.ts';

export const patientLink: Column = { name: 'patient_id', sqlType: 'uuid' };
export const encounterLink: Column = { name: 'encounter_id', sqlType: 'uuid' };
export const itemLink: Column = { name: 'item_key', sqlType: 'uuid' };
/** MSH-7 of the message that stated a result, as a FHIR instant. */
export const sentLink: Column = { name: 'sent_at', sqlType: 'text' };
/** See record/client-origin. */
export const originLink: Column = { name: 'origin', sqlType: 'text' };
/**
 * The names of orders and studies in a report, see DiagnosticReportChange, and its origin: `person` where a person began it here, `client`
 * where
 * a client wrote it.
 */
export const reportLinks: readonly Column[] = [
	sentLink,
	originLink,
	{ name: 'order_key', sqlType: 'uuid' },
	{ name: 'study_uid', sqlType: 'text' },
	{ name: 'accession_number', sqlType: 'text' },
	{ name: 'filler_number', sqlType: 'text' },
];
/** Facts about a document that messages state but the resource does not contain; see DocumentChange. */
export const documentLinks: readonly Column[] = [
	{ name: 'set_key', sqlType: 'uuid' },
	{ name: 'set_version', sqlType: 'text' },
	{ name: 'stated_at', sqlType: 'text' },
	{ name: 'replaces_key', sqlType: 'uuid' },
];

/** Returns the row that a literal reference of this service names; null for any other reference. A version in it is ignored. */
export function referencedRow(reference: Json | undefined, type: string): string | null {
	const text = asText(asObject(reference)?.['reference']);
	if (text === undefined || !text.startsWith(`${type}/`)) return null;
	const [id = ''] = text.slice(type.length + 1).split('/_history/');
	return /^[A-Za-z0-9\-.]{1,64}$/.test(id) ? rowIdOf(id) : null;
}

/** Returns the visit to which a resource belongs. */
export function statedEncounter(resource: JsonObject): Readonly<Record<string, ColumnValue>> {
	return { encounter_id: referencedRow(resource['encounter'], 'Encounter') };
}

import { isUuid } from '#core/id.ts';
import type { Clause } from '#record/search-plan.ts';
import type { TableShape } from '#record/table-shape.ts';
import type { Statement } from '../statement.ts';
import { inlined } from './inlined.ts';
import { Parameters } from './parameters.ts';
import { relation } from './relation.ts';
import { resourceText } from './row-columns.ts';
import { whereOf } from './search-conditions.ts';

export interface ExportScope {
	siteId: string;
	/** Limits the export to resources that changed later than this. */
	sinceMs: number | undefined;
	/** Limits the export to resources about patients. */
	patientsOnly: boolean;
	/** Row ids of the patients to whom it is limited; undefined means all. */
	patients?: readonly string[] | undefined;
	/** Conditions that the resources have to meet. */
	clauses?: readonly Clause[] | undefined;
	/** FHIR base URL without a trailing slash; attachments get absolute URLs. */
	base: string;
}

/** Returns the types, among those that share a table, of which the site has resources. */
export const sharedTypesOfSite: Statement = {
	name: 'shared_types_of_site',
	text: 'select distinct r.resource_type from other_resource r where r.site_id = $1 and not r.deleted',
};

/** Tells whether a base URL consists of scheme, host, port and a plain path only. */
export function isPlainBase(base: string): boolean {
	return /^https?:\/\/[\w.:[\]-]+(?:\/[\w.-]+)*$/.test(base);
}

/**
 * Writes parts of rows in CSV whose marks cannot occur in JSON text, so a line leaves PostgreSQL unchanged and needs no unescaping. Only a
 * text
 * with a line break of its own would be quoted.
 */
const csv = `(format csv, delimiter E'\\x02', quote E'\\x01', escape E'\\x01')`;

/**
 * Exports the resources of one type as FHIR JSON, one per line, in the form that `renderStored` gives them. COPY takes no parameters: the
 * site, the moment and the URL are validated here, all other values become literals.
 */
export function exportResources(
	{ table, resourceType, compartment, hasAttachments, renderedFrom }: TableShape,
	{ siteId, sinceMs, patientsOnly, patients, clauses = [], base }: ExportScope,
): string {
	if (!isUuid(siteId)) throw new Error('a site id is a UUID');
	if (!isPlainBase(base)) throw new Error('a base URL has a host and a path alone');
	const parameters = new Parameters(siteId);
	const conditions = [whereOf(clauses, 'r', parameters)];
	if (sinceMs !== undefined) conditions.push(`r.last_updated > to_timestamp(${Math.trunc(sinceMs)} / 1000.0)`);
	if (patientsOnly && compartment === 'none') conditions.push('false');
	if (patientsOnly && compartment === 'patient' && patients === undefined) conditions.push('r.patient_id is not null');
	if (patients !== undefined && compartment !== 'none') {
		conditions.push(`r.${compartment === 'self' ? 'id' : 'patient_id'} = any(${parameters.add(patients, 'uuid[]')})`);
	}
	const stored = resourceText(table);
	// Bulk Data Access IG 2.0, Attachments. No JSON text has these quotes within a string.
	const text = hasAttachments
		? `regexp_replace(${stored}, '("url"[ \\t\\r\\n]*:[ \\t\\r\\n]*")Binary/', '\\1${base}/Binary/', 'g')`
		: stored;
	// A study has elements, rendered or stored; other resources may have none.
	const rest =
		renderedFrom !== undefined ? `'},' || right(${text}, -1)` : `case when r.resource = '{}' then '}}' else '},' || right(${text}, -1) end`;
	const copy = `copy (select '{"resourceType":"${resourceType}","id":"' || coalesce(r.given_id, r.id::text)
	|| '","meta":{"versionId":"' || r.version
	|| '","lastUpdated":"' || to_char(r.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"'
	|| coalesce(',"source":' || to_json(r.source)::text, '')
	|| coalesce(',' || left(right(nullif(r.meta, '{}'), -1), -1), '')
	|| ${rest}
	from ${relation(table)} r where ${conditions.join(' and ')}) to stdout with ${csv}`;
	return inlined(parameters.query(copy, false));
}

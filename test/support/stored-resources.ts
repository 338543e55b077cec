import type pg from 'pg';
import { type JsonObject, parseExact } from '#core/json.ts';
import { tableShapes } from '#fhir/resources/index.ts';
import type { ResourceType } from '#record/table-shape.ts';

/** A resource as a test states it. */
export interface GivenResource {
	type: ResourceType;
	id: string;
	/** JSON text without resourceType, id and meta. */
	text: string;
	/** Encounter, Observation: whose it is. */
	patientId?: string;
	version?: number;
	source?: string;
}

export const lastUpdated = '2026-01-02T03:04:05.678Z';

/** Puts resources into a site by plain SQL, search columns by their definitions, identifiers as Patient.identifier has them. */
export async function insertResources(client: pg.ClientBase, siteId: string, given: readonly GivenResource[]): Promise<void> {
	for (const type of Object.keys(tableShapes) as ResourceType[]) {
		const resources = given.filter((resource) => resource.type === type);
		if (resources.length > 0) await insertRows(client, siteId, type, resources);
	}
	const identifiers = given.flatMap(({ type, id, text }) => (type === 'Patient' ? identifierRows(siteId, id, parseExact(text)) : []));
	const columns = ['site_id', 'value', 'system', 'patient_id', 'old', 'rank'];
	await insert(client, 'patient_identifier', columns, identifiers);
}

async function insertRows(client: pg.ClientBase, siteId: string, type: ResourceType, resources: readonly GivenResource[]): Promise<void> {
	const { keptIn, isShared, compartment, links: linked, search, searchValues, statedLinks } = tableShapes[type];
	const links = compartment !== 'patient' ? [] : type === 'Encounter' ? ['patient_id', 'visit_key'] : ['patient_id'];
	// Whose it is may also stand in the resource, and during which visit.
	const visit = linked.some(({ name }) => name === 'encounter_id') ? ['encounter_id'] : [];
	const common = ['site_id', 'id', 'version', 'last_updated', 'source', 'resource'];
	const rows = resources.map(({ id, text, version, source, patientId }) => [
		siteId,
		id,
		version ?? 1,
		lastUpdated,
		source ?? null,
		text,
		...[patientId ?? statedLinks(parseExact(text))['patient_id'] ?? null, id].slice(0, links.length),
		...visit.map((name) => statedLinks(parseExact(text))[name] ?? null),
		...searchValues(parseExact(text)),
	]);
	if (isShared) for (const row of rows) row.push(type);
	const shared = isShared ? ['resource_type'] : [];
	await insert(client, keptIn, [...common, ...links, ...visit, ...search.map(({ name }) => name), ...shared], rows);
}

function identifierRows(siteId: string, id: string, resource: JsonObject): unknown[][] {
	const list = (resource['identifier'] ?? []) as { system?: string; value: string; use?: string }[];
	return list.map(({ system, value, use }, rank) => [siteId, value, system ?? '', id, use === 'old', rank]);
}

async function insert(client: pg.ClientBase, table: string, columns: readonly string[], rows: readonly unknown[][]): Promise<void> {
	const perStatement = 1000;
	for (let start = 0; start < rows.length; start += perStatement) {
		const values: unknown[] = [];
		const tuples = rows.slice(start, start + perStatement).map((row) => `(${row.map((value) => `$${values.push(value)}`).join(',')})`);
		await client.query(`insert into ${table} (${columns.join(', ')}) values ${tuples.join(',')} on conflict do nothing`, values);
	}
}

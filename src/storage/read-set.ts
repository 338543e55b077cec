import type { Row } from '#record/apply/rows.ts';
import { type IdentifierEntry, WorkingSet } from '#record/apply/working-set.ts';
import type { ResourceType } from '#record/table-shape.ts';
import type { Cell, Connection } from './connection.ts';
import { plainArray, textArray } from './statement.ts';
import { findEncounters } from './statements/find-encounters.ts';
import { findObservations } from './statements/find-observations.ts';
import { findPatients, findSurvivors } from './statements/find-patients.ts';

/** What a batch names of one site, and so has to be read before it is applied. */
export interface SiteKeys {
	identifierValues: Set<string>;
	visitKeys: Set<string>;
	orderKeys: Set<string>;
}

export type WorkingSets = Map<string, WorkingSet>;

/**
 * Reads everything that the batch names, one query for each kind, all sent at once. A site that is named by no key gets
 * an empty working set.
 */
export async function readWorkingSets(connection: Connection, keys: ReadonlyMap<string, SiteKeys>): Promise<WorkingSets> {
	const sets: WorkingSets = new Map();
	for (const siteId of keys.keys()) sets.set(siteId, new WorkingSet());
	const setOf = (cells: Cell[]): WorkingSet => {
		const set = sets.get(cells[0] as string);
		if (set === undefined) throw new Error('a row of another site was read');
		return set;
	};
	const identifiers = pairs(keys, (site) => site.identifierValues);
	const visits = pairs(keys, (site) => site.visitKeys);
	const orders = pairs(keys, (site) => site.orderKeys);
	const none: Promise<Cell[][]> = Promise.resolve([]);
	const [patients, encounters, observations] = await Promise.all([
		identifiers ? connection.run(findPatients, identifiers) : none,
		visits ? connection.run(findEncounters, visits) : none,
		orders ? connection.run(findObservations, orders) : none,
	]);
	for (const cells of patients) {
		addPatient(setOf(cells), cells);
		addIdentifier(setOf(cells), cells);
	}
	await addSurvivors(connection, patients, setOf);
	for (const cells of encounters) addEncounter(setOf(cells), cells);
	for (const cells of observations) addObservation(setOf(cells), cells);
	return sets;
}

function pairs(keys: ReadonlyMap<string, SiteKeys>, of: (site: SiteKeys) => ReadonlySet<string>): [string, string] | undefined {
	const siteIds: string[] = [];
	const values: string[] = [];
	for (const [siteId, site] of keys) {
		for (const value of of(site)) {
			siteIds.push(siteId);
			values.push(value);
		}
	}
	return values.length === 0 ? undefined : [plainArray(siteIds), textArray(values)];
}

function storedRow(resourceType: ResourceType, cells: Cell[], links: Row['links']): Row {
	return {
		resourceType,
		id: cells[1] as string,
		version: Number(cells[2]),
		lastUpdated: cells[3] as string,
		source: cells[4] ?? null,
		meta: cells[5] ?? null,
		text: cells[6] as string,
		links,
		supersedes: undefined,
		stored: true,
	};
}

/** Merges are rare: those who replaced a patient are looked up when one was replaced. */
async function addSurvivors(connection: Connection, patients: readonly Cell[][], setOf: (cells: Cell[]) => WorkingSet): Promise<void> {
	const replaced = patients.filter((cells) => cells[7] !== null);
	if (replaced.length === 0) return;
	const keys = [plainArray(replaced.map((cells) => cells[0] as string)), plainArray(replaced.map((cells) => cells[7] as string))];
	for (const cells of await connection.run(findSurvivors, keys)) addPatient(setOf(cells), cells);
}

function addPatient(set: WorkingSet, cells: Cell[]): void {
	set.patients.set(cells[1] as string, storedRow('Patient', cells, { merged_into: cells[7] ?? null }));
}

function addIdentifier(set: WorkingSet, cells: Cell[]): void {
	const entry: IdentifierEntry = {
		system: cells[9] as string,
		patientId: cells[1] as string,
		old: cells[10] === 't',
		rank: Number(cells[11]),
	};
	const value = cells[8] as string;
	set.identifiers.set(value, [...(set.identifiers.get(value) ?? []), entry]);
}

function addEncounter(set: WorkingSet, cells: Cell[]): void {
	const key = cells[8] as string;
	const row = storedRow('Encounter', cells, { patient_id: cells[7] ?? null, visit_key: key });
	set.encounters.set(key, [...(set.encounters.get(key) ?? []), row]);
}

function addObservation(set: WorkingSet, cells: Cell[]): void {
	const orderKey = cells[9] as string;
	const itemKey = cells[10] as string;
	const links = { patient_id: cells[7] ?? null, encounter_id: cells[8] ?? null, order_key: orderKey, item_key: itemKey };
	const items = (set.orders.get(orderKey) as Map<string, Row> | undefined) ?? new Map<string, Row>();
	set.orders.set(orderKey, items.set(itemKey, storedRow('Observation', cells, links)));
}

import type { Row } from '#record/apply/rows.ts';
import { type IdentifierEntry, WorkingSet } from '#record/apply/working-set.ts';
import type { ResourceType, TableShape } from '#record/table-shape.ts';
import type { Cell, StatementRunner } from './connection.ts';
import { type DocumentKeys, DocumentReads } from './read-documents.ts';
import { pairs, readImaging } from './read-imaging.ts';
import { ReportReads } from './read-reports.ts';
import { plainArray, type Statement, textArray } from './statement.ts';
import { findEncounters } from './statements/find-encounters.ts';
import { findObservations } from './statements/find-observations.ts';
import { findPatients, findSurvivors } from './statements/find-patients.ts';
import { findItems, findRows } from './statements/find-rows.ts';
import { findSessions, storedSession } from './statements/find-sessions.ts';

/** What a batch names of one site, and so has to be read before it is applied. */
export interface SiteKeys {
	identifierValues: Set<string>;
	visitKeys: Set<string>;
	orderKeys: Set<string>;
	/** Row ids by type. */
	ids: Map<ResourceType, Set<string>>;
	/** Items of the patients that answer to an identifier value. */
	items: ItemKey[];
	/** SOP Instance UIDs of procedure steps. */
	sessionUids: Set<string>;
	/** SOP Instance UIDs of images, each with the digests that came under it. */
	instances: Map<string, Set<string>>;
	/** Ids of conflicts that a person settles. */
	conflictIds: Set<string>;
	studyUids: Set<string>;
	/** Studies of the images, with their accession number: those that are new may be waited for by reports. */
	arrivingStudies: Map<string, string | undefined>;
	/** Accession numbers of studies that reports name. */
	accessionNumbers: Set<string>;
	/** Orders of reports. */
	reportKeys: Set<string>;
	/** Studies whose patient has to be read, too. */
	reportedStudyUids: Set<string>;
	documents: DocumentKeys[];
}

export interface ItemKey {
	resourceType: ResourceType;
	identifierValue: string;
	item: string;
}

export function noKeys(): SiteKeys {
	return {
		identifierValues: new Set(),
		visitKeys: new Set(),
		orderKeys: new Set(),
		ids: new Map(),
		items: [],
		sessionUids: new Set(),
		instances: new Map(),
		conflictIds: new Set(),
		studyUids: new Set(),
		arrivingStudies: new Map(),
		accessionNumbers: new Set(),
		reportKeys: new Set(),
		reportedStudyUids: new Set(),
		documents: [],
	};
}

export type WorkingSets = Map<string, WorkingSet>;

interface TableReads {
	shape: TableShape;
	rows: Statement;
	items: Statement | undefined;
}

/** Reads what a batch names of its sites. */
export class ReadSet {
	readonly #tables: ReadonlyMap<ResourceType, TableReads>;
	readonly #reports: ReportReads;
	readonly #documents: DocumentReads;

	constructor(shapes: Readonly<Record<ResourceType, TableShape>>) {
		const written = Object.values(shapes).filter(({ isRendered }) => !isRendered);
		const entries = written.map((shape): [ResourceType, TableReads] => {
			const hasItems = shape.resourceType !== 'Observation' && shape.links.some(({ name }) => name === 'item_key');
			return [shape.resourceType, { shape, rows: findRows(shape), items: hasItems ? findItems(shape) : undefined }];
		});
		this.#tables = new Map(entries);
		this.#reports = new ReportReads(shapes.DiagnosticReport, shapes.Patient, rowWithLinks);
		this.#documents = new DocumentReads(shapes.DocumentReference, rowWithLinks);
	}

	/**
	 * Reads everything that the batch names, one query for each kind, all sent at once. A site that is named by no key gets
	 * an empty working set.
	 */
	async read(connection: StatementRunner, keys: ReadonlyMap<string, SiteKeys>): Promise<WorkingSets> {
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
		const [patients, encounters, observations] = await Promise.all([
			identifiers ? connection.run(findPatients, identifiers) : none,
			visits ? connection.run(findEncounters, visits) : none,
			orders ? connection.run(findObservations, orders) : none,
			this.#readRows(connection, keys, setOf),
			readSessions(connection, keys, setOf),
			readImaging(connection, keys, sets, setOf),
			this.#reports.byOrder(connection, keys, sets),
		]);
		for (const cells of patients) {
			addPatient(setOf(cells), cells);
			addIdentifier(setOf(cells), cells);
		}
		await Promise.all([this.#reports.behindStudies(connection, keys, sets), addSurvivors(connection, patients, setOf)]);
		await Promise.all([this.#readItems(connection, keys, sets, setOf), this.#readDocuments(connection, keys, sets, setOf)]);
		for (const cells of encounters) addEncounter(setOf(cells), cells);
		for (const cells of observations) addObservation(setOf(cells), cells);
		return sets;
	}

	async #readRows(connection: StatementRunner, keys: ReadonlyMap<string, SiteKeys>, setOf: SetOf): Promise<void> {
		const types = new Set([...keys.values()].flatMap(({ ids }) => [...ids.keys()]));
		const reads = [...types].map(async (type) => {
			// What is rendered when it is read may be referred to, and is changed by no batch.
			if (!this.#tables.has(type)) return;
			const { shape, rows } = this.#tableOf(type);
			const named = pairs(keys, ({ ids }) => ids.get(type) ?? new Set());
			if (named === undefined) return;
			for (const cells of await connection.run(rows, named)) setOf(cells).addStored(rowWithLinks(shape, cells));
		});
		await Promise.all(reads);
	}

	/** As of items. */
	#readDocuments(connection: StatementRunner, keys: ReadonlyMap<string, SiteKeys>, sets: WorkingSets, setOf: SetOf): Promise<void> {
		return this.#documents.read(connection, keys, sets, async (type, siteIds, ids) => {
			const { shape, rows } = this.#tableOf(type);
			for (const cells of await connection.run(rows, [plainArray(siteIds), plainArray(ids)]))
				setOf(cells).addStored(rowWithLinks(shape, cells));
		});
	}

	/** Which patient an item belongs to is known only when the patients are. */
	async #readItems(connection: StatementRunner, keys: ReadonlyMap<string, SiteKeys>, sets: WorkingSets, setOf: SetOf): Promise<void> {
		const wanted = new Map<ResourceType, { siteIds: string[]; patientIds: string[]; items: string[] }>();
		for (const [siteId, { items }] of keys) {
			const set = sets.get(siteId);
			for (const { resourceType, identifierValue, item } of items) {
				for (const patientId of set?.patientsOf(identifierValue) ?? []) {
					const columns = wanted.get(resourceType) ?? { siteIds: [], patientIds: [], items: [] };
					wanted.set(resourceType, columns);
					columns.siteIds.push(siteId);
					columns.patientIds.push(patientId);
					columns.items.push(item);
				}
			}
		}
		const reads = [...wanted].map(async ([type, { siteIds, patientIds, items }]) => {
			const { shape, items: statement } = this.#tableOf(type);
			if (statement === undefined) throw new Error(`${type} has no items`);
			const rows = await connection.run(statement, [plainArray(siteIds), plainArray(patientIds), textArray(items)]);
			for (const cells of rows) setOf(cells).addStoredItem(rowWithLinks(shape, cells));
		});
		await Promise.all(reads);
	}

	#tableOf(type: ResourceType): TableReads {
		const table = this.#tables.get(type);
		if (table === undefined) throw new Error(`no table is defined for ${type}`);
		return table;
	}
}

type SetOf = (cells: Cell[]) => WorkingSet;

const none: Promise<Cell[][]> = Promise.resolve([]);

async function readSessions(connection: StatementRunner, keys: ReadonlyMap<string, SiteKeys>, setOf: SetOf): Promise<void> {
	const named = pairs(keys, ({ sessionUids }) => sessionUids);
	if (named === undefined) return;
	for (const cells of await connection.run(findSessions, named)) setOf(cells).addStoredSession(storedSession(cells));
}

/** Links and keys follow the columns that every row has. */
const commonColumns = 8;

function storedRow(resourceType: ResourceType, cells: Cell[], links: Row['links']): Row {
	return {
		resourceType,
		id: cells[1] as string,
		givenId: cells[2] ?? null,
		version: Number(cells[3]),
		lastUpdated: cells[4] as string,
		source: cells[5] ?? null,
		meta: cells[6] ?? null,
		text: cells[7] as string,
		links,
		supersedes: undefined,
		stored: true,
	};
}

function rowWithLinks({ resourceType, links }: TableShape, cells: Cell[]): Row {
	const values = Object.fromEntries(links.map(({ name }, index) => [name, cells[commonColumns + index] ?? null]));
	return storedRow(resourceType, cells, values);
}

/** Merges are rare: those who replaced a patient are looked up when one was replaced. */
async function addSurvivors(connection: StatementRunner, patients: readonly Cell[][], setOf: SetOf): Promise<void> {
	const replaced = patients.filter((cells) => cells[8] !== null);
	if (replaced.length === 0) return;
	const keys = [plainArray(replaced.map((cells) => cells[0] as string)), plainArray(replaced.map((cells) => cells[8] as string))];
	for (const cells of await connection.run(findSurvivors, keys)) addPatient(setOf(cells), cells);
}

function addPatient(set: WorkingSet, cells: Cell[]): void {
	set.addStored(storedRow('Patient', cells, { merged_into: cells[8] ?? null }));
}

function addIdentifier(set: WorkingSet, cells: Cell[]): void {
	const entry: IdentifierEntry = {
		system: cells[10] as string,
		patientId: cells[1] as string,
		old: cells[11] === 't',
		rank: Number(cells[12]),
	};
	const value = cells[9] as string;
	set.identifiers.set(value, [...(set.identifiers.get(value) ?? []), entry]);
}

function addEncounter(set: WorkingSet, cells: Cell[]): void {
	const key = cells[9] as string;
	set.addStoredVisit(key, storedRow('Encounter', cells, { patient_id: cells[8] ?? null, visit_key: key }));
}

function addObservation(set: WorkingSet, cells: Cell[]): void {
	const orderKey = cells[10] as string;
	const itemKey = cells[11] as string;
	const links = { patient_id: cells[8] ?? null, encounter_id: cells[9] ?? null, order_key: orderKey, item_key: itemKey };
	set.addStoredObservation(orderKey, itemKey, storedRow('Observation', cells, links));
}

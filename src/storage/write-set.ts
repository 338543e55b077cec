import { fhirIdOf, type Row } from '#record/apply/rows.ts';
import type { Move } from '#record/apply/working-set.ts';
import type { Column, ColumnValue, ResourceType, TableShape } from '#record/table-shape.ts';
import type { StatementRunner } from './connection.ts';
import type { WorkingSets } from './read-set.ts';
import { packTexts, plainArray, type Statement, textArray } from './statement.ts';
import { auditParameters, insertAuditEvents } from './statements/insert-audit-events.ts';
import { insertVersions, keepStoredVersions } from './statements/keep-versions.ts';
import { type MoveStatements, moveDocumentEntries, moveRows } from './statements/move-rows.ts';
import { deleteIdentifiers, insertIdentifiers } from './statements/write-identifiers.ts';
import { insertResources, updateResources } from './statements/write-resources.ts';
import { insertReports, reportParameters, sessionParameters, upsertSessions } from './statements/write-sessions.ts';
import { sendDocuments } from './write-documents.ts';
import { sendImaging } from './write-imaging.ts';

export type TableShapes = Readonly<Record<ResourceType, TableShape>>;

interface SiteRow {
	siteId: string;
	row: Row;
}

interface TableStatements {
	shape: TableShape;
	keep: Statement;
	insert: Statement;
	update: Statement;
}

/** Writes what a batch made of its working sets: one statement for each table that changed. */
export class WriteSet {
	readonly #tables: ReadonlyMap<ResourceType, TableStatements>;
	readonly #moves: Readonly<Record<Move['reason'], readonly MoveStatements[]>>;

	constructor(shapes: TableShapes) {
		const written = Object.values(shapes).filter(({ isRendered }) => !isRendered);
		const entries = written.map((shape): [ResourceType, TableStatements] => [
			shape.resourceType,
			{ shape, keep: keepStoredVersions(shape), insert: insertResources(shape), update: updateResources(shape) },
		]);
		this.#tables = new Map(entries);
		const all = Object.values(shapes);
		this.#moves = { merge: moveRows(all, 'merge'), unlink: moveRows(all, 'unlink') };
	}

	/** Sends all statements at once; resolves when the last is done. */
	async write(connection: StatementRunner, sets: WorkingSets, source: string, lastUpdated: string): Promise<void> {
		const sent: Promise<unknown>[] = [];
		const send = (statement: Statement, values: readonly unknown[]) => sent.push(connection.run(statement, values));
		const changed = changedRows(sets);
		sendIntermediateVersions(send, [...changed.values()].flat());
		for (const [type, rows] of changed) {
			const table = this.#tables.get(type);
			if (table === undefined) throw new Error(`no table is defined for ${type}`);
			sendTable(send, table, rows);
		}
		sendIdentifiers(send, sets);
		sendSessions(send, sets);
		sendImaging(send, sets, lastUpdated);
		sendDocuments(send, sets, lastUpdated);
		sendAudits(send, sets);
		for (const [siteId, set] of sets) for (const move of set.moves) this.#sendMove(send, siteId, move, source, lastUpdated);
		await Promise.all(sent);
	}

	#sendMove(send: Send, siteId: string, move: Move, source: string, lastUpdated: string): void {
		const values = [siteId, move.from.id, move.to.id, lastUpdated, source, fhirIdOf(move.from), fhirIdOf(move.to)];
		for (const { keep, move: moved, parameters } of this.#moves[move.reason]) {
			if (keep) send(keep, values.slice(0, 3));
			send(moved, values.slice(0, parameters));
		}
		send(moveDocumentEntries[move.reason], [siteId, move.from.id, move.to.id]);
	}
}

type Send = (statement: Statement, values: readonly unknown[]) => void;

function changedRows(sets: WorkingSets): Map<ResourceType, SiteRow[]> {
	const changed = new Map<ResourceType, SiteRow[]>();
	for (const [siteId, set] of sets) {
		for (const row of set.changed()) {
			const rows = changed.get(row.resourceType);
			if (rows) rows.push({ siteId, row });
			else changed.set(row.resourceType, [{ siteId, row }]);
		}
	}
	return changed;
}

function sendTable(send: Send, { shape, keep, insert, update }: TableStatements, rows: readonly SiteRow[]): void {
	const known = rows.filter(({ row }) => firstVersion(row).stored);
	const created = known.length === 0 ? rows : rows.filter(({ row }) => !firstVersion(row).stored);
	if (created.length > 0) send(insert, parametersOf(shape, created));
	if (known.length === 0) return;
	send(keep, [plainArray(known.map(({ siteId }) => siteId)), plainArray(known.map(({ row }) => row.id))]);
	send(update, parametersOf(shape, known));
}

function parametersOf(shape: TableShape, rows: readonly SiteRow[]): unknown[] {
	const packed = packTexts(rows.map(({ row }) => withoutNul(row.text)));
	const search = rows.map(({ row }) => shape.searchValues(row.resource ?? JSON.parse(row.text)));
	return [
		plainArray(rows.map(({ siteId }) => siteId)),
		plainArray(rows.map(({ row }) => row.id)),
		plainArray(rows.map(({ row }) => row.version)),
		textArray(rows.map(({ row }) => row.lastUpdated)),
		textArray(rows.map(({ row }) => row.source)),
		textArray(rows.map(({ row }) => row.meta)),
		packed.offsets,
		packed.lengths,
		packed.bytes,
		textArray(rows.map(({ row }) => row.givenId)),
		...shape.links.map((column) =>
			columnArray(
				column,
				rows.map(({ row }) => row.links[column.name] ?? null),
			),
		),
		...shape.search.map((column, index) =>
			columnArray(
				column,
				search.map((values) => values[index] ?? null),
			),
		),
	];
}

/** PostgreSQL takes no NUL, and refuses its escape where it reads the text as JSON: one such row would fail every search that does. */
function withoutNul(text: string): string {
	return text.includes('\\u0000') ? text.replace(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1') : text;
}

function columnArray({ sqlType }: Column, values: readonly ColumnValue[]): string {
	if (sqlType === 'uuid' || sqlType === 'boolean' || sqlType === 'integer')
		return plainArray(values as (string | number | boolean | null)[]);
	return textArray(values.map((value) => (Array.isArray(value) ? textArray(value) : value === null ? null : String(value))));
}

function firstVersion(row: Row): Row {
	let first = row;
	while (first.supersedes) first = first.supersedes;
	return first;
}

function sendIntermediateVersions(send: Send, rows: readonly SiteRow[]): void {
	const versions: SiteRow[] = [];
	for (const { siteId, row } of rows) {
		for (let earlier = row.supersedes; earlier && !earlier.stored; earlier = earlier.supersedes) versions.push({ siteId, row: earlier });
	}
	if (versions.length === 0) return;
	const packed = packTexts(versions.map(({ row }) => withoutNul(row.text)));
	send(insertVersions, [
		plainArray(versions.map(({ siteId }) => siteId)),
		plainArray(versions.map(({ row }) => row.resourceType)),
		plainArray(versions.map(({ row }) => row.id)),
		plainArray(versions.map(({ row }) => row.version)),
		textArray(versions.map(({ row }) => row.lastUpdated)),
		textArray(versions.map(({ row }) => row.source)),
		textArray(versions.map(({ row }) => row.meta)),
		packed.offsets,
		packed.lengths,
		packed.bytes,
		textArray(versions.map(({ row }) => row.givenId)),
	]);
}

function sendIdentifiers(send: Send, sets: WorkingSets): void {
	const lists = [...sets].flatMap(([siteId, set]) => [...set.patientIdentifiers].map(([patientId, list]) => ({ siteId, patientId, list })));
	if (lists.length === 0) return;
	send(deleteIdentifiers, [plainArray(lists.map(({ siteId }) => siteId)), plainArray(lists.map(({ patientId }) => patientId))]);
	const rows = lists.flatMap(({ siteId, patientId, list }) => list.map((identifier) => ({ siteId, patientId, ...identifier })));
	send(insertIdentifiers, [
		plainArray(rows.map((row) => row.siteId)),
		textArray(rows.map((row) => row.value)),
		textArray(rows.map((row) => row.system)),
		plainArray(rows.map((row) => row.patientId)),
		plainArray(rows.map((row) => row.old)),
		plainArray(rows.map((row) => row.rank)),
	]);
}

function sendSessions(send: Send, sets: WorkingSets): void {
	const sessions = [...sets].flatMap(([siteId, set]) => set.changedSessions().map((session) => ({ siteId, session })));
	if (sessions.length === 0) return;
	send(upsertSessions, sessionParameters(sessions));
	send(insertReports, reportParameters([...sets].flatMap(([siteId, set]) => set.reports.map((report) => ({ siteId, report })))));
}

function sendAudits(send: Send, sets: WorkingSets): void {
	const entries = [...sets].flatMap(([siteId, set]) => set.audits.map((entry) => ({ siteId, entry })));
	if (entries.length > 0) send(insertAuditEvents, auditParameters(entries));
}

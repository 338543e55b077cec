import { replacedIn } from '#record/apply/merge.ts';
import { fhirIdOf, isNew, type Row } from '#record/apply/rows.ts';
import type { Move } from '#record/apply/working-set.ts';
import { writtenPatients } from '#record/holdings/written-patients.ts';
import type { Column, ColumnValue, ResourceType, TableShape } from '#record/table-shape.ts';
import type { Reading } from '../reading.ts';
import type { ResourceRows, ResourceTables } from '../resource-rows.ts';
import { type ColumnValues, packTexts, plainArray, type Statement, textArray, textLiteral } from '../statement.ts';
import { insertVersions, keepStoredVersions } from '../statements/keep-versions.ts';
import { type MoveStatements, moveRows } from '../statements/move-rows.ts';
import { insertResources, recordUnder, updateResources } from '../statements/write-resources.ts';
import type { StoredHolding } from '../stored-holding.ts';
import type { Writing } from '../writing.ts';
import { findSurvivors } from './patient-identifiers.ts';

interface SiteRow {
	siteId: string;
	row: Row;
}

interface TableStatements {
	shape: TableShape;
	keep: Statement;
	insert: Statement;
	update: Statement;
	record: Statement;
}

/** Reads rows by their ids, writes them with their earlier versions, and moves them on merges. */
export function storedResources(tables: ResourceTables): StoredHolding {
	const statements = new Map(
		tables.all().map(({ shape }): [ResourceType, TableStatements] => [
			shape.resourceType,
			{
				shape,
				keep: keepStoredVersions(shape),
				insert: insertResources(shape),
				update: updateResources(shape),
				record: recordUnder(shape),
			},
		]),
	);
	const moves: Readonly<Record<Move['reason'], readonly MoveStatements[]>> = {
		merge: moveRows(tables.shapes, 'merge'),
		unlink: moveRows(tables.shapes, 'unlink'),
	};
	const patients = tables.of('Patient');
	const survivors = findSurvivors(patients);
	return {
		async read(reading) {
			// A resource that is rendered when it is read may be referenced, but no batch changes it.
			const named = [...reading.types()].map((type) => ({ type, table: tables.find(type) }));
			await Promise.all(named.map(({ type, table }) => table && reading.addRows(table, reading.ids(type))));
		},
		async readBehind(reading) {
			await Promise.all([readSurvivors(reading, patients, survivors), readReplaced(reading, patients)]);
		},
		write(writing) {
			const changed = changedRows(writing);
			sendIntermediateVersions(writing, [...changed.values()].flat());
			for (const [type, rows] of changed) {
				const table = statements.get(type);
				if (table === undefined) throw new Error(`no table is defined for ${type}`);
				sendTable(writing, table, rows);
			}
			sendRecorded(writing, statements);
		},
		move(writing, siteId, { from, to, reason }) {
			const values = [siteId, from.id, to.id, writing.lastUpdated, writing.source, fhirIdOf(from), fhirIdOf(to)];
			for (const { keep, move, parameters } of moves[reason]) {
				if (keep) writing.send(keep, values.slice(0, 3));
				writing.send(move, values.slice(0, parameters));
			}
		},
	};
}

/** Reads the survivors of the patients that are named by their ids. Merges are rare, so mostly nothing is sent. */
async function readSurvivors(reading: Reading, patients: ResourceRows, survivors: Statement): Promise<void> {
	const replaced: { siteId: string; by: string }[] = [];
	for (const { siteId, row } of reading.rows('Patient')) {
		const by = row.links['merged_into'];
		if (typeof by === 'string') replaced.push({ siteId, by });
	}
	if (replaced.length === 0) return;
	const named = [plainArray(replaced.map(({ siteId }) => siteId)), plainArray(replaced.map(({ by }) => by))];
	for (const cells of await reading.run(survivors, named)) reading.setOf(cells).addStored(patients.rowOf(cells));
}

/** Reads the patients that the written ones say they replace. */
async function readReplaced(reading: Reading, patients: ResourceRows): Promise<void> {
	const replaced: { siteId: string; id: string }[] = [];
	for (const { siteId, set, keys } of reading.naming(writtenPatients)) {
		for (const written of keys) {
			const row = set.row('Patient', written);
			if (row !== undefined) replaced.push(...replacedIn(row).map((id) => ({ siteId, id })));
		}
	}
	if (replaced.length === 0) return;
	await reading.addRows(patients, [plainArray(replaced.map(({ siteId }) => siteId)), plainArray(replaced.map(({ id }) => id))]);
}

function changedRows({ sets }: Writing): Map<ResourceType, SiteRow[]> {
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

function sendTable(writing: Writing, { shape, keep, insert, update }: TableStatements, rows: readonly SiteRow[]): void {
	const created = rows.filter(({ row }) => isNew(row));
	const known = created.length === rows.length ? [] : rows.filter(({ row }) => !isNew(row));
	if (created.length > 0) writing.send(insert, parametersOf(writing, shape, created));
	if (known.length === 0) return;
	writing.send(keep, [plainArray(known.map(({ siteId }) => siteId)), plainArray(known.map(({ row }) => row.id))]);
	writing.send(update, parametersOf(writing, shape, known));
}

function parametersOf(writing: Writing, shape: TableShape, rows: readonly SiteRow[]): unknown[] {
	const packed = packTexts(rows.map(({ row }) => writing.textOf(row)));
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

function columnArray({ sqlType }: Column, values: readonly ColumnValue[]): ColumnValues {
	if (sqlType === 'uuid' || sqlType === 'boolean' || sqlType === 'integer')
		return plainArray(values as (string | number | boolean | null)[]);
	return textArray(values.map((value) => (Array.isArray(value) ? textLiteral(value) : value === null ? null : String(value))));
}

/** Notes the patient under whom a client recorded a resource, where that patient was merged: an unmerge gives the resource back. */
function sendRecorded(writing: Writing, statements: ReadonlyMap<ResourceType, TableStatements>): void {
	for (const [siteId, { recordings }] of writing.sets) {
		for (const { row, patientId } of recordings) {
			const table = statements.get(row.resourceType);
			if (table !== undefined) writing.send(table.record, [siteId, row.id, patientId]);
		}
	}
}

function sendIntermediateVersions(writing: Writing, rows: readonly SiteRow[]): void {
	const versions: SiteRow[] = [];
	for (const { siteId, row } of rows) {
		for (let earlier = row.supersedes; earlier && !earlier.stored; earlier = earlier.supersedes) versions.push({ siteId, row: earlier });
	}
	if (versions.length === 0) return;
	const packed = packTexts(versions.map(({ row }) => writing.textOf(row)));
	writing.send(insertVersions, [
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

import type { Row } from '#record/apply/rows.ts';
import { type Recording, WorkingSet } from '#record/apply/working-set.ts';
import { identityDoubts } from '#record/holdings/identity-doubts.ts';
import { patientIdentifiers } from '#record/holdings/patient-identifiers.ts';
import type { ResourceType } from '#record/table-shape.ts';
import type { BulkConnection } from './bulk-connection.ts';
import type { StatementRunner } from './connection.ts';
import { copyIdentifiers, copyResources } from './copy-rows.ts';
import { claimedParameters, listCopiedIdentifiers } from './holdings/patient-identifiers.ts';
import type { TableShapes } from './resource-rows.ts';
import { plainArray } from './statement.ts';
import { unusablePatients } from './statements/unusable-patients.ts';
import type { WriteSet } from './write-set.ts';

/** Writes a chunk's changes to its site's working set: new resources by COPY, new versions of known ones by statement. */
export async function importRows(
	connection: BulkConnection,
	writeSet: WriteSet,
	shapes: TableShapes,
	siteId: string,
	set: WorkingSet,
	written: { source: string; lastUpdated: string },
): Promise<void> {
	const fresh = new Map<ResourceType, Row[]>();
	const { changed, claimed } = set.of(patientIdentifiers);
	const identifiers = new Map(changed);
	const revised = new WorkingSet();
	for (const row of set.changed()) {
		if (row.supersedes === undefined) {
			const rows = fresh.get(row.resourceType);
			if (rows) rows.push(row);
			else fresh.set(row.resourceType, [row]);
			continue;
		}
		revised.put(row);
		const list = identifiers.get(row.id);
		if (list === undefined || row.resourceType !== 'Patient') continue;
		revised.of(patientIdentifiers).put(row.id, [], list);
		const claim = claimed.get(row.id);
		if (claim !== undefined) revised.of(patientIdentifiers).claim(row.id, claim);
		identifiers.delete(row.id);
	}
	for (const doubt of set.held(identityDoubts)?.recorded.values() ?? []) revised.of(identityDoubts).record(doubt);
	const copied = new WorkingSet();
	for (const recording of set.recordings) (isFresh(recording, fresh) ? copied : revised).record(recording);
	await writeSet.write(connection, new Map([[siteId, revised]]), written.source, written.lastUpdated);
	const copies = [...fresh].map(([type, rows]) => copyResources(shapes[type], siteId, rows));
	if (identifiers.size > 0) copies.push(copyIdentifiers(siteId, identifiers));
	for (const { text, rows } of copies) await connection.copyIn(text, rows);
	const stated = [...identifiers].flatMap(([patientId, list]) => {
		const claim = claimed.get(patientId);
		return claim === undefined ? [] : list.map((identifier) => ({ siteId, patientId, claim, ...identifier }));
	});
	if (stated.length > 0) await connection.run(listCopiedIdentifiers, claimedParameters(stated, written.lastUpdated));
	if (copied.recordings.length > 0) await writeSet.write(connection, new Map([[siteId, copied]]), written.source, written.lastUpdated);
}

function isFresh({ row }: Recording, fresh: ReadonlyMap<ResourceType, readonly Row[]>): boolean {
	return fresh.get(row.resourceType)?.some(({ id }) => id === row.id) ?? false;
}

/** Tells which row ids belong to no patient of the site, and which to one that was merged into another. */
export async function checkPatients(
	connection: StatementRunner,
	siteId: string,
	rowIds: readonly string[],
): Promise<Record<'missing' | 'merged', Set<string>>> {
	const rows = rowIds.length === 0 ? [] : await connection.run(unusablePatients, [siteId, plainArray(rowIds)]);
	const [missing, merged] = [new Set<string>(), new Set<string>()];
	for (const [id, isMerged] of rows) (isMerged === 't' ? merged : missing).add(id as string);
	return { missing, merged };
}

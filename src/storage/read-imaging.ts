import type { WorkingSet } from '#record/apply/working-set.ts';
import type { HeldStudy, InstancePolicy } from '#record/imaging.ts';
import type { Cell, StatementRunner } from './connection.ts';
import type { SiteKeys } from './read-set.ts';
import { plainArray, type Statement, textArray } from './statement.ts';
import {
	findConflicts,
	findInstancePolicies,
	findInstances,
	findKeptObjects,
	findStudies,
	findStudiesByAccession,
} from './statements/find-imaging.ts';

type SetOf = (cells: Cell[]) => WorkingSet;

/** Instances, studies and conflicts that a batch names, all sent at once. */
export async function readImaging(connection: StatementRunner, keys: ReadonlyMap<string, SiteKeys>, setOf: SetOf): Promise<void> {
	const contents = [...keys].flatMap(([siteId, { instances }]) =>
		[...instances].flatMap(([uid, digests]) => [...digests].map((digest) => [siteId, uid, digest])),
	);
	const sites = [...new Set(contents.map(([siteId = '']) => siteId))];
	const uids = pairs(keys, ({ instances }) => instances.keys());
	const studies = pairs(keys, ({ studyUids }) => studyUids);
	const numbers = pairs(keys, ({ accessionNumbers }) => accessionNumbers);
	const conflicts = pairs(keys, ({ conflictIds }) => conflictIds);
	const run = (statement: Statement, named: readonly unknown[] | undefined) => (named ? connection.run(statement, named) : none);
	const [held, kept, series, numbered, settled, policies] = await Promise.all([
		run(findInstances, uids),
		run(findKeptObjects, contents.length === 0 ? undefined : columns(contents)),
		run(findStudies, studies),
		run(findStudiesByAccession, numbers),
		run(findConflicts, conflicts),
		run(findInstancePolicies, sites.length === 0 ? undefined : [plainArray(sites)]),
	]);
	for (const cells of policies) setOf(cells).instancePolicy = cells[1] as InstancePolicy;
	for (const cells of held) addInstance(setOf(cells), cells as string[]);
	for (const cells of kept) setOf(cells).addStoredKept(...(cells.slice(1, 4) as [string, string, string]));
	for (const cells of series) setOf(cells).addStoredSeries(heldStudy(cells), cells[6] ?? null);
	for (const cells of numbered) setOf(cells).addStoredStudy(heldStudy(cells));
	for (const cells of settled) {
		const [, id = '', sopInstanceUid = '', objectKey = ''] = cells as string[];
		setOf(cells).addStoredConflict(id, { sopInstanceUid, objectKey, isSettled: cells[4] !== null });
	}
}

const none: Promise<Cell[][]> = Promise.resolve([]);

function heldStudy(cells: Cell[]): HeldStudy {
	return {
		studyUid: cells[1] as string,
		id: cells[2] as string,
		patientId: cells[3] ?? null,
		accessionNumber: cells[4] ?? null,
		started: cells[5] ?? null,
	};
}

function addInstance(set: WorkingSet, cells: readonly string[]): void {
	const [, uid = '', digest = '', objectKey = '', studyUid = '', bytes, callingAe = '', source = '', storedAt] = cells;
	set.addStoredInstance(uid, { sopInstanceUid: uid, studyUid, digest, bytes: Number(bytes), objectKey, callingAe, source, storedAt });
}

/** Rows of a site id and texts as one array a column. */
function columns(rows: readonly (readonly string[])[]): string[] {
	const width = rows[0]?.length ?? 0;
	return Array.from({ length: width }, (_, column) => textArray(rows.map((row) => row[column] ?? null)));
}

/** The values of a kind of key over all sites, as two arrays; undefined when there are none. */
export function pairs(keys: ReadonlyMap<string, SiteKeys>, of: (site: SiteKeys) => Iterable<string>): [string, string] | undefined {
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

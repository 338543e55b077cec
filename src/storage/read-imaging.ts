import type { WorkingSet } from '#record/apply/working-set.ts';
import type { HeldStudy, InstancePolicy } from '#record/imaging.ts';
import type { Cell, StatementRunner } from './connection.ts';
import type { SiteKeys, WorkingSets } from './read-set.ts';
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
type Keys = ReadonlyMap<string, SiteKeys>;

/** Reads instances, studies and conflicts that a batch names, all sent at once; then, where contents differ, what decides about that. */
export async function readImaging(connection: StatementRunner, keys: Keys, sets: WorkingSets, setOf: SetOf): Promise<void> {
	const uids = pairs(keys, ({ instances }) => instances.keys());
	const studies = pairs(keys, ({ studyUids }) => studyUids);
	const numbers = pairs(keys, ({ accessionNumbers }) => accessionNumbers);
	const conflicts = pairs(keys, ({ conflictIds }) => conflictIds);
	const run = (statement: Statement, named: readonly unknown[] | undefined) => (named ? connection.run(statement, named) : none);
	const [held, series, numbered, settled] = await Promise.all([
		run(findInstances, uids),
		run(findStudies, studies),
		run(findStudiesByAccession, numbers),
		run(findConflicts, conflicts),
	]);
	for (const cells of held) addInstance(setOf(cells), cells as string[]);
	for (const cells of series) setOf(cells).addStoredSeries(heldStudy(cells), cells[7] ?? null);
	for (const cells of numbered) setOf(cells).addStoredStudy(heldStudy(cells));
	for (const cells of settled) {
		const [, id = '', sopInstanceUid = '', objectKey = ''] = cells as string[];
		setOf(cells).addStoredConflict(id, { sopInstanceUid, objectKey, isSettled: cells[4] !== null });
	}
	await readDisputed(connection, keys, sets, setOf);
}

const none: Promise<Cell[][]> = Promise.resolve([]);

function heldStudy(cells: Cell[]): HeldStudy {
	return {
		studyUid: cells[1] as string,
		id: cells[2] as string,
		patientId: cells[3] ?? null,
		accessionNumber: cells[4] ?? null,
		started: cells[5] ?? null,
		instanceCount: Number(cells[6]),
		isStored: true,
	};
}

function addInstance(set: WorkingSet, cells: readonly string[]): void {
	const [, uid = '', digest = '', objectKey = '', studyUid = '', bytes, callingAe = '', source = '', storedAt] = cells;
	set.addStoredInstance(uid, { sopInstanceUid: uid, studyUid, digest, bytes: Number(bytes), objectKey, callingAe, source, storedAt });
}

/** Other content under a known UID is rare, so that what it asks for is not read for every instance. */
async function readDisputed(connection: StatementRunner, keys: Keys, sets: WorkingSets, setOf: SetOf): Promise<void> {
	const contents = [...keys].flatMap(([siteId, site]) =>
		disputed(site, sets.get(siteId)).flatMap(([uid, digests]) => [...digests].map((digest) => ({ siteId, uid, digest }))),
	);
	if (contents.length === 0) return;
	const siteIds = contents.map(({ siteId }) => siteId);
	const named = [plainArray(siteIds), textArray(contents.map(({ uid }) => uid)), textArray(contents.map(({ digest }) => digest))];
	const left = [...keys].flatMap(([siteId, site]) => studiesOfDisputed(site, sets.get(siteId)).map((uid) => ({ siteId, uid })));
	const [kept, policies, studies] = await Promise.all([
		connection.run(findKeptObjects, named),
		connection.run(findInstancePolicies, [plainArray([...new Set(siteIds)])]),
		connection.run(findStudies, [plainArray(left.map(({ siteId }) => siteId)), textArray(left.map(({ uid }) => uid))]),
	]);
	for (const cells of kept) setOf(cells).addStoredKept(...(cells.slice(1, 4) as [string, string, string]));
	for (const cells of policies) setOf(cells).instancePolicy = cells[1] as InstancePolicy;
	for (const cells of studies) setOf(cells).addStoredSeries(heldStudy(cells), cells[7] ?? null);
}

/** SOP Instance UIDs under which other content came, with its digests. */
function disputed({ instances }: SiteKeys, set: WorkingSet | undefined): [uid: string, digests: ReadonlySet<string>][] {
	return [...instances].filter(([uid, digests]) => {
		const held = set?.instance(uid);
		return digests.size > 1 || (held !== undefined && !digests.has(held.digest));
	});
}

/** Where the instances are that other content may replace. */
export function studiesOfDisputed(site: SiteKeys, set: WorkingSet | undefined): string[] {
	const held = disputed(site, set).map(([uid]) => set?.instance(uid)?.studyUid);
	return [...new Set(held.filter((uid) => uid !== undefined))];
}

/** The values of a kind of key over all sites, as two arrays; undefined when there are none. */
export function pairs(keys: Keys, of: (site: SiteKeys) => Iterable<string>): [string, string] | undefined {
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

import type { WorkingSet } from '#record/apply/working-set.ts';
import type { HeldStudy } from '#record/imaging.ts';
import type { Cell, StatementRunner } from './connection.ts';
import type { SiteKeys } from './read-set.ts';
import { plainArray, textArray } from './statement.ts';
import { findInstances, findStudies, findStudiesByAccession } from './statements/find-imaging.ts';

type SetOf = (cells: Cell[]) => WorkingSet;

/** Instances and studies that a batch names. */
export async function readImaging(connection: StatementRunner, keys: ReadonlyMap<string, SiteKeys>, setOf: SetOf): Promise<void> {
	const uids = pairs(keys, ({ instanceUids }) => instanceUids);
	const studies = pairs(keys, ({ studyUids }) => studyUids);
	const numbers = pairs(keys, ({ accessionNumbers }) => accessionNumbers);
	const [instances, series, numbered] = await Promise.all([
		uids ? connection.run(findInstances, uids) : none,
		studies ? connection.run(findStudies, studies) : none,
		numbers ? connection.run(findStudiesByAccession, numbers) : none,
	]);
	for (const cells of instances)
		setOf(cells).addStoredInstance(cells[1] as string, { digest: cells[2] as string, objectKey: cells[3] as string });
	for (const cells of series) setOf(cells).addStoredSeries(heldStudy(cells), cells[6] ?? null);
	for (const cells of numbered) setOf(cells).addStoredStudy(heldStudy(cells));
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

/** The values of a kind of key over all sites, as two arrays; undefined when there are none. */
export function pairs(keys: ReadonlyMap<string, SiteKeys>, of: (site: SiteKeys) => ReadonlySet<string>): [string, string] | undefined {
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

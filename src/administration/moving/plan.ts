import { parseRange, rangesOverlap } from '#core/address.ts';
import { sizeOf } from '#storage/moving/compare.ts';
import { type MovedTable, movedTables, type People } from '#storage/moving/moved-tables.ts';
import { type MllpClientRow, mllpClients, peopleOf, runningWork, schemaDifference, takenThere } from '#storage/moving/refusals.ts';
import type { MovingSite } from '#storage/moving/site-state.ts';
import type { Connections } from './connections.ts';

/** Holds what a move has to know before it begins. */
export interface MovePlan {
	tables: MovedTable[];
	people: People;
	/** One sentence each; the move begins when there is none. */
	refused: string[];
}

/**
 * Reads what moves, and says what is in its way.
 * @param hasStore the object store of the target is named
 */
export async function planOf(
	{ reading, target }: Connections,
	site: MovingSite,
	{ owner, hasStore, peer }: { owner: string | undefined; hasStore: boolean; peer: string },
): Promise<MovePlan> {
	const schema = await schemaDifference(reading, target);
	if (schema !== undefined) return { tables: [], people: new Map(), refused: [schema] };
	const tables = await movedTables(reading);
	const { people, absent, isOwnerKnown } = await peopleOf(reading, target, tables, { siteId: site.id, owner });
	const refused = await takenThere(reading, target, site);
	if (site.state !== undefined && site.peer !== peer)
		refused.push(
			`the site ${site.state === 'left' ? 'was' : 'is being'} moved to ${site.peer}; name that database, or end it there with --abandon`,
		);
	if (!isOwnerKnown) refused.push(`the target has no account '${owner}' (--owner)`);
	if (absent.length > 0)
		refused.push(
			`the target has no account of these owners of API keys or issuers: ${absent.join(', ')}; add them there, or name another owner with --owner`,
		);
	refused.push(...tiesOf(await mllpClients(reading, site.id, 'own'), await mllpClients(target, site.id, 'others')));
	refused.push(...(await runningWork(reading, site.id)));
	const [row] = await reading.cells(
		'select exists (select from imaging_instance i where i.site_id = $1) or exists (select from imaging_conflict c where c.site_id = $1)',
		[site.id],
	);
	if (row?.[0] === 't' && !hasStore)
		refused.push('the site has images: name the object store of the target with --objects-to; a store belongs to one database');
	return { tables, people, refused };
}

/** Messages that clients of two sites match equally well reach neither. */
export function tiesOf(own: readonly MllpClientRow[], others: readonly MllpClientRow[]): string[] {
	const found = new Set<string>();
	for (const one of own) {
		for (const other of others) {
			if (one.application !== other.application || one.facility !== other.facility) continue;
			const alike = one.ranges.find((range) => other.ranges.some((theirs) => areAlike(range, theirs)));
			if (alike !== undefined)
				found.add(
					`the client '${one.name}' has the address ${alike} and the MSH fields of the client '${other.name}' of the target's site '${other.site}'`,
				);
		}
	}
	return [...found];
}

function areAlike(one: string, other: string): boolean {
	const [left, right] = [parseRange(one), parseRange(other)];
	return left !== undefined && right !== undefined && left.prefixBits === right.prefixBits && rangesOverlap(left, right);
}

export interface TableSize {
	table: string;
	rows: number;
	bytes: number;
}

/** Tells how much would be copied. */
export async function sizesOf({ reading }: Connections, site: MovingSite, { tables, people }: MovePlan): Promise<TableSize[]> {
	const sizes: TableSize[] = [];
	for (const table of tables) sizes.push({ table: table.name, ...(await sizeOf({ connection: reading, people }, table, site.id)) });
	return sizes.filter(({ rows }) => rows > 0);
}

/** Tells how many objects rows of the site name, and their bytes. */
export async function objectSizes({ reading }: Connections, site: MovingSite): Promise<{ objects: number; bytes: number }> {
	const [row] = await reading.cells(
		`select count(*), coalesce(sum(k.bytes), 0) from (
			select i.object_key, i.bytes from imaging_instance i where i.site_id = $1
			union select c.object_key, c.bytes from imaging_conflict c where c.site_id = $1) k`,
		[site.id],
	);
	return { objects: Number(row?.[0]), bytes: Number(row?.[1]) };
}

import type { Holding } from '#record/apply/holding.ts';
import type { Row } from '#record/apply/rows.ts';
import type { SiteKeys } from '#record/apply/site-keys.ts';
import { WorkingSet } from '#record/apply/working-set.ts';
import type { ResourceType } from '#record/table-shape.ts';
import type { Cell } from './cell.ts';
import { textAt } from './columns.ts';
import type { StatementRunner } from './connection.ts';
import type { ResourceRows } from './resource-rows.ts';
import { type ColumnValues, plainArray, type Statement, textArray } from './statement.ts';

export type WorkingSets = Map<string, WorkingSet>;

const nothing: Promise<Cell[][]> = Promise.resolve([]);

/** The keys that a site names of a holding. */
export interface Naming<Keys> {
	siteId: string;
	set: WorkingSet;
	keys: Keys;
}

/** A batch while it is read: the keys that it names of its sites, and the resulting working sets. */
export class Reading {
	readonly sets: WorkingSets = new Map();
	readonly #connection: StatementRunner;
	readonly #keys: ReadonlyMap<string, SiteKeys>;

	constructor(connection: StatementRunner, keys: ReadonlyMap<string, SiteKeys>) {
		this.#connection = connection;
		this.#keys = keys;
		for (const siteId of keys.keys()) this.sets.set(siteId, new WorkingSet());
	}

	/** Sends the statement; without values nothing is sent. */
	run(statement: Statement, values: readonly unknown[] | undefined): Promise<Cell[][]> {
		return values === undefined ? nothing : this.#connection.run(statement, values);
	}

	/** Reads rows of a type by their ids into the working sets. */
	async addRows(table: ResourceRows, values: readonly unknown[] | undefined): Promise<void> {
		for (const cells of await this.run(table.byId, values)) this.setOf(cells).addStored(table.rowOf(cells));
	}

	/** Returns the working set of the site to which a row belongs. */
	setOf(cells: readonly Cell[]): WorkingSet {
		return this.#set(siteOf(cells));
	}

	/** The sites that name something of a holding. */
	naming<Keys>(holding: Holding<Keys, unknown>): Naming<Keys>[] {
		const naming: Naming<Keys>[] = [];
		for (const [siteId, site] of this.#keys) {
			const keys = site.named(holding);
			if (keys !== undefined) naming.push({ siteId, set: this.#set(siteId), keys });
		}
		return naming;
	}

	/** Returns the keys of one sort that all sites name of a holding, as two arrays; undefined when there are none. */
	named<Keys>(
		holding: Holding<Keys, unknown>,
		of: (keys: Keys) => Iterable<string>,
	): [siteIds: ColumnValues, keys: ColumnValues] | undefined {
		return paired(this.#keys, (site) => {
			const keys = site.named(holding);
			return keys === undefined ? [] : of(keys);
		});
	}

	/** Types of the rows that are named by their ids. */
	types(): Set<ResourceType> {
		const types = new Set<ResourceType>();
		for (const { ids } of this.#keys.values()) for (const type of ids.keys()) types.add(type);
		return types;
	}

	/** Yields the rows of a type that are named by their ids and were read. */
	*rows(type: ResourceType): Generator<{ siteId: string; row: Row }> {
		for (const [siteId, { ids }] of this.#keys) {
			for (const id of ids.get(type) ?? []) {
				const row = this.#set(siteId).row(type, id);
				if (row !== undefined) yield { siteId, row };
			}
		}
	}

	/** Works like `named`, for the ids of rows of a type. */
	ids(type: ResourceType): [siteIds: ColumnValues, keys: ColumnValues] | undefined {
		return paired(this.#keys, ({ ids }) => ids.get(type) ?? []);
	}

	#set(siteId: string): WorkingSet {
		const set = this.sets.get(siteId);
		if (set === undefined) throw new Error('a row of another site was read');
		return set;
	}
}

/** The site of a row: every statement that reads selects it first. */
export function siteOf(cells: readonly Cell[]): string {
	return textAt(cells, 0);
}

function paired(
	keys: ReadonlyMap<string, SiteKeys>,
	of: (site: SiteKeys) => Iterable<string>,
): [siteIds: ColumnValues, keys: ColumnValues] | undefined {
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

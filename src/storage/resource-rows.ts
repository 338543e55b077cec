import type { Row } from '#record/apply/rows.ts';
import type { ResourceType, TableShape } from '#record/table-shape.ts';
import type { Cell } from './cell.ts';
import { cellAt, columnsOf, textAt } from './columns.ts';
import type { Statement } from './statement.ts';
import { keyed, nameOf } from './statements/relation.ts';
import { resourceText } from './statements/row-columns.ts';
import { wholeText } from './statements/stored-text.ts';

export type TableShapes = Readonly<Record<ResourceType, TableShape>>;

const common = ['site_id', 'id', 'given_id', 'version', 'last_updated', 'source', 'meta', 'resource'] as const;
const { at } = columnsOf({ r: common });

/** The rows of one resource type: their columns, and what is made of them. */
export class ResourceRows {
	readonly shape: TableShape;
	/** The number of columns that `columns` lists. */
	readonly width: number;
	/** Finds rows of sites by their ids. */
	readonly byId: Statement;
	readonly #links: readonly string[];

	constructor(shape: TableShape) {
		this.shape = shape;
		this.#links = shape.links.map(({ name }) => name);
		this.width = common.length + this.#links.length;
		const { from, where } = keyed(shape, 'unnest($1::uuid[], $2::uuid[])', 'site_id, id');
		this.byId = {
			name: `find_${nameOf(shape.table)}_rows`,
			text: `
select ${this.columns('r')}
from ${from}
join ${shape.renderedFrom === undefined ? shape.keptIn : shape.table} r on r.site_id = k.site_id and r.id = k.id${where}`,
		};
	}

	/** The select list of the table under an alias. The site comes first. */
	columns(alias: string): string {
		const column = (name: string) =>
			name === 'resource' ? (alias === 'r' ? resourceText(this.shape.table) : wholeText(`${alias}.resource`)) : `${alias}.${name}`;
		return [...common, ...this.#links].map(column).join(', ');
	}

	rowOf(cells: readonly Cell[]): Row {
		const links: Record<string, string | null> = {};
		let index: number = common.length;
		for (const link of this.#links) links[link] = cellAt(cells, index++);
		return {
			resourceType: this.shape.resourceType,
			id: textAt(cells, at.id),
			givenId: cellAt(cells, at.given_id),
			version: Number(cells[at.version]),
			lastUpdated: textAt(cells, at.last_updated),
			source: cellAt(cells, at.source),
			meta: cellAt(cells, at.meta),
			text: textAt(cells, at.resource),
			links,
			supersedes: undefined,
			stored: true,
		};
	}
}

/** The tables of all resource types. */
export class ResourceTables {
	readonly shapes: readonly TableShape[];
	readonly #tables: ReadonlyMap<ResourceType, ResourceRows>;

	constructor(shapes: TableShapes) {
		this.shapes = Object.values(shapes);
		this.#tables = new Map(this.shapes.map((shape) => [shape.resourceType, new ResourceRows(shape)]));
	}

	all(): ResourceRows[] {
		return [...this.#tables.values()];
	}

	find(type: ResourceType): ResourceRows | undefined {
		return this.#tables.get(type);
	}

	of(type: ResourceType): ResourceRows {
		const table = this.#tables.get(type);
		if (table === undefined) throw new Error(`no table is defined for ${type}`);
		return table;
	}
}

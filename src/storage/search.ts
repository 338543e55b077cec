import { createHash } from 'node:crypto';
import { isUuid, nilId } from '#core/id.ts';
import type { Condition, SearchPlan } from '#record/search-plan.ts';
import type { Cell } from './connection.ts';
import type { Reader } from './reader.ts';
import type { Statement } from './statement.ts';

/** A resource row as it was read: what `fhir/stored.ts` puts together. */
export interface ReadRow {
	id: string;
	version: string;
	lastUpdated: string;
	source: string | null;
	meta: string | null;
	text: string;
}

const columns = `r.id, r.version, to_char(r.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), r.source, r.meta, r.resource`;

/** Reads one resource of the site; undefined when the site has none of this id. */
export async function readResource(reader: Reader, siteId: string, table: string, id: string): Promise<ReadRow | undefined> {
	if (!isUuid(id)) return undefined;
	const statement = { name: `read_${table}`, text: `select ${columns} from ${table} r where r.site_id = $1 and r.id = $2` };
	const [row] = await reader.run(statement, [siteId, id]);
	return row && readRow(row);
}

function readRow(cells: Cell[]): ReadRow {
	return {
		id: cells[0] as string,
		version: cells[1] as string,
		lastUpdated: cells[2] as string,
		source: cells[3] ?? null,
		meta: cells[4] ?? null,
		text: cells[5] as string,
	};
}

export interface FoundPage {
	rows: ReadRow[];
	/** Whether more rows follow. */
	more: boolean;
}

/** One page of a search within the site, in the order of the ids: that of creation. */
export async function searchResources(reader: Reader, siteId: string, plan: SearchPlan): Promise<FoundPage> {
	const query = new Query(siteId);
	const where = query.where(plan);
	const text = `select ${columns} from ${plan.table} r where ${where} and r.id > ${query.parameter(plan.after ?? nilId, 'uuid')} order by r.id limit ${query.parameter(plan.count + 1, 'integer')}`;
	const rows = await reader.run(query.statement(text), query.values);
	return { rows: rows.slice(0, plan.count).map(readRow), more: rows.length > plan.count };
}

export async function countResources(reader: Reader, siteId: string, plan: SearchPlan): Promise<number> {
	const query = new Query(siteId);
	const text = `select count(*) from ${plan.table} r where ${query.where(plan)}`;
	const rows = await reader.run(query.statement(text), query.values);
	return Number(rows[0]?.[0]);
}

/** Builds a statement; the site is always the first parameter. */
class Query {
	readonly values: unknown[];

	constructor(siteId: string) {
		this.values = [siteId];
	}

	parameter(value: unknown, type: string): string {
		this.values.push(value);
		return `$${this.values.length}::${type}`;
	}

	/** Searches of one shape share a prepared statement. */
	statement(text: string): Statement {
		return { name: `search_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`, text };
	}

	where({ clauses }: SearchPlan): string {
		const all = clauses.map((conditions) => `(${conditions.map((condition) => this.#condition(condition)).join(' or ')})`);
		return ['r.site_id = $1', ...all].join(' and ');
	}

	#condition(condition: Condition): string {
		switch (condition.kind) {
			case 'never':
				return 'false';
			case 'id':
				return isUuid(condition.value) ? `r.${condition.column} = ${this.parameter(condition.value, 'uuid')}` : 'false';
			case 'equals':
				return `r.${condition.column} = ${this.parameter(condition.value, 'text')}`;
			case 'substring':
				return `r.${condition.column} like ${this.parameter(`%${condition.value.replace(/[\\%_]/g, '\\$&')}%`, 'text')}`;
			case 'identifier':
				return this.#identifier(condition);
			case 'coding':
				return this.#coding(condition);
			case 'date':
				return this.#date(condition);
		}
	}

	#identifier({ system, value }: Condition & { kind: 'identifier' }): string {
		const parts = ['i.site_id = $1'];
		if (value !== undefined) parts.push(`i.value = ${this.parameter(value, 'text')}`);
		if (system !== undefined) parts.push(`i.system = ${this.parameter(system, 'text')}`);
		return `r.id in (select i.patient_id from patient_identifier i where ${parts.join(' and ')})`;
	}

	#coding({ systemColumn, valueColumn, furtherColumn, system, value }: Condition & { kind: 'coding' }): string {
		const code = this.parameter(value, 'text');
		const further = this.parameter(system === undefined ? value : `${system}|${value}`, 'text');
		const first = system === undefined ? '' : ` and coalesce(r.${systemColumn}, '') = ${this.parameter(system, 'text')}`;
		return `(r.${valueColumn} = ${code}${first} or r.${furtherColumn} @> array[${further}])`;
	}

	/** FHIR R4 §3.1.1.4.5 over half-open ranges; a row without a start never matches, one without an end lasts. */
	#date({ columnType, startColumn, endColumn, prefix, low, high }: Condition & { kind: 'date' }): string {
		const start = `r.${startColumn}`;
		const end = endColumn === undefined ? start : `coalesce(r.${endColumn}, 'infinity')`;
		const from = () => this.parameter(low, columnType);
		const to = () => this.parameter(high, columnType);
		const within = endColumn === undefined ? () => `${start} < ${to()}` : () => `${start} < ${to()} and ${end} <= ${to()}`;
		const after = endColumn === undefined ? () => `${start} >= ${to()}` : () => `${end} > ${to()}`;
		switch (prefix) {
			case 'eq':
				return `(${start} >= ${from()} and ${within()})`;
			case 'ne':
				return `not coalesce(${start} >= ${from()} and ${within()}, false)`;
			case 'lt':
				return `${start} < ${from()}`;
			case 'gt':
				return `(${start} is not null and ${after()})`;
			case 'ge':
				return `(${start} is not null and (${after()} or ${start} >= ${from()}))`;
			case 'le':
				return `(${start} < ${from()} or ${start} >= ${from()} and ${within()})`;
			case 'sa':
				return `${start} >= ${to()}`;
			case 'eb':
				return endColumn === undefined ? `${start} < ${from()}` : `(${start} is not null and ${end} <= ${from()})`;
		}
	}
}

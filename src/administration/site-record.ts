import { type JsonObject, parseExact } from '#core/json.ts';
import type { FhirLimits } from '#fhir/limits.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import { renderStored } from '#fhir/stored.ts';
import { isFhirId, rowIdOf } from '#record/row-id.ts';
import type { Clause, PagePosition } from '#record/search-plan.ts';
import { isDeletion, type StoredResource } from '#record/stored-resource.ts';
import type { ResourceType } from '#record/table-shape.ts';
import type { Reader } from '#storage/reader.ts';
import { readHistory, readVersion, rowOf, searchResources } from '#storage/search.ts';
import { plainArray, textArray } from '#storage/statement.ts';
import { findSources } from '#storage/statements/administrative/find-sources.ts';
import { readRowsStatement } from '#storage/statements/read-rows.ts';

/** A resource in FHIR's form. Decimals keep their digits. */
export interface RecordedResource {
	type: ResourceType;
	id: string;
	rowId: string;
	version: number;
	lastUpdated: string;
	/** `meta.source` */
	source: string | null;
	resource: JsonObject;
}

/** A version of a resource. A deletion has no resource. */
export type RecordedVersion = Omit<RecordedResource, 'resource'> & { resource: JsonObject | undefined };

export interface RecordPage {
	found: RecordedResource[];
	next: PagePosition | undefined;
}

/** FHIR R4 §3.1.1.4.0: a backslash escapes the characters that separate values. */
export function escaped(text: string): string {
	return text.replaceAll(/[\\,$|]/g, '\\$&');
}

/** Reads the resources of one site with the searches of its FHIR surface. */
export class SiteRecord {
	readonly #reader: Reader;
	readonly #siteId: string;
	readonly #limits: FhirLimits;

	constructor({ reader, limits }: { reader: Reader; limits: FhirLimits }, siteId: string) {
		this.#reader = reader;
		this.#siteId = siteId;
		this.#limits = limits;
	}

	/** @throws Failure `invalid` for a value that the search does not accept */
	async search(
		type: ResourceType,
		parameters: readonly (readonly [string, string])[],
		page: { count: number; after?: PagePosition | undefined; further?: readonly Clause[] },
	): Promise<RecordPage> {
		const definition = definitionOf(type);
		if (definition === undefined) throw new Error(`${type} is not defined`);
		const limits = { ...this.#limits, searchCountMax: Math.max(this.#limits.searchCountMax, page.count) };
		const query = new URLSearchParams(
			[...parameters, ['_count', String(page.count)] as const].map(([name, value]): [string, string] => [name, value]),
		);
		const { plan } = parseSearch(definition, query.toString(), { limits, lenient: false, base: '', scopes: undefined });
		const { rows, rowIds, next } = await searchResources(
			this.#reader,
			this.#siteId,
			{ ...plan, clauses: [...plan.clauses, ...(page.further ?? [])], after: page.after },
			this.#limits.searchBytesMax,
		);
		return { found: rows.map((row, index) => recorded(type, row, rowIds[index])), next };
	}

	async one(type: ResourceType, id: string): Promise<RecordedResource | undefined> {
		if (!isFhirId(id)) return undefined;
		const { found } = await this.search(type, [['_id', id]], { count: 1 });
		return found[0];
	}

	async byRowId(type: ResourceType, rowIds: readonly string[]): Promise<RecordedResource[]> {
		const table = definitionOf(type)?.table.table;
		if (table === undefined || rowIds.length === 0) return [];
		const values = [plainArray(rowIds.map(() => this.#siteId)), plainArray(rowIds)];
		const rows = await this.#reader.run(readRowsStatement(table), values);
		return rows
			.map(([place, ...cells]) => ({ stored: rowOf(cells), rowId: rowIds[Number(place) - 1] }))
			.filter(({ stored }) => !isDeletion(stored))
			.map(({ stored, rowId }) => recorded(type, stored, rowId));
	}

	async version(type: ResourceType, id: string, version: number): Promise<RecordedResource | undefined> {
		const table = definitionOf(type)?.table.table;
		const row = table && (await readVersion(this.#reader, this.#siteId, { table, type, id, version: String(version) }));
		return row ? recorded(type, row, rowIdOf(id)) : undefined;
	}

	/** Returns versions, newest first, without deletions. */
	async versions(type: ResourceType, id: string, count: number): Promise<RecordedResource[]> {
		const { versions } = await this.history(type, id, count);
		return versions.flatMap(({ resource, ...version }) => (resource === undefined ? [] : { ...version, resource }));
	}

	/** Returns versions and deletions, newest first; `more` is true if there are older ones. */
	async history(type: ResourceType, id: string, count: number): Promise<{ versions: RecordedVersion[]; more: boolean }> {
		const table = definitionOf(type)?.table.table;
		if (table === undefined) throw new Error(`${type} is not defined`);
		if (!isFhirId(id)) return { versions: [], more: false };
		const page = { rowId: rowIdOf(id), since: undefined, after: undefined, count, bytesMax: this.#limits.searchBytesMax };
		const { rows, next } = await readHistory(this.#reader, this.#siteId, { table, type }, page);
		const versions = rows.map((row) => {
			const { id: of, version, lastUpdated, source } = row;
			if (!isDeletion(row)) return recorded(type, row, rowIdOf(of));
			return { type, id: of, rowId: rowIdOf(of), version: Number(version), lastUpdated, source, resource: undefined };
		});
		return { versions, more: next !== undefined };
	}

	/** Maps `Type/id/_history/version` to the id of the logged message that wrote it. Versions without one are absent. */
	async sources(versions: readonly RecordedVersion[]): Promise<Map<string, string>> {
		const named = versions.flatMap((version) => {
			const controlId = controlIdOf(version.source);
			return controlId === '' ? [] : [{ controlId, version: versionOf(version) }];
		});
		if (named.length === 0) return new Map();
		const values = [this.#siteId, textArray(named.map(({ controlId }) => controlId)), textArray(named.map(({ version }) => version))];
		const rows = await this.#reader.run(findSources, values);
		return new Map(rows.flatMap(([version, id]) => (version && id ? [[version, id] as const] : [])));
	}
}

export function versionOf({ type, id, version }: Pick<RecordedResource, 'type' | 'id' | 'version'>): string {
	return `${type}/${id}/_history/${version}`;
}

function recorded(type: ResourceType, row: StoredResource, rowId: string | undefined): RecordedResource {
	const { id, version, lastUpdated, source } = row;
	return {
		...{ type, id, rowId: rowId ?? rowIdOf(id), version: Number(version), lastUpdated, source },
		resource: parseExact(renderStored(type, row)),
	};
}

/** Reads `urn:tributary:<surface>:<control id>` (ingest/settlement). For FHIR writes it is the key's id, which no logged message has. */
function controlIdOf(source: string | null): string {
	const [, surface, name = ''] = /^urn:tributary:([^:]+):(.*)$/s.exec(source ?? '') ?? [];
	if (surface === undefined || surface === 'fhir') return '';
	try {
		return decodeURIComponent(name);
	} catch (error) {
		if (error instanceof URIError) return '';
		throw error;
	}
}

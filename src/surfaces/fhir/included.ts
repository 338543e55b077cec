import type { SearchEntry } from '#fhir/bundle.ts';
import { namedRows } from '#fhir/named-rows.ts';
import { warning } from '#fhir/operation-outcome.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import type { Iteration, ParsedSearch } from '#fhir/search/parsed-search.ts';
import { referringPlan } from '#fhir/search/result.ts';
import { shaped } from '#fhir/shape.ts';
import { rowIdOf } from '#record/row-id.ts';
import type { ReferringInclusion, SearchPlan } from '#record/search-plan.ts';
import type { StoredResource } from '#record/stored-resource.ts';
import { type FoundPage, type Included, includedResources, namedResources, searchResources } from '#storage/search.ts';
import type { Interacting } from './context.ts';

/** The largest number of steps from a match that `:iterate` follows. References may lead round in a circle, or through a whole chart. */
export const roundsMax = 8;

export interface Paging {
	context: Interacting['context'];
	siteId: string;
	parsed: ParsedSearch;
	page: FoundPage;
}

export interface PageEntries {
	entries: SearchEntry[];
	/** True when there is more than the limit of inclusions allows. */
	cut: boolean;
	/** True when `:iterate` ended at the limit of its steps. */
	isDeep: boolean;
}

/** Returns the matches and the resources that they include. A resource occurs once in a page. */
export async function entriesOf(paging: Paging): Promise<PageEntries> {
	const { parsed, page } = paging;
	const of = parsed.plan.resourceType;
	const collected = new Collected(
		page.rows.map((stored) => ({ type: of, stored, mode: 'match' })),
		paging.context.limits,
	);
	let steps: readonly Iteration[] = [...parsed.inclusions.map((inclusion) => ({ of, inclusion })), ...parsed.iterations];
	let isDeep = false;
	for (let round = 0, from = collected.entries; from.length > 0; round++) {
		const next = stepsFrom(steps, from);
		if (next.length === 0) break;
		isDeep = round === roundsMax;
		collected.cut ||= collected.isHeavy;
		if (isDeep || collected.isHeavy) break;
		from = collected.add(await Promise.all(next.map(({ step, rows }) => follow(paging, step, rows))));
		steps = parsed.iterations;
	}
	const { entries, cut } = collected;
	const { shape } = parsed;
	if (shape === undefined) return { entries, cut, isDeep };
	return { entries: entries.map((entry) => ({ ...entry, stored: shapedEntry(entry, shape) })), cut, isDeep };
}

/** Returns an OperationOutcome that says what the page does not include although it should; undefined if there is nothing. */
export function noticeOf(left: { includesMax: number | undefined; isDeep: boolean; withheld: readonly string[] }): string | undefined {
	const { includesMax, isDeep, withheld } = left;
	const texts = [
		...(includesMax === undefined ? [] : [`the page is limited to ${includesMax} included resources; there are more`]),
		...(isDeep ? [`:iterate follows ${roundsMax} steps at most; there may be more`] : []),
		...withheldTexts(withheld),
	];
	return texts.length === 0 ? undefined : warning(texts.join('; '));
}

export function withheldTexts(withheld: readonly string[]): string[] {
	return withheld.length === 0 ? [] : [`resources are not included, because the access token does not have ${withheld.join(', ')}`];
}

/** The entries of a page while it grows. */
export class Collected {
	readonly entries: SearchEntry[];
	cut = false;
	readonly #limits: Interacting['context']['limits'];
	readonly #seen: Set<string>;
	readonly #matches: number;
	#bytes = 0;

	constructor(matches: SearchEntry[], limits: Interacting['context']['limits']) {
		this.entries = matches;
		this.#limits = limits;
		this.#matches = matches.length;
		this.#seen = new Set(matches.map(({ type, stored }) => `${type}/${stored.id}`));
	}

	/** True when the included resources are as large as a page may be. */
	get isHeavy(): boolean {
		return this.#bytes >= this.#limits.searchBytesMax;
	}

	/** Returns those that the page did not have yet. */
	add(included: readonly Included[]): SearchEntry[] {
		const added: SearchEntry[] = [];
		for (const { type, rows, cut } of included) {
			this.cut ||= cut;
			for (const stored of rows) {
				const name = `${type}/${stored.id}`;
				if (this.#seen.has(name)) continue;
				if (this.entries.length - this.#matches >= this.#limits.searchIncludesMax) {
					this.cut = true;
					break;
				}
				this.#seen.add(name);
				this.#bytes += stored.text.length;
				const entry: SearchEntry = { type, stored, mode: 'include' };
				this.entries.push(entry);
				added.push(entry);
			}
		}
		return added;
	}
}

/** Returns the inclusions that apply to the entries, each with the resources of its type. */
function stepsFrom(steps: readonly Iteration[], entries: readonly SearchEntry[]): { step: Iteration; rows: StoredResource[] }[] {
	if (steps.length === 0) return [];
	const byType = new Map<string, StoredResource[]>();
	for (const { type, stored } of entries) {
		const rows = byType.get(type);
		if (rows === undefined) byType.set(type, [stored]);
		else rows.push(stored);
	}
	return steps.flatMap((step) => {
		const rows = byType.get(step.of);
		return rows === undefined ? [] : [{ step, rows }];
	});
}

function follow({ context, siteId, parsed }: Paging, { inclusion }: Iteration, rows: readonly StoredResource[]): Promise<Included> {
	const { reader, limits } = context;
	const bounds = { rowsMax: limits.searchIncludesMax, bytesMax: limits.searchBytesMax, extent: parsed.plan.extent };
	if (inclusion.direction === 'element') return namedResources(reader, siteId, inclusion, namedRows(rows, inclusion), bounds);
	if (inclusion.direction === 'referring') return referring(reader, siteId, inclusion, rows, bounds);
	return includedResources(
		reader,
		siteId,
		inclusion,
		rows.map(({ id }) => rowIdOf(id)),
		bounds,
	);
}

async function referring(
	reader: Interacting['context']['reader'],
	siteId: string,
	inclusion: ReferringInclusion,
	rows: readonly StoredResource[],
	bounds: { rowsMax: number; bytesMax: number; extent: SearchPlan['extent'] },
): Promise<Included> {
	const ids = rows.map(({ id }) => id);
	const page = await searchResources(reader, siteId, referringPlan(inclusion, ids, bounds), bounds.bytesMax);
	return { type: inclusion.includedType, rows: page.rows, cut: page.next !== undefined };
}

function shapedEntry({ type, stored }: SearchEntry, shape: NonNullable<ParsedSearch['shape']>): SearchEntry['stored'] {
	const definition = definitionOf(type);
	return definition === undefined ? stored : shaped(definition, stored, shape);
}

import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import { asObject, asObjects, asText, asTexts } from '../elements.ts';
import type { CodeSystem, Concept, Filter, Include, ValueSet } from './terms.ts';

/** The largest number of concepts of one definition. What is larger belongs to a terminology server. */
const conceptsMax = 50_000;
/** The depth of a hierarchy of concepts; real ones have some ten levels. */
const depthMax = 60;

/** @throws Failure `business-rule` for a CodeSystem without url, or with too many concepts */
export function readCodeSystem(definition: JsonObject): CodeSystem {
	const counted = { count: 0 };
	return {
		kind: 'CodeSystem',
		...headOf(definition),
		whole: definition['content'] === 'complete',
		exact: definition['caseSensitive'] !== false,
		concepts: asObjects(definition['concept']).map((concept) => conceptOf(concept, counted, 0)),
	};
}

/** @throws Failure `business-rule` for a ValueSet without url, or with too many concepts */
export function readValueSet(definition: JsonObject): ValueSet {
	const compose = asObject(definition['compose']);
	const counted = { count: 0 };
	const include = asObjects(compose?.['include']).map((part) => includeOf(part, counted));
	const exclude = asObjects(compose?.['exclude']).map((part) => includeOf(part, counted));
	const expansion = expansionOf(asObject(definition['expansion']), counted);
	return {
		kind: 'ValueSet',
		...headOf(definition),
		...(include.length === 0 ? {} : { include }),
		...(exclude.length === 0 ? {} : { exclude }),
		...(expansion.length === 0 || include.every(({ filters, valueSets, concepts }) => concepts && !filters && !valueSets)
			? {}
			: { expansion }),
	};
}

function headOf(definition: JsonObject): { url: string; version?: string; name: string } {
	const [url, version, name] = ['url', 'version', 'name'].map((member) => asText(definition[member]));
	if (url === undefined) throw new Failure('business-rule', 'a definition has a url');
	return { url, ...(version === undefined ? {} : { version }), name: name ?? asText(definition['id']) ?? url };
}

interface Counted {
	count: number;
}

function conceptOf(given: JsonObject, counted: Counted, depth: number): Concept {
	counted.count++;
	if (counted.count > conceptsMax) throw new Failure('business-rule', `a definition has at most ${conceptsMax} concepts`);
	if (depth > depthMax) throw new Failure('business-rule', `concepts are nested at most ${depthMax} deep`);
	const code = asText(given['code']) ?? '';
	const display = asText(given['display']);
	const below = asObjects(given['concept']).map((inner) => conceptOf(inner, counted, depth + 1));
	if (below.length > 0) return [code, display ?? '', below];
	return display === undefined || display === code ? [code] : [code, display];
}

function includeOf(part: JsonObject, counted: Counted): Include {
	const system = asText(part['system']);
	const concepts = asObjects(part['concept']).map((concept) => conceptOf(concept, counted, 0));
	const filters = asObjects(part['filter']).map(
		(filter): Filter => ({
			property: asText(filter['property']) ?? '',
			op: asText(filter['op']) ?? '',
			value: asText(filter['value']) ?? '',
		}),
	);
	const valueSets = asTexts(part['valueSet']);
	return {
		...(system === undefined ? {} : { system }),
		...(concepts.length === 0 ? {} : { concepts }),
		...(filters.length === 0 ? {} : { filters }),
		...(valueSets.length === 0 ? {} : { valueSets }),
	};
}

/** An expansion that says that it is only a part of the value set is not used. */
function expansionOf(expansion: JsonObject | undefined, counted: Counted): NonNullable<ValueSet['expansion']>[number][] {
	const bySystem = new Map<string, Concept[]>();
	const total = expansion?.['total'];
	const add = (entries: readonly JsonObject[], depth: number): number => {
		let added = 0;
		for (const entry of entries) {
			const [system, code] = [asText(entry['system']), asText(entry['code'])];
			if (system !== undefined && code !== undefined && entry['abstract'] !== true) {
				const display = asText(entry['display']);
				const concept = conceptOf({ code, ...(display === undefined ? {} : { display }) }, counted, 0);
				const concepts = bySystem.get(system);
				if (concepts === undefined) bySystem.set(system, [concept]);
				else concepts.push(concept);
				added++;
			}
			if (depth < depthMax) added += add(asObjects(entry['contains']), depth + 1);
		}
		return added;
	};
	const added = add(asObjects(expansion?.['contains']), 0);
	if (typeof total === 'number' && total > added) return [];
	return [...bySystem].map(([system, concepts]) => ({ system, concepts }));
}

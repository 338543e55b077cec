import { Failure } from '#core/failure.ts';
import type { Json, JsonObject } from '#core/json.ts';
import { asObject, asObjects, asText, asTexts } from '../elements.ts';
import {
	type Discriminator,
	type ElementType,
	type Invariant,
	isCore,
	type Profile,
	type ProfileElement,
	type Slicing,
} from './profile.ts';

/** The largest number of elements of one definition; the largest profiles of HL7 have some hundred. */
const elementsMax = 5_000;

/**
 * Reads a StructureDefinition that constrains a type.
 * @throws Failure `business-rule` for one that is no profile of R4, or is incomplete
 */
export function readProfile(definition: JsonObject): Profile {
	const [url, name, type] = [asText(definition['url']), asText(definition['name']), asText(definition['type'])];
	if (url === undefined || name === undefined || type === undefined) throw unreadable('a StructureDefinition has url, name and type');
	if (definition['derivation'] !== 'constraint') throw unreadable('a profile is a StructureDefinition whose derivation is constraint');
	const release = asText(definition['fhirVersion']);
	if (release !== undefined && !release.startsWith('4.0'))
		throw unreadable('the StructureDefinition is of another version of FHIR than R4');
	const snapshot = asObjects(asObject(definition['snapshot'])?.['element']);
	const given = snapshot.length > 0 ? snapshot : asObjects(asObject(definition['differential'])?.['element']);
	if (given.length === 0) throw unreadable('a StructureDefinition has a snapshot or a differential');
	if (given.length > elementsMax) throw unreadable(`a StructureDefinition has at most ${elementsMax} elements`);
	const whole = snapshot.length > 0;
	const [version, base] = [asText(definition['version']), asText(definition['baseDefinition'])];
	return {
		kind: 'StructureDefinition',
		url,
		...(version === undefined ? {} : { version }),
		name,
		type,
		...(base === undefined ? {} : { base }),
		whole,
		elements: withoutEmpty(given.map((element) => elementOf(element, whole))),
	};
}

function unreadable(words: string): Failure {
	return new Failure('business-rule', words);
}

function elementOf(element: JsonObject, whole: boolean): ProfileElement {
	const path = asText(element['path']) ?? '';
	// A definition without ids names its slices by sliceName only, at the end of the path.
	const slice = asText(element['sliceName']);
	const id = asText(element['id']) ?? (slice === undefined ? path : `${path}:${slice}`);
	const isRoot = !id.includes('.');
	const types = typesOf(element);
	const slicing = slicingOf(asObject(element['slicing']));
	const binding = asObject(element['binding']);
	const valueSet = binding?.['strength'] === 'required' ? asText(binding['valueSet']) : undefined;
	const invariants = invariantsOf(element);
	return {
		id,
		...(isRoot ? {} : cardinalityOf(element, whole && !isSlice(id))),
		...demandOf(element, 'fixed'),
		...demandOf(element, 'pattern'),
		...(isRoot || types.length === 0 ? {} : { types }),
		...(slicing === undefined ? {} : { slicing }),
		...(valueSet === undefined ? {} : { binding: valueSet }),
		...(invariants.length === 0 ? {} : { invariants }),
	};
}

export function isSlice(id: string): boolean {
	return id.slice(id.lastIndexOf('.') + 1).includes(':');
}

/** A snapshot repeats the cardinality of the type, which `base` states. The schema of the type checks that already. */
function cardinalityOf(element: JsonObject, comparesToBase: boolean): Pick<ProfileElement, 'min' | 'max'> {
	const base = comparesToBase ? asObject(element['base']) : undefined;
	const { min, max } = element;
	return {
		...(typeof min === 'number' && min !== (base === undefined ? 0 : base['min']) ? { min } : {}),
		...(typeof max === 'string' && max !== (base === undefined ? '*' : base['max']) ? { max } : {}),
	};
}

function demandOf(element: JsonObject, kind: 'fixed' | 'pattern'): Pick<ProfileElement, 'fixed' | 'pattern'> {
	for (const name in element) {
		const value: Json | undefined = element[name];
		if (value !== undefined && name.startsWith(kind) && /^[A-Z]/.test(name.slice(kind.length))) return { [kind]: value };
	}
	return {};
}

/** A type is worth keeping where an element has a choice, or where it has a profile or a target. */
function typesOf(element: JsonObject): ElementType[] {
	const types = asObjects(element['type']).flatMap((type): ElementType[] => {
		const code = asText(type['code']);
		if (code === undefined) return [];
		const profiles = asTexts(type['profile']);
		const targets = asTexts(type['targetProfile']);
		return [{ code, ...(profiles.length === 0 ? {} : { profiles }), ...(targets.length === 0 ? {} : { targets }) }];
	});
	const isChoice = asText(element['path'])?.endsWith('[x]') ?? false;
	const holdsResource =
		types.some(({ code }) => code !== 'Resource' && /^[A-Z]/.test(code)) && /\.(?:resource|contained)$/.test(asText(element['path']) ?? '');
	return isChoice || holdsResource || types.some(({ profiles, targets }) => profiles !== undefined || targets !== undefined) ? types : [];
}

function slicingOf(slicing: JsonObject | undefined): Slicing | undefined {
	if (slicing === undefined) return undefined;
	const discriminators = asObjects(slicing['discriminator']).flatMap((discriminator): Discriminator[] => {
		const [type, path] = [asText(discriminator['type']), asText(discriminator['path'])];
		return path !== undefined && isDiscriminator(type) ? [{ type, path }] : [];
	});
	return { discriminators, ...(slicing['rules'] === 'closed' ? { closed: true as const } : {}) };
}

function isDiscriminator(type: string | undefined): type is Discriminator['type'] {
	return ['value', 'pattern', 'exists', 'type', 'profile'].includes(type ?? '');
}

/** Those of the types of R4 belong to the schemas. */
function invariantsOf(element: JsonObject): Invariant[] {
	return asObjects(element['constraint']).flatMap((constraint): Invariant[] => {
		const [key, human, expression, source] = ['key', 'human', 'expression', 'source'].map((name) => asText(constraint[name]));
		if (key === undefined || expression === undefined || (source !== undefined && isCore(source))) return [];
		return [{ key, human: human ?? key, expression, ...(constraint['severity'] === 'warning' ? { warns: true as const } : {}) }];
	});
}

/** Leaves out elements that demand nothing. A slice stays, and so does the slicing of an element that has slices. */
function withoutEmpty(elements: readonly ProfileElement[]): ProfileElement[] {
	const sliced = new Set(elements.filter(({ id }) => isSlice(id)).map(({ id }) => id.slice(0, id.lastIndexOf(':'))));
	return elements.flatMap((element): ProfileElement[] => {
		const { slicing, ...rest } = element;
		const kept = slicing !== undefined && (slicing.closed || sliced.has(element.id)) ? element : rest;
		return Object.keys(kept).length > 1 || isSlice(kept.id) ? [kept] : [];
	});
}

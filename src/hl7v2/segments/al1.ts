import type { Json, JsonObject } from '#core/json.ts';
import type { CodeableConcept } from '#fhir/datatypes.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import type { ItemChange } from '#record/kinds/item.ts';
import type { ResourcePatch } from '#record/resource-patch.ts';
import type { Segment } from '../message.ts';
import { replaceTime } from './choice.ts';
import { type Context, nameOf } from './context.ts';
import { alternateCode } from './datatypes/alternate-codes.ts';
import { codeableConcept } from './datatypes/cwe.ts';
import { itemKey } from './item.ts';
import { replace } from './pid.ts';

const initial: ResourcePatch = {
	elements: {
		clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }] },
	},
	parts: {},
};

/**
 * Converts AL1 (v2.5.1 §3.4.6) to AllergyIntolerance, as a snapshot. Undefined, and flagged, without an allergen. It belongs to the patient
 * and not to
 * a visit, because each visit states it again.
 */
export function allergyChange(al1: Segment, patient: number, context: Context): ItemChange | undefined {
	const code = codeableConcept(al1, 3);
	const item = itemKey(undefined, code);
	if (code === undefined || item === undefined) {
		context.flag('segment-skipped', `${nameOf(al1)} names no allergen (AL1-3) and was left out`);
		return undefined;
	}
	const elements: Record<string, Json> = { code };
	allergenType(elements, al1, context);
	severity(elements, al1, context);
	replace(elements, 'reaction', al1, 5, () => reactions(al1));
	replaceTime(elements, 'onset', al1, 6, context);
	return { kind: 'item', resourceType: 'AllergyIntolerance', patient, item, patch: { elements, parts: {} }, initial, unknown: 'create' };
}

interface Kind {
	category?: string;
	type?: string;
}

/** Table 0127 (v2-to-FHIR concept maps), and words that senders write instead. */
const kinds: Readonly<Record<string, Kind>> = {
	AA: { category: 'biologic', type: 'allergy' },
	DA: { category: 'medication', type: 'allergy' },
	EA: { category: 'environment', type: 'allergy' },
	FA: { category: 'food', type: 'allergy' },
	LA: { category: 'environment', type: 'allergy' },
	MA: { type: 'allergy' },
	MC: {},
	PA: { category: 'environment', type: 'allergy' },
	DRUG: { category: 'medication' },
	FOOD: { category: 'food' },
};

/** Reads AL1-2: the category and the type, with the code itself. */
function allergenType(elements: Record<string, Json>, al1: Segment, context: Context): void {
	const { absent, concept, known } = listed(al1, 2, '0127', kinds, context);
	if (absent) return;
	elements['category'] = known?.category === undefined ? null : [known.category];
	elements['_category'] = concept === undefined ? null : [alternateCode(concept)];
	elements['type'] = known?.type ?? null;
}

interface Severity {
	criticality?: string;
}

/** Table 0128. The v2-to-FHIR concept map has no target for MO and U; for U the choice is ours. */
const severities: Readonly<Record<string, Severity>> = {
	SV: { criticality: 'high' },
	MO: {},
	MI: { criticality: 'low' },
	U: { criticality: 'unable-to-assess' },
};

/** Reads AL1-4: the criticality, with the code itself. */
function severity(elements: Record<string, Json>, al1: Segment, context: Context): void {
	const { absent, concept, known } = listed(al1, 4, '0128', severities, context);
	if (absent) return;
	elements['criticality'] = known?.criticality ?? null;
	elements['_criticality'] = concept === undefined ? null : alternateCode(concept);
}

interface Listed<T> {
	/** The field is empty, so the known value stays. */
	absent: boolean;
	/** Returns the code as sent; undefined when the field is `""`. */
	concept: CodeableConcept | undefined;
	known: T | undefined;
}

function listed<T>(segment: Segment, field: number, table: string, codes: Readonly<Record<string, T>>, context: Context): Listed<T> {
	if (!segment.isPresent(field)) return { absent: true, concept: undefined, known: undefined };
	const concept = codeableConcept(segment, field, 0, v2Table(table));
	const code = segment.text(field).trim().toUpperCase();
	const known = entryOf(codes, code);
	if (concept !== undefined && known === undefined) {
		context.unreadable(segment, field, `has a code that table ${table} does not list; it is kept as an alternate code`);
	}
	return { absent: concept === undefined && !segment.isNull(field), concept, known };
}

/** AL1-5 is ST and repeats: the manifestations of one reaction. Senders put codes there too. */
function reactions(al1: Segment): JsonObject[] | undefined {
	const manifestation: JsonObject[] = [];
	const repetitions = al1.repetitions(5);
	for (let repetition = 0; repetition < repetitions; repetition++) {
		const concept = al1.components(5, repetition) > 1 ? codeableConcept(al1, 5, repetition) : textOnly(al1.whole(5, 1, repetition).trim());
		if (concept) manifestation.push(concept);
	}
	return manifestation.length === 0 ? undefined : [{ manifestation }];
}

function textOnly(text: string): CodeableConcept | undefined {
	return text === '' ? undefined : { text };
}

import type { JsonObject } from '#core/json.ts';
import type { Extension, Reference } from '#fhir/datatypes.ts';
import type { ResourcePatch } from '#record/resource-patch.ts';
import type { Segment } from '../message.ts';
import type { Context } from './context.ts';
import { codeableConcept } from './datatypes/cwe.ts';
import { organizations, practitioners } from './datatypes/xcn.ts';

type Parts = ResourcePatch['parts'][string];

/** Returns the patient's caregivers: PD1-3, the primary facility, and PD1-4, the primary care provider. */
export function generalPractitioners(pd1: Segment, context: Context): Parts | undefined {
	const parts: Parts = {};
	setPart(parts, 'PD1-3', pd1, 3, marked('PD1-3', pd1.isPresent(3) ? organizations(pd1, 3, context) : []));
	setPart(parts, 'PD1-4', pd1, 4, marked('PD1-4', pd1.isPresent(4) ? practitioners(pd1, 4, context) : []));
	for (const _part in parts) return parts;
	return undefined;
}

/** The element id distinguishes them from those of other sources. */
function marked(field: string, references: readonly Reference[]): JsonObject[] {
	return references.map((reference, index) => ({ id: `${field}.${index + 1}`, ...reference }));
}

const disabilityUrl = 'http://hl7.org/fhir/StructureDefinition/patient-disability';
const congregationUrl = 'http://hl7.org/fhir/StructureDefinition/patient-congregation';

/** PD1-6, handicap, and PD1-14, place of worship. */
export function pd1Extensions(pd1: Segment): Parts | undefined {
	const parts: Parts = {};
	setPart(parts, disabilityUrl, pd1, 6, disability(pd1));
	setPart(parts, congregationUrl, pd1, 14, congregation(pd1));
	for (const _part in parts) return parts;
	return undefined;
}

function disability(pd1: Segment): Extension[] {
	const concept = codeableConcept(pd1, 6);
	return concept === undefined ? [] : [{ url: disabilityUrl, valueCodeableConcept: concept }];
}

function congregation(pd1: Segment): Extension[] {
	const name = pd1.text(14).trim();
	return name === '' ? [] : [{ url: congregationUrl, valueString: name }];
}

function setPart(parts: Parts, part: string, segment: Segment, field: number, list: JsonObject[]): void {
	if (segment.isNull(field)) parts[part] = null;
	else if (list.length > 0) parts[part] = list;
}

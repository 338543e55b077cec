import type { JsonObject } from '#core/json.ts';
import type { CodeableConcept } from '#fhir/datatypes.ts';

const url = 'http://hl7.org/fhir/StructureDefinition/alternate-codes';

/** Builds the sibling of a code that is coarser than the sent one. It holds the code as sent. */
export function alternateCode(concept: CodeableConcept): JsonObject {
	return { extension: [{ url, valueCodeableConcept: concept }] };
}

import type { Json, JsonObject } from '#core/json.ts';

/** FHIR R4 Identifier, as far as matching needs it. */
export interface Identifier extends JsonObject {
	value: string;
}

/**
 * How new content meets stored content (HL7 v2.5.1 §2.7.2 and snapshot mode): an absent element stays, `null`
 * removes, a value replaces.
 */
export interface ResourcePatch {
	/** Element name → value. One dot reaches into an object: `period.start`. */
	elements: Record<string, Json>;
	/**
	 * Lists that several fields feed, by part: `telecom` home (PID-13) and work (PID-14), `extension` by url,
	 * `participant` by type code, `identifier` by PID-3 / SS / AN / DL. A part that is absent stays as it is. Where an
	 * item's use or type would put it into another field's part, its element id names the field: `PID-13.2`. Of `contact` (NK1)
	 * and `generalPractitioner` (PD1-3, PD1-4) every item that HL7 states does; `performer` goes by the code of its function.
	 */
	parts: Record<string, Record<string, JsonObject[] | null>>;
}

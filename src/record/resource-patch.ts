import type { Json, JsonObject } from '#core/json.ts';

/** A FHIR R4 Identifier with the members that matching needs. */
export interface Identifier extends JsonObject {
	value: string;
}

/**
 * Tells how new content changes stored content (HL7 v2.5.1 §2.7.2 and snapshot mode): an absent element stays, `null` removes it, a value
 * replaces it.
 */
export interface ResourcePatch {
	/** Values by element name. One dot reaches into an object: `period.start`. */
	elements: Record<string, Json>;
	/**
	 * Lists that several fields fill, by part: `telecom` home (PID-13) and work (PID-14), `extension` by url, `participant` by type code,
	 * `identifier` by PID-3
	 * SS
	 * AN
	 * DL. A part that is absent stays as it is. If an item's use or type would put it into another field's
	 * part, its element id names the field: `PID-13.2`. `contact` (NK1) and `generalPractitioner` (PD1-3, PD1-4) have one part for all items
	 * that HL7 states; `performer` is divided by the code of its function.
	 */
	parts: Record<string, Record<string, JsonObject[] | null>>;
}

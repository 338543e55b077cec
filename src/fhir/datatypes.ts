import type { Json, JsonObject } from '#core/json.ts';

/**
 * The FHIR R4 datatypes that formats write, as plain JSON. Type aliases, not interfaces, so that each is a JsonObject.
 * A decimal is `Json`: it may be a raw JSON value that keeps its digits (`exactDecimal` in core/json).
 */
export type Decimal = Json;

export type Extension = {
	url: string;
	extension?: Extension[];
	valueString?: string;
	valueCode?: string;
	valueDateTime?: string;
	valueAddress?: Address;
	valueAttachment?: Attachment;
	valueCoding?: Coding;
	valueCodeableConcept?: CodeableConcept;
};

export type Coding = { system?: string; version?: string; code?: string; display?: string };

export type CodeableConcept = { coding?: Coding[]; text?: string };

export type Period = { start?: string; end?: string };

export type Reference = { type?: string; identifier?: Identifier; display?: string };

export type Identifier = {
	id?: string;
	use?: string;
	type?: CodeableConcept;
	system?: string;
	value?: string;
	period?: Period;
	assigner?: Reference;
};

export type HumanName = {
	extension?: Extension[];
	use?: string;
	text?: string;
	family?: string;
	given?: string[];
	prefix?: string[];
	suffix?: string[];
	period?: Period;
};

export type Address = {
	use?: string;
	type?: string;
	text?: string;
	line?: string[];
	city?: string;
	district?: string;
	state?: string;
	postalCode?: string;
	country?: string;
	period?: Period;
};

export type ContactPoint = { id?: string; system?: string; value?: string; use?: string; rank?: number; period?: Period };

export type Quantity = { extension?: Extension[]; value?: Decimal; comparator?: string; unit?: string; system?: string; code?: string };

export type Range = { low?: Quantity; high?: Quantity };

export type SampledData = {
	origin: Quantity;
	/** Milliseconds between samples; where unknown, `_period` says so. */
	period?: Decimal;
	_period?: JsonObject;
	dimensions: number;
	data: string;
};

export type Attachment = { contentType?: string; data?: string; url?: string; title?: string };

export type Annotation = { authorString?: string; time?: string; text: string };

import { z } from 'zod';
import type { AdministrationLimits } from '../limits.ts';

/** Limits how much of a message the reading view shows. */
export type ReadingLimits = Pick<AdministrationLimits, 'readingValuesMax' | 'readingCharactersMax'>;

const value = z.object({
	number: z.number().int().describe('position in the standard, from 1'),
	name: z.string().nullable().describe('name in the standard; null if it has none'),
	value: z.string(),
	meaning: z.string().nullable().describe('meaning of a coded value in the table of the standard'),
	length: z.number().int().describe('full length in characters; the value may be cut'),
});
const component = z.object({ ...value.shape, subcomponents: z.array(value) });
const repetition = z.object({ ...value.pick({ value: true, meaning: true, length: true }).shape, components: z.array(component) });
const field = z.object({
	number: value.shape.number,
	name: value.shape.name,
	datatype: z.string().nullable(),
	deletes: z.boolean().describe('true if the field is "", which deletes its value'),
	repetitions: z.array(repetition),
});
const segment = z.object({
	id: z.string(),
	name: value.shape.name,
	sequence: z.number().int().describe('position among the segments with the same id, from 1'),
	fields: z.array(field),
});

export const reading = z
	.discriminatedUnion('format', [
		z.object({
			format: z.literal('hl7v2'),
			version: z.string(),
			character_set: z.string(),
			segments: z.array(segment),
			is_cut: z.boolean(),
		}),
		z.object({ format: z.literal('xml'), text: z.string().describe('the message, indented'), is_cut: z.boolean() }),
		z.object({
			format: z.literal('json'),
			head: z.array(z.string()).describe('request line and headers of a FHIR request'),
			text: z.string().describe('the content, indented'),
			is_cut: z.boolean(),
		}),
		z.object({ format: z.literal('text'), text: z.string(), is_cut: z.boolean() }),
	])
	.describe('the message, for people to read');

export type Reading = z.output<typeof reading>;
export type SegmentReading = z.output<typeof segment>;
export type FieldReading = z.output<typeof field>;
export type RepetitionReading = z.output<typeof repetition>;
export type ComponentReading = z.output<typeof component>;
export type ValueReading = z.output<typeof value>;

/** Counts the values shown, and cuts those that are too long. */
export class Budget {
	readonly #limits: ReadingLimits;
	#left: number;
	isCut = false;

	constructor(limits: ReadingLimits) {
		this.#limits = limits;
		this.#left = limits.readingValuesMax;
	}

	/** Returns false when no more may be shown. */
	spend(): boolean {
		if (this.#left === 0) this.isCut = true;
		else this.#left--;
		return !this.isCut;
	}

	cut(text: string): { value: string; length: number } {
		const { readingCharactersMax } = this.#limits;
		if (text.length <= readingCharactersMax) return { value: text, length: text.length };
		return { value: `${text.slice(0, readingCharactersMax).toWellFormed()}…`, length: text.length };
	}
}

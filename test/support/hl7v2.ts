import type { Delimiters } from '#hl7v2/delimiters.ts';

/** Repetitions of components of subcomponents; a plain string is a field of one value. */
export type FieldModel = string | readonly (readonly (readonly string[])[])[];

export interface SegmentModel {
	id: string;
	/** From field 1; of MSH from field 3. */
	fields: readonly FieldModel[];
}

export const usualDelimiters: Delimiters = { field: '|', component: '^', repetition: '~', escape: '\\', subcomponent: '&', truncation: '' };

/** Escapes one value: delimiters by letter, control characters in hexadecimal, so that any text survives. */
export function renderValue(text: string, delimiters: Delimiters = usualDelimiters): string {
	const letters = new Map([
		[delimiters.field, 'F'],
		[delimiters.component, 'S'],
		[delimiters.repetition, 'R'],
		[delimiters.escape, 'E'],
		[delimiters.subcomponent, 'T'],
	]);
	return Array.from(text, (character) => {
		const letter = letters.get(character);
		if (letter !== undefined) return `${delimiters.escape}${letter}${delimiters.escape}`;
		const code = character.charCodeAt(0);
		if (code >= 0x20) return character;
		return `${delimiters.escape}X${code.toString(16).padStart(2, '0')}${delimiters.escape}`;
	}).join('');
}

export function renderField(field: FieldModel, delimiters: Delimiters = usualDelimiters): string {
	if (typeof field === 'string') return renderValue(field, delimiters);
	return field
		.map((components) =>
			components
				.map((subcomponents) => subcomponents.map((value) => renderValue(value, delimiters)).join(delimiters.subcomponent))
				.join(delimiters.component),
		)
		.join(delimiters.repetition);
}

/** Renders a message, every segment ended by `lineEnd`; MSH-1 and MSH-2 come from the delimiters. */
export function renderMessage(segments: readonly SegmentModel[], delimiters: Delimiters = usualDelimiters, lineEnd = '\r'): string {
	const { field, component, repetition, escape: mark, subcomponent, truncation } = delimiters;
	return segments
		.map(({ id, fields }) => {
			const rendered = fields.map((one) => renderField(one, delimiters));
			const pieces = id === 'MSH' ? [id, component + repetition + mark + subcomponent + truncation, ...rendered] : [id, ...rendered];
			return pieces.join(field) + lineEnd;
		})
		.join('');
}

/** Segments written as they are on the wire, each ended by CR, as UTF-8. */
export function wire(...segments: readonly string[]): Buffer {
	return Buffer.from(segments.map((segment) => `${segment}\r`).join(''), 'utf8');
}

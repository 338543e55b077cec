import { Failure } from '#core/failure.ts';

/** Splits at a character that no backslash escapes (FHIR R4 §3.1.1.3.2). */
export function splitEscaped(text: string, separator: string): string[] {
	const parts: string[] = [];
	let start = 0;
	for (let index = 0; index < text.length; index++) {
		if (text[index] === '\\') index++;
		else if (text[index] === separator) {
			parts.push(text.slice(start, index));
			start = index + 1;
		}
	}
	parts.push(text.slice(start));
	return parts;
}

/** Returns the alternatives of a parameter. Empty values are dropped. */
export function splitValues(text: string): string[] {
	return splitEscaped(text, ',').filter((value) => value !== '');
}

/**
 * Returns the alternatives of a named parameter; none when its value is empty.
 * @throws Failure `invalid` for commas alone: without its parameter the search would find everything
 */
export function alternativesOf(name: string, text: string): string[] {
	const values = splitValues(text);
	if (values.length > 0 || text === '') return values;
	throw new Failure('invalid', `${name} has no value between its commas`, { location: { expression: name } });
}

/** Returns the position of the first unescaped `|`; -1 when there is none. */
export function separatorOf(value: string): number {
	for (let index = 0; index < value.length; index++) {
		if (value[index] === '\\') index++;
		else if (value[index] === '|') return index;
	}
	return -1;
}

export function unescaped(text: string): string {
	return text.includes('\\') ? text.replace(/\\([\\,|$])/g, '$1') : text;
}

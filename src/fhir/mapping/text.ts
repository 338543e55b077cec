/** A text of FHIR has none of these characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: R4 §2.24.0.1 excludes exactly these from a string.
export const controlCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

/** Joins the parts that are not empty by single spaces. */
export function joined(...parts: string[]): string {
	let text = '';
	for (const part of parts) if (part !== '') text = text === '' ? part : `${text} ${part}`;
	return text;
}

/** Normalises a FHIR code, which has no space at its ends and no two in a row (R4 §2.24.0.1). */
export function codeText(text: string): string {
	const code = text.trim();
	return /\s\s/.test(code) ? code.replaceAll(/\s+/g, ' ') : code;
}

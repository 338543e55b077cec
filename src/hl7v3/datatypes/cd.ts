import type { CodeableConcept, Coding } from '#fhir/datatypes.ts';
import { codingSystem } from '#fhir/mapping/coding-system.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import { codeText } from '#fhir/mapping/text.ts';
import type { XmlElement } from '../element.ts';

/** Reads a text (ED), which in a document may stand elsewhere. */
type TextReader = (element: XmlElement | undefined) => string;

const ownText: TextReader = (element) => element?.text ?? '';

/**
 * CD, CE, CV and CS (Data Types R1 §2.6) as CodeableConcept: the code, its translations, and originalText, else the first
 * display name. `system` is that of a code that names none. What qualifies the code has no element in FHIR, and is told in the text.
 * Undefined without content.
 */
export function codeableConcept(element: XmlElement, system = '', textOf = ownText): CodeableConcept | undefined {
	const translations = element.children('translation');
	const codings = [coding(element, system), ...translations.map((translation) => coding(translation, ''))].filter(
		(found) => found !== undefined,
	);
	const name =
		textOf(element.first('originalText')) || (element.isNull ? '' : element.attribute('displayName')) || (codings[0]?.display ?? '');
	const text = qualified(name || (codings[0]?.code ?? ''), name, [element, ...translations], textOf);
	if (codings.length === 0) return text === '' ? undefined : { text };
	return text === '' ? { coding: codings } : { coding: codings, text };
}

const snomed = 'http://snomed.info/sct';
/** SNOMED CT: sides of the body, which senders often state by their code alone. */
const sides: Readonly<Record<string, string>> = {
	'7771000': 'Left',
	'24028007': 'Right',
	'51440002': 'Right and left',
	'66459002': 'Unilateral',
};

/**
 * `name` and in brackets the values of the qualifiers (CR, Data Types R1 §2.7) that it does not say itself; `named`, which may be the
 * code, takes its place where there are some.
 */
function qualified(named: string, name: string, codes: readonly XmlElement[], textOf: TextReader): string {
	const told = new Map<string, string>();
	const known = words(name.slice(0, searchedMax));
	for (const value of codes.flatMap((code) => code.all('qualifier', 'value'))) {
		const found = nameOf(value, textOf);
		if (found !== '' && !known.includes(words(found))) told.set(words(found), found);
	}
	return told.size === 0 || named === '' ? name : `${named} (${[...told.values()].join(', ')})`;
}

/** Characters of a text that are searched for each qualifier. */
const searchedMax = 4096;

/** What a qualifier says: its text, its display name, that of its translation, or its code. */
function nameOf(value: XmlElement, textOf: TextReader): string {
	const found = codeableConcept(value, '', textOf);
	const { system = snomed, code = '' } = found?.coding?.[0] ?? {};
	return found?.text ?? (system === snomed ? entryOf(sides, code) : undefined) ?? code;
}

/** The words of a text, each between spaces and in small letters. */
function words(text: string): string {
	return ` ${text
		.toLowerCase()
		.replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
		.trim()} `;
}

function coding(element: XmlElement, system: string): Coding | undefined {
	const code = codeText(element.attribute('code'));
	if (element.isNull || code === '') return undefined;
	const result: Coding = {};
	const named = codingSystem(element.attribute('codeSystem')) || codingSystem(element.attribute('codeSystemName')) || system;
	if (named !== '') result.system = named;
	const version = element.attribute('codeSystemVersion');
	if (version !== '') result.version = version;
	result.code = code;
	const display = element.attribute('displayName');
	if (display !== '') result.display = display;
	return result;
}

/** Every one with content. */
export function codeableConcepts(elements: readonly XmlElement[], system = ''): CodeableConcept[] {
	return elements.map((element) => codeableConcept(element, system)).filter((found) => found !== undefined);
}

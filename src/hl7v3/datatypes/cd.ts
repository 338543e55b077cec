import type { CodeableConcept, Coding } from '#fhir/datatypes.ts';
import { codingSystem } from '#fhir/mapping/coding-system.ts';
import { codeText } from '#fhir/mapping/text.ts';
import type { XmlElement } from '../element.ts';

/**
 * CD, CE, CV and CS (Data Types R1 §2.6) as CodeableConcept: the code, its translations, and originalText, else the first
 * display name. `system` is that of a code that names none. Undefined without content.
 */
export function codeableConcept(element: XmlElement, system = ''): CodeableConcept | undefined {
	const codings = [coding(element, system), ...element.children('translation').map((translation) => coding(translation, ''))].filter(
		(found) => found !== undefined,
	);
	const text =
		element.first('originalText')?.text || (element.isNull ? '' : element.attribute('displayName')) || (codings[0]?.display ?? '');
	if (codings.length === 0) return text === '' ? undefined : { text };
	return text === '' ? { coding: codings } : { coding: codings, text };
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

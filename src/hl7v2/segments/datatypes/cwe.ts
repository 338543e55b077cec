import type { CodeableConcept, Coding } from '#fhir/datatypes.ts';
import { codingSystem } from '#fhir/mapping/coding-system.ts';
import { codeText } from '#fhir/mapping/text.ts';
import type { Segment } from '../../message.ts';

/**
 * Converts CWE, CNE, CE, CF, IS and ID (v2.5.1 §2.A.13) to CodeableConcept: up to three codings, text from CWE-9, else the first display.
 * `system`
 * applies to a code whose coding system is not named (a table's).
 */
export function codeableConcept(segment: Segment, field: number, repetition = 0, system = ''): CodeableConcept | undefined {
	const codings: Coding[] = [];
	const first = coding(segment, field, repetition, 1, 7, system);
	if (first) codings.push(first);
	let text = '';
	const components = segment.components(field, repetition);
	if (components > 3) {
		const second = coding(segment, field, repetition, 4, 8, '');
		if (second) codings.push(second);
		if (components > 8) {
			text = contentOf(segment, field, 9, repetition);
			const third = coding(segment, field, repetition, 10, 13, '');
			if (third) codings.push(third);
		}
	}
	if (text === '') text = contentOf(segment, field, 2, repetition) || contentOf(segment, field, 5, repetition);
	if (codings.length === 0) return text === '' ? undefined : { text };
	// A local name without a code is a coding with a name alone.
	const alternate = components > 4 && segment.text(field, 4, repetition).trim() === '' ? contentOf(segment, field, 5, repetition) : '';
	if (alternate !== '' && alternate !== text) codings.push({ display: alternate });
	return text === '' ? { coding: codings } : { coding: codings, text };
}

/** Returns a component as sent; empty if it has blanks alone, which are no string of FHIR (R4 §2.24.0.1). */
function contentOf(segment: Segment, field: number, component: number, repetition: number): string {
	const text = segment.whole(field, component, repetition);
	return text.trim() === '' ? '' : text;
}

/** Converts one triplet of a CWE; undefined without a code. */
function coding(
	segment: Segment,
	field: number,
	repetition: number,
	component: number,
	versionComponent: number,
	system: string,
): Coding | undefined {
	const code = codeText(codeAt(segment, field, repetition, component));
	if (code === '') return undefined;
	const named = codingSystem(segment.text(field, component + 2, repetition).trim()) || system;
	const version = contentOf(segment, field, versionComponent, repetition);
	const display = contentOf(segment, field, component + 1, repetition);
	const result: Coding = {};
	if (named !== '') result.system = named;
	if (version !== '') result.version = version;
	result.code = code;
	if (display !== '') result.display = display;
	return result;
}

/**
 * A code is an ST and has no subcomponents, so `T&S` is one code, and so is the id of an observation with its suffix (`71250&IMP`, v2.5.1 §7.2.4.2).
 * Of more of them the first is the code: some senders write a whole CE so.
 */
function codeAt(segment: Segment, field: number, repetition: number, component: number): string {
	const first = segment.text(field, component, repetition);
	if (first === '' || segment.text(field, component, repetition, 2) === '') return first;
	return segment.text(field, component, repetition, 3) === '' ? segment.whole(field, component, repetition) : first;
}

/** Every repetition; undefined when none has content. */
export function codeableConcepts(segment: Segment, field: number, system = ''): CodeableConcept[] | undefined {
	const concepts: CodeableConcept[] = [];
	const repetitions = segment.repetitions(field);
	for (let repetition = 0; repetition < repetitions; repetition++) {
		const concept = codeableConcept(segment, field, repetition, system);
		if (concept) concepts.push(concept);
	}
	return concepts.length === 0 ? undefined : concepts;
}

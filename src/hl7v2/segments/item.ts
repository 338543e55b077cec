import type { Json } from '#core/json.ts';
import type { CodeableConcept } from '#fhir/datatypes.ts';
import { folded } from '#fhir/fold.ts';
import { identifierItem, itemKey as shortKey } from '#record/item-key.ts';
import type { Segment } from '../message.ts';
import type { Context } from './context.ts';
import type { EntityIdentifier } from './datatypes/ei.ts';

/** Whom and which visit a segment speaks of: refs of changes of the same set. */
export interface ItemOwner {
	patient: number;
	encounter: number | undefined;
}

/**
 * What an item is recognised by within its patient: its identifier, else its first code, else its text without regard to
 * case and spacing; code and text together with `time`, where that tells one from another. Undefined when it has none of
 * them. The kinds are told apart by a word and a space, which no system's URI has.
 */
export function itemKey(identifier: EntityIdentifier | undefined, concept: CodeableConcept | undefined, time = ''): string | undefined {
	if (identifier !== undefined) return identifierItem(identifier);
	const key = conceptKey(concept, time);
	return key === undefined ? undefined : shortKey(key);
}

function conceptKey(concept: CodeableConcept | undefined, time: string): string | undefined {
	if (concept === undefined) return undefined;
	const coding = concept.coding?.[0];
	const what =
		coding === undefined
			? `text ${folded(concept.text ?? '').replaceAll(/\s+/g, ' ')}`
			: `code ${coding.system ?? ''}|${coding.code ?? ''}`;
	return time === '' ? what : `${what} ${time}`;
}

export interface DescribedCode {
	/** Undefined when neither field says what it is. */
	concept: CodeableConcept | undefined;
	/** The patch of the element `code`. */
	elements: Record<string, Json>;
}

/** A code (CWE), and in another field its description (ST), which is its text. `coded` is the code as read. */
export function describedCode(segment: Segment, field: number, coded: CodeableConcept | undefined, description: string): DescribedCode {
	if (coded !== undefined) {
		const concept = description === '' ? coded : { ...coded, text: description };
		return { concept, elements: { code: concept } };
	}
	const concept = description === '' ? undefined : { text: description };
	if (segment.isNull(field)) return { concept, elements: { code: concept ?? null } };
	return { concept, elements: concept === undefined ? {} : { 'code.text': description } };
}

/** Table 0206, segment action code (DG1-21, PR1-20): whether the segment takes back what an earlier one stated. */
export function isWithdrawn(segment: Segment, field: number, context: Context): boolean {
	const code = segment.text(field).trim().toUpperCase();
	if (code === 'D') return true;
	if (code !== '' && code !== 'A' && code !== 'U' && code !== 'X') {
		context.unreadable(segment, field, 'has a code that table 0206 does not list and was left out');
	}
	return false;
}

import type { Json } from '#core/json.ts';
import type { CodeableConcept } from '#fhir/datatypes.ts';
import { folded } from '#fhir/fold.ts';
import { identifierItem, itemKey as shortKey } from '#record/item-key.ts';
import type { Segment } from '../message.ts';
import type { Context } from './context.ts';
import type { EntityIdentifier } from './datatypes/ei.ts';

/** The patient and visit of a segment: refs of changes of the same set. */
export interface ItemOwner {
	patient: number;
	encounter: number | undefined;
}

/**
 * Returns the key that identifies an item within its patient: its identifier, else its first code, else its text without regard to case and
 * spacing.
 * A code or text is combined with `time`, if that distinguishes items. Undefined when it has none of them. The kinds of keys are
 * distinguished by a
 * word and a space, which no system's URI has.
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
	/** Undefined when neither field states a code or text. */
	concept: CodeableConcept | undefined;
	/** Builds the patch of the element `code`. */
	elements: Record<string, Json>;
}

/** Combines a code (CWE) with its description (ST) in another field, which is its text. `coded` is the code as read. */
export function describedCode(segment: Segment, field: number, coded: CodeableConcept | undefined, description: string): DescribedCode {
	if (coded !== undefined) {
		const concept = description === '' ? coded : { ...coded, text: description };
		return { concept, elements: { code: concept } };
	}
	const concept = description === '' ? undefined : { text: description };
	if (segment.isNull(field)) return { concept, elements: { code: concept ?? null } };
	return { concept, elements: concept === undefined ? {} : { 'code.text': description } };
}

/** Tells by table 0206, segment action code (DG1-21, PR1-20), whether the segment withdraws an earlier statement. */
export function isWithdrawn(segment: Segment, field: number, context: Context): boolean {
	const code = segment.text(field).trim().toUpperCase();
	if (code === 'D') return true;
	if (code !== '' && code !== 'A' && code !== 'U' && code !== 'X') {
		context.unreadable(segment, field, 'has a code that table 0206 does not list and was left out');
	}
	return false;
}

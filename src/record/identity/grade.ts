import type { JsonObject } from '#core/json.ts';
import { agreements } from './mismatch.ts';

/** How sure it is that two statements are about one person (http://hl7.org/fhir/R4/codesystem-match-grade.html). */
export type MatchGrade = 'certain' | 'probable' | 'possible' | 'certainly-not';

export interface Graded {
	grade: MatchGrade;
	/** From 0 to 1. */
	score: number;
}

/** What led from the stated person to the patient. */
export interface Lead {
	/** `authority`: an identifying number with its assigning authority; `value`: one without; `person`: name and birth date alone. */
	by: 'authority' | 'value' | 'person';
	/** True when the numbers lead to nobody else. */
	isOnly: boolean;
	/** True when both have a number of one authority, and these differ. */
	hasOtherNumber: boolean;
}

/**
 * Grades a patient by the rules by which messages find theirs. A number of an authority that leads to one patient is that patient, as long as
 * at most one of name, birth date and sex differs. Two that differ are a mismatch, which a person has to look at; three are another person.
 * Without a number, name and birth date make two records possible duplicates. Returns undefined where nothing speaks for the same person.
 */
export function gradeOf(held: JsonObject, stated: JsonObject, lead: Lead): Graded | undefined {
	const { name, 'birth date': birthDate, sex } = agreements(held, stated);
	const different = [name, birthDate, sex].filter((fact) => fact === 'other').length;
	if (lead.by !== 'person') {
		if (different === 3) return { grade: 'certainly-not', score: 0.05 };
		if (different === 2) return { grade: 'possible', score: 0.4 };
		return byNumber(lead, different * 0.05);
	}
	if (different > 1) return undefined;
	if (name === 'same' && birthDate === 'same' && sex !== 'other') {
		if (lead.hasOtherNumber) return { grade: 'possible', score: 0.55 };
		return { grade: 'probable', score: sex === 'same' ? 0.75 : 0.7 };
	}
	if (different === 1) return name === 'same' || birthDate === 'same' ? { grade: 'possible', score: 0.25 } : undefined;
	return name === 'same' || birthDate === 'same' ? { grade: 'possible', score: 0.5 } : undefined;
}

/** A number without an authority may be that of any patient who has it. */
function byNumber({ by, isOnly }: Lead, lowered: number): Graded {
	if (isOnly) return by === 'authority' ? { grade: 'certain', score: 1 - lowered } : { grade: 'probable', score: 0.85 - lowered };
	return by === 'authority' ? { grade: 'probable', score: 0.8 - lowered } : { grade: 'possible', score: 0.5 - lowered };
}

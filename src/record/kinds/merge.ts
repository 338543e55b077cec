import { Failure, type FailureLocation } from '#core/failure.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { fieldName, matchPatient, type PatientMatch } from '../apply/match-patient.ts';
import { carryIdentifiers, replace, sameIdentifier } from '../apply/merge.ts';
import type { Row } from '../apply/rows.ts';
import { patientIdentifiers } from '../holdings/patient-identifiers.ts';
import type { Identifier } from '../resource-patch.ts';

/** ADT^A40, PRPA_IN201304UV02: `prior` becomes replaced by `survivor`. */
export interface MergeChange {
	kind: 'merge';
	survivor: number;
	/** The identifiers of MRG-1. The first one is matched; the survivor carries all of them as `use: old`. */
	prior: [Identifier, ...Identifier[]];
	sequence: number;
	/** See PatientChange. */
	expression?: string;
}

export const mergeKind = defineChange<MergeChange>({
	kind: 'merge',
	/** It moves rows by statement. */
	alone: true,
	keys: ({ prior }, keys) => keys.of(patientIdentifiers).add(prior[0].value),
	patients: ({ prior }) => [prior[0].value],
	apply(context, change, references) {
		const survivor = context.set.row('Patient', references.patient(change.survivor).id);
		if (survivor === undefined) throw new Error('the survivor of a merge is not in the working set');
		applyMerge(context, change, survivor, references.identifier(change.survivor));
	},
});

/**
 * ADT^A40 (HL7 v2.5.1 §3.3.40): the survivor replaces the prior patient. The HL7 v2-to-FHIR guide does not map it; the product's own rules
 * are in docs/conformance/hl7v2.md.
 */
function applyMerge(context: ApplyContext, change: MergeChange, survivor: Row, survivorIdentifier: Identifier): void {
	const location: FailureLocation =
		change.expression === undefined ? { segment: 'MRG', sequence: change.sequence, field: 1 } : { expression: change.expression };
	const refuse = (text: string) => new Failure('key-conflict', `${fieldName(location)} ${text}`, { location });
	if (change.prior.some((identifier) => sameIdentifier(identifier, survivorIdentifier))) {
		throw refuse('names the surviving patient itself');
	}
	const prior = matchPatient(context.set, change.prior[0], location);
	if (prior === undefined) {
		context.flags.push({
			code: 'prior-patient-unknown',
			text: `${fieldName(location)} names a patient that is not known; its identifiers lead to the survivor from now on`,
		});
		carryIdentifiers(context, survivor, change.prior);
		return;
	}
	if (prior.current.id === survivor.id) {
		refuseUnlessSameMerge(context, prior, survivorIdentifier, refuse);
		return;
	}
	if (prior.throughMerge) throw refuse('names a patient that was merged into another one before');
	replace(context, prior.current, survivor, change.prior);
}

/** Refuses a merge of two identifiers that already lead to one patient, unless the same merge was made before. */
function refuseUnlessSameMerge(
	context: ApplyContext,
	prior: PatientMatch,
	survivorIdentifier: Identifier,
	refuse: (text: string) => Failure,
): void {
	const survivor = matchPatient(context.set, survivorIdentifier, { segment: 'PID', field: 3 });
	if (survivor?.throughMerge) throw refuse('names the survivor of an earlier merge of the same two patients');
	if (!prior.throughMerge) throw refuse('names the surviving patient itself');
}

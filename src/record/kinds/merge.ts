import { Failure, type FailureLocation } from '#core/failure.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { carryIdentifiers, replace } from '../apply/merge.ts';
import type { Row } from '../apply/rows.ts';
import { imaging } from '../holdings/imaging.ts';
import { patientIdentifiers } from '../holdings/patient-identifiers.ts';
import { identifierKey } from '../identity/identifier-key.ts';
import { identifying } from '../identity/identifying.ts';
import { learnAuthority, type StatedAuthority } from '../identity/learn.ts';
import { fieldName, identifyPatient, type PatientMatch, patientsNamed } from '../identity/match.ts';
import type { Identifier } from '../resource-patch.ts';

/** ADT^A40, PRPA_IN201304UV02: `prior` becomes replaced by `survivor`. */
export interface MergeChange {
	kind: 'merge';
	survivor: number;
	/** The identifiers of MRG-1. They must lead to one patient; the survivor carries all of them as `use: old`. */
	prior: [Identifier, ...Identifier[]];
	sequence: number;
	/** See PatientChange. */
	authorities?: readonly StatedAuthority[];
	/** See PatientChange. */
	expression?: string;
}

export const mergeKind = defineChange<MergeChange>({
	kind: 'merge',
	/** It moves rows by statement. */
	alone: true,
	keys({ prior }, keys) {
		const values = keys.of(patientIdentifiers);
		for (const { value } of identifying(prior)) values.add(value);
		keys.of(imaging).mayMatch = true;
	},
	patients: ({ prior }) =>
		identifying(prior)
			.slice(0, 1)
			.map(({ value }) => value),
	apply(context, change, references) {
		const survivor = context.set.row('Patient', references.patient(change.survivor).id);
		if (survivor === undefined) throw new Error('the survivor of a merge is not in the working set');
		applyMerge(context, change, survivor, references.identifiers(change.survivor));
	},
});

/**
 * ADT^A40 (HL7 v2.5.1 §3.3.40): the survivor replaces the prior patient. The HL7 v2-to-FHIR guide does not map it; the product's own rules
 * are in docs/conformance/hl7v2.md.
 */
function applyMerge(context: ApplyContext, change: MergeChange, survivor: Row, survivorIdentifiers: readonly Identifier[]): void {
	const location: FailureLocation =
		change.expression === undefined ? { segment: 'MRG', sequence: change.sequence, field: 1 } : { expression: change.expression };
	for (const authority of change.authorities ?? []) learnAuthority(context, authority);
	const refuse = (text: string) => new Failure('key-conflict', `${fieldName(location)} ${text}`, { location });
	// A number that both have, such as that of an enterprise index, does not tell who is replaced.
	const common = new Set(survivorIdentifiers.map(identifierKey));
	const [first, ...others] = change.prior.filter((identifier) => !common.has(identifierKey(identifier)));
	if (first === undefined) throw refuse('names the surviving patient itself');
	const stated: [Identifier, ...Identifier[]] = [first, ...others];
	const ofPrior = new Set(change.prior.map(identifierKey));
	const shared = survivorIdentifiers.filter((identifier) => ofPrior.has(identifierKey(identifier)));
	const named = patientsNamed(context.set, stated, location);
	if (new Set(named.map(({ current }) => current.id)).size > 1) {
		throw new Failure('unknown-key', `${fieldName(location)} has numbers of several patients; a merge replaces one patient`, { location });
	}
	const prior = named.find(({ throughMerge }) => !throughMerge) ?? named[0];
	if (prior === undefined) {
		context.flags.push({
			code: 'prior-patient-unknown',
			text: `${fieldName(location)} names a patient that is not known; its identifiers lead to the survivor from now on`,
		});
		carryIdentifiers(context, survivor, stated, shared);
		return;
	}
	if (prior.current.id === survivor.id) {
		refuseUnlessSameMerge(context, prior, survivorIdentifiers, refuse);
		return;
	}
	if (prior.throughMerge) throw refuse('names a patient that was merged into another one before');
	replace(context, prior.current, survivor, stated, shared);
}

/** Refuses a merge of two identifiers that already lead to one patient, unless the same merge was made before. */
function refuseUnlessSameMerge(
	context: ApplyContext,
	prior: PatientMatch,
	identifiers: readonly Identifier[],
	refuse: (text: string) => Failure,
): void {
	const survivor = identifyPatient(context.set, { identifiers }, { segment: 'PID', field: 3 });
	if (survivor?.throughMerge) throw refuse('names the survivor of an earlier merge of the same two patients');
	if (!prior.throughMerge) throw refuse('names the surviving patient itself');
}

import { Failure } from '#core/failure.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { replace, separate } from '../apply/merge.ts';
import { resourceOf } from '../apply/rows.ts';
import { imaging } from '../holdings/imaging.ts';
import type { PatientEdit } from '../identity/edit.ts';
import type { Identifier } from '../resource-patch.ts';

/** A person merges two patients or tells them apart, by their row ids. */
export interface IdentityChange {
	kind: 'identity';
	edit: PatientEdit;
}

export const identityKind = defineChange<IdentityChange>({
	kind: 'identity',
	/** It moves rows by statement. */
	alone: true,
	keys({ edit }, keys) {
		keys.addRow('Patient', edit.survivor);
		keys.addRow('Patient', edit.prior);
		keys.of(imaging).mayMatch = true;
	},
	apply: applyIdentity,
});

/** Carries out a person's merge or unmerge of patients named by their row ids. The survivor gets all identifiers of the prior patient. */
function applyIdentity(context: ApplyContext, { edit }: IdentityChange): void {
	const [survivor, prior] = [edit.survivor, edit.prior].map((id) => context.set.row('Patient', id));
	if (survivor === undefined || prior === undefined) throw new Failure('not-found', 'one of the patients is not there');
	if (edit.operation === 'unmerge') {
		if (prior.links['merged_into'] !== survivor.id) throw new Failure('key-conflict', 'the two patients are not merged');
		separate(context, prior, survivor);
		return;
	}
	if (survivor.id === prior.id) throw new Failure('key-conflict', 'a patient cannot be merged with itself');
	if (survivor.links['merged_into'] || prior.links['merged_into']) {
		throw new Failure('key-conflict', 'one of the patients is already merged into another patient');
	}
	replace(context, prior, survivor, (resourceOf(prior)['identifier'] ?? []) as Identifier[]);
}

import { survivorBeside } from '#record/identity/survivor.ts';
import type { Change } from '#record/kinds/index.ts';
import type { MergeChange } from '#record/kinds/merge.ts';
import { type Context, failureAt } from '../context.ts';
import type { XmlElement } from '../element.ts';
import { patientChange, requiredIdentifiers } from '../patient.ts';
import type { Interaction } from './interaction.ts';
import { registrations } from './registration.ts';

/**
 * Patient registry duplicates resolved (IHE ITI TF-2 §3.44.4.2): the registered patient survives, the priorRegisteredRole
 * is replaced by it. As ADT^A40 the message only identifies the survivor: one that is known keeps its demographics.
 */
export const duplicatesResolved: Interaction = {
	name: 'PRPA_IN201304UV02',
	meaning: 'duplicates resolved',
	effect: 'Merge, as ADT^A40: see below',
	changes: merges,
};

function merges(message: XmlElement, context: Context): Change[] {
	const changes: Change[] = [];
	for (const { event, patient } of registrations(message)) {
		const ref = changes.length;
		const roles = event.all('replacementOf', 'priorRegistration', 'subject1', 'priorRegisteredRole');
		if (roles.length === 0) {
			const text = 'replacementOf/priorRegistration/subject1/priorRegisteredRole is missing';
			throw failureAt('required-field-missing', event, text);
		}
		const merges = roles.map((role): MergeChange => {
			const prior = requiredIdentifiers(role, role.children('id'), context);
			return { kind: 'merge', survivor: ref, prior, sequence: 1, expression: role.path };
		});
		const survivor = patientChange(patient, ref, 'keep', context);
		changes.push(
			survivorBeside(
				survivor,
				merges.flatMap(({ prior }) => prior),
			),
			...merges,
		);
	}
	return changes;
}

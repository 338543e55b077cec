import type { Failure } from '#core/failure.ts';
import type { IdentityDelivery } from '#record/delivery.ts';
import { type IdentityEdit, type IdentityOutcome, isStudyEdit } from '#record/identity/edit.ts';
import type { Change } from '#record/kinds/index.ts';
import type { Interpretation } from '../interpretation.ts';
import { withheldBy } from '../withheld.ts';
import { defineDelivery } from './definition.ts';

/**
 * A person's decision to merge or separate patients, or to put a study right. It is logged as a message, like the merge that a registration
 * system sends.
 */
export const identity = defineDelivery<'identity'>({ kind: 'identity', interpret });

function interpret(delivery: IdentityDelivery): Interpretation<IdentityOutcome> {
	const edit = JSON.parse(Buffer.from(delivery.bytes).toString('utf8')) as IdentityEdit;
	const withheld = withheldBy(delivery, 'the decision could not be carried out');
	return {
		messageType: `${isStudyEdit(edit) ? 'STUDY' : 'PATIENT'} ${edit.operation.toUpperCase()}`,
		// The versions that it writes lead back to it by this id.
		controlId: delivery.id,
		verdict: withheld
			? { kind: 'refuse', failure: withheld }
			: { kind: 'apply', changeSet: { changes: [changeOf(delivery.id, edit)], flags: [] } },
		logged: 'always',
		patients: edit.identifiers,
		answer: (_outcome, failure) => outcomeOf(failure),
	};
}

function changeOf(id: string, edit: IdentityEdit): Change {
	return isStudyEdit(edit) ? { kind: 'study-edit', id, edit } : { kind: 'identity', edit };
}

function outcomeOf(failure: Failure | undefined): IdentityOutcome {
	return failure === undefined ? { kind: 'done' } : { kind: 'refused', diagnostics: failure.diagnostics };
}

import { Failure } from '#core/failure.ts';
import type { IdentityDelivery } from '#record/delivery.ts';
import type { IdentityEdit, IdentityOutcome } from '#record/identity/edit.ts';
import type { Interpretation } from '../interpretation.ts';
import { defineDelivery } from './definition.ts';

/** A person's decision to merge or separate patients. It is logged as a message, like the merge that a registration system sends. */
export const identity = defineDelivery<'identity'>({ kind: 'identity', interpret });

function interpret(delivery: IdentityDelivery): Interpretation<IdentityOutcome> {
	const edit = JSON.parse(Buffer.from(delivery.bytes).toString('utf8')) as IdentityEdit;
	return {
		messageType: edit.operation === 'merge' ? 'PATIENT MERGE' : 'PATIENT UNMERGE',
		// The versions that it writes lead back to it by this id.
		controlId: delivery.id,
		verdict: delivery.withheld
			? { kind: 'refuse', failure: new Failure('internal', 'the patients could not be merged or told apart') }
			: { kind: 'apply', changeSet: { changes: [{ kind: 'identity', edit }], flags: [] } },
		logged: 'always',
		patients: edit.identifiers,
		answer: (_outcome, failure) => outcomeOf(failure),
	};
}

function outcomeOf(failure: Failure | undefined): IdentityOutcome {
	return failure === undefined ? { kind: 'done' } : { kind: 'refused', diagnostics: failure.diagnostics };
}

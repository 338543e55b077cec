import type { Failure, FailureRecord } from '#core/failure.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { ConflictDelivery } from '#record/delivery.ts';
import type { ConflictDecision, DecisionAnswer } from '#record/instance.ts';
import { namedPatient } from '../data-set-patient.ts';
import type { Interpretation } from '../interpretation.ts';
import { withheldBy } from '../withheld.ts';
import { defineDelivery, type InterpretContext } from './definition.ts';
import { withOffsets } from './instance.ts';

/** A person's decision which of two contents under one UID is the instance. */
export const conflict = defineDelivery<'conflict'>({ kind: 'conflict', interpret });

function interpret(delivery: ConflictDelivery, { hostTimeZone }: InterpretContext): Interpretation<DecisionAnswer> {
	const given = JSON.parse(Buffer.from(delivery.bytes).toString('utf8')) as ConflictDecision;
	const received = given.received && withOffsets(given.received, delivery.settings, hostTimeZone);
	const decision: ConflictDecision = { ...given, received };
	const withheld = withheldBy(delivery, 'the conflict could not be settled');
	return {
		messageType: 'conflict settle',
		controlId: '',
		verdict: withheld
			? { kind: 'refuse', failure: withheld }
			: { kind: 'apply', changeSet: changeSetOf(decision, delivery.settings.default_authority) },
		// A decision is in the audit trail; the log keeps only refusals.
		logged: 'refused',
		answer: (_outcome, failure, { instances }) => {
			const [outcome] = instances;
			const superseded = outcome?.kind === 'replaced' ? outcome.superseded : undefined;
			return { failure: recordOf(failure), superseded };
		},
	};
}

function recordOf(failure: Failure | undefined): FailureRecord | undefined {
	return failure && { code: failure.code, diagnostics: failure.diagnostics };
}

function changeSetOf(
	{ conflictId, by, source, received, isSplit = false }: ConflictDecision,
	defaultAuthority: string | undefined,
): ChangeSet {
	const named = received && namedPatient(received.attributes.patient, defaultAuthority);
	return { changes: [{ kind: 'settlement', conflictId, by, source, named, received, isSplit }], flags: [] };
}

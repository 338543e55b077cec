import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import type { Flag } from '../flag.ts';
import { procedureSteps } from '../holdings/procedure-steps.ts';
import type { ProcedureStep, StepFacts } from '../procedure-step.ts';

/** A report about a performed procedure step (PS3.4 F.7). It holds a function and so never leaves its thread. */
export interface StepReportChange {
	kind: 'step-report';
	sopInstanceUid: string;
	/** The digest of the report's content, however it is written. */
	digest: string;
	/** The message id of the delivery. */
	messageId: string;
	/** See StepReport. */
	source: string;
	/** JSON text of the attributes as the report states them. */
	stated: string;
	/**
	 * Returns the step after the report, or `repeated` when the report equals the last accepted one.
	 * @throws Failure when the step does not allow it
	 */
	compose(held: ProcedureStep | undefined): ComposedStep | 'repeated';
}

export interface ComposedStep extends Pick<ProcedureStep, 'studyUid' | 'status' | 'attributes' | 'late'> {
	facts: StepFacts;
	flags: readonly Flag[];
}

export const stepReportKind = defineChange<StepReportChange>({
	kind: 'step-report',
	keys: ({ sopInstanceUid }, keys) => keys.of(procedureSteps).add(sopInstanceUid),
	apply: applyStepReport,
});

/** @throws Failure when the step does not allow the report */
function applyStepReport(context: ApplyContext, change: StepReportChange): void {
	const held = context.set.of(procedureSteps).step(change.sopInstanceUid);
	const composed = change.compose(held);
	if (composed === 'repeated') {
		if (held === undefined) throw new Error('a report repeats one that is not held');
		context.stepReports.push({ step: held, repeats: held.lastMessageId });
		return;
	}
	const { flags, ...content } = composed;
	const step: ProcedureStep = {
		...content,
		id: held?.id ?? context.newId(),
		sopInstanceUid: change.sopInstanceUid,
		reports: (held?.reports ?? 0) + 1,
		lastDigest: change.digest,
		lastMessageId: change.messageId,
		updatedAt: context.lastUpdated,
	};
	context.flags.push(...flags);
	context.set.of(procedureSteps).put(step, {
		procedureStepId: step.id,
		number: step.reports,
		messageId: change.messageId,
		recordedAt: context.lastUpdated,
		source: change.source,
		status: step.status,
		attributes: change.stated,
	});
	context.stepReports.push({ step, repeats: undefined });
}

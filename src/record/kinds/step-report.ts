import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { type StepStudies, settleStudies } from '../apply/step-studies.ts';
import type { Flag } from '../flag.ts';
import { imaging } from '../holdings/imaging.ts';
import { procedureSteps } from '../holdings/procedure-steps.ts';
import type { ProcedureStep, StepFacts } from '../procedure-step.ts';
import { type PatientChange, patientKind } from './patient.ts';

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
	/** The patient as the report itself names them. */
	named: PatientChange | undefined;
	/** The studies that the report itself names. */
	studies: StepStudies;
	/**
	 * Returns the step after the report, or `repeated` when the report equals the last accepted one.
	 * @throws Failure when the step does not allow it
	 */
	compose(held: ProcedureStep | undefined): ComposedStep | 'repeated';
}

export interface ComposedStep extends Pick<ProcedureStep, 'studyUid' | 'status' | 'attributes' | 'late'> {
	facts: StepFacts;
	flags: readonly Flag[];
	/** The patient of the step, as all reports name them. */
	named: PatientChange | undefined;
	/** False when earlier reports named the patient just so. */
	isNewlyNamed: boolean;
	studies: StepStudies;
}

export const stepReportKind = defineChange<StepReportChange>({
	kind: 'step-report',
	keys({ sopInstanceUid, named, studies: { uids, accession } }, keys) {
		keys.of(procedureSteps).add(sopInstanceUid);
		const images = keys.of(imaging);
		images.steps.add(sopInstanceUid);
		for (const uid of uids) images.studyUids.add(uid);
		if (accession !== undefined) images.accessionNumbers.add(accession);
		if (named !== undefined) patientKind.keys(named, keys, [named]);
	},
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
	const { flags, named, isNewlyNamed, studies, ...content } = composed;
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
	if (named) settleStudies(context, studies, named, isNewlyNamed);
}

import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import type { Flag } from '../flag.ts';
import { procedureSteps } from '../holdings/procedure-steps.ts';
import type { MppsFacts, MppsSession } from '../mpps.ts';

/** A report about a performed procedure step (PS3.4 F.7). It composes, and so never leaves its thread. */
export interface StepReportChange {
	kind: 'step-report';
	sopInstanceUid: string;
	/** Of what the report says, however it is written. */
	digest: string;
	/** Of the delivery. */
	messageId: string;
	/** See MppsReport. */
	source: string;
	/** JSON text of the attributes as the report states them. */
	stated: string;
	/**
	 * The session as it is after the report; `repeated` where it is the last accepted one again.
	 * @throws Failure when the session does not take it
	 */
	compose(held: MppsSession | undefined): ComposedSession | 'repeated';
}

export interface ComposedSession extends Pick<MppsSession, 'studyUid' | 'status' | 'attributes' | 'late'> {
	facts: MppsFacts;
	flags: readonly Flag[];
}

export const stepReportKind = defineChange<StepReportChange>({
	kind: 'step-report',
	keys: ({ sopInstanceUid }, keys) => keys.of(procedureSteps).add(sopInstanceUid),
	apply: applyStepReport,
});

/** @throws Failure when the session does not take the report */
function applyStepReport(context: ApplyContext, change: StepReportChange): void {
	const held = context.set.of(procedureSteps).step(change.sopInstanceUid);
	const composed = change.compose(held);
	if (composed === 'repeated') {
		if (held === undefined) throw new Error('a report repeats one that is not held');
		context.sessions.push({ session: held, repeats: held.lastMessageId });
		return;
	}
	const { flags, ...content } = composed;
	const session: MppsSession = {
		...content,
		id: held?.id ?? context.newId(),
		sopInstanceUid: change.sopInstanceUid,
		reports: (held?.reports ?? 0) + 1,
		lastDigest: change.digest,
		lastMessageId: change.messageId,
		updatedAt: context.lastUpdated,
	};
	context.flags.push(...flags);
	context.set.of(procedureSteps).put(session, {
		sessionId: session.id,
		number: session.reports,
		messageId: change.messageId,
		recordedAt: context.lastUpdated,
		source: change.source,
		status: session.status,
		attributes: change.stated,
	});
	context.sessions.push({ session, repeats: undefined });
}

import type { MppsChange } from '../change-set.ts';
import { procedureSteps } from '../holdings/procedure-steps.ts';
import type { MppsSession } from '../mpps.ts';
import type { ApplyContext } from './context.ts';

/** What became of a report about a procedure step. */
export interface MppsResult {
	session: MppsSession;
	/** The message that the report repeats; nothing has changed then. */
	repeats: string | undefined;
}

/** @throws Failure when the session does not take the report */
export function applyReport(context: ApplyContext, change: MppsChange): void {
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

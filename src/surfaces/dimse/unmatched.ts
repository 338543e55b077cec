import type { AssociationDirectory } from '#access/directory.ts';
import type { Clock } from '#core/clock.ts';
import { newId } from '#core/id.ts';
import { type FeedCounts, unmatchedFeed } from '#storage/feeds/counts.ts';
import type { UnmatchedLog } from '#storage/unmatched.ts';

/** An association that was rejected because nobody knows one of its AE titles. */
export interface UnmatchedAssociation {
	address: string;
	reason: 'called' | 'calling';
	/** AE titles as they were sent; they have the form of one. */
	calledAe: string;
	callingAe: string;
}

/** A modality that nobody knows calls every few seconds, for days. The log of unmatched traffic has it once in this time. */
const againMs = 600_000;
/** Callers that are remembered. Forgetting them only means that they are logged once more. */
const rememberedMax = 1000;

/** Notes rejected associations as unmatched traffic: each is counted, and each caller is logged now and then. */
export function unmatchedAssociations(context: {
	directory: AssociationDirectory;
	unmatched: Pick<UnmatchedLog, 'record'>;
	feeds: Pick<FeedCounts, 'refused'>;
	clock: Clock;
}): (association: UnmatchedAssociation) => void {
	const { directory, unmatched, feeds, clock } = context;
	const logged = new Map<string, number>();
	return ({ address, reason, calledAe, callingAe }) => {
		const nowMs = clock.nowMs();
		const match = directory.matchAssociation(calledAe, callingAe, address);
		const siteId = match.kind === 'calling-refused' ? match.siteId : undefined;
		feeds.refused(siteId, unmatchedFeed, nowMs);
		const caller = `${address}\\${calledAe}\\${callingAe}`;
		if (nowMs - (logged.get(caller) ?? Number.NEGATIVE_INFINITY) < againMs) return;
		if (logged.size >= rememberedMax) logged.clear();
		logged.set(caller, nowMs);
		const what = { id: newId(nowMs), receivedAtMs: nowMs, surface: 'dimse', source: address, reason, siteId, calledAe, callingAe } as const;
		unmatched.record({ ...what, messageType: '', controlId: '', bytes: new Uint8Array(0) });
	};
}

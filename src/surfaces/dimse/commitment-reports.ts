import type { RemoteAeDirectory } from '#access/directory.ts';
import type { Log } from '#core/log.ts';
import type { TargetPolicy } from '#core/target-policy.ts';
import { type Stoppable, systemTimers } from '#core/timers.ts';
import { commitmentReport, commitmentTransferSyntaxes } from '#dicom/commitment.ts';
import type { CommitmentTable, NewCommitment, NotedCommitment } from '#storage/commitments.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import { AssociationError } from './association-error.ts';
import { type OutgoingRequest, statuses } from './command-set.ts';
import { commitmentClass, commitmentInstance } from './commitment.ts';
import { type Judgement, judge } from './commitment-judgement.ts';
import type { CommitmentService } from './context.ts';
import type { DimseLimits } from './limits.ts';
import type { DimseMetrics } from './metrics.ts';
import { requestAssociation } from './requestor.ts';
import type { RequestorTls } from './requestor-tls.ts';
import type { ReturnChannel } from './service.ts';

export interface CommitmentOptions {
	table: CommitmentTable;
	objects: Pick<ObjectStore, 'size' | 'read'>;
	directory: RemoteAeDirectory;
	tls: RequestorTls | undefined;
	targets: TargetPolicy;
	limits: DimseLimits;
	metrics: DimseMetrics;
	log: Log;
}

/** A due report is seen this soon after this node had one, and within eight times as long in any case: others are seldom left behind. */
const pollMs = 500;
const idlePollsMax = 3;
/** The longest pause between two attempts. COMMITMENT_REPORT_MS_MAX says when there are no more. */
const retryMsMax = 600_000;
/** Old requests are removed this often. */
const removeOldMs = 3_600_000;

/** The report could not be delivered; the text is kept with the request. */
class ReportError extends Error {
	override readonly name = 'ReportError';
}

/**
 * Notes requests for storage commitment and reports on them. The report goes over the requestor's own association while it lasts, else
 * over a new one to the remote AE of the calling AE title. It is repeated until the remote AE has accepted it. Any node continues the
 * reports that another node left behind.
 */
export class Commitments implements CommitmentService {
	readonly #options: CommitmentOptions;
	readonly #underWay = new Set<Promise<void>>();
	readonly #closing = new AbortController();
	#polling: Promise<void> = Promise.resolve();
	/** How many polls in a row found nothing. */
	#idlePolls = 0;
	#isPolling = false;
	#timer: Stoppable | undefined;
	#removedOldMs = 0;
	#isFailing = false;

	constructor(options: CommitmentOptions) {
		this.#options = options;
		this.#schedule();
	}

	/** If a node ends in the middle of a report, other nodes wait this long before they take it over. */
	get #heldMs(): number {
		const { dimseConnectMsMax, dimseResponseMsMax } = this.#options.limits;
		return dimseConnectMsMax + dimseResponseMsMax;
	}

	async note(request: NewCommitment): Promise<(channel: ReturnChannel) => void> {
		const { noted, isRepeated } = await this.#options.table.note(request, this.#heldMs);
		this.#options.metrics.commitmentRequests.inc({ outcome: isRepeated ? 'repeated' : 'noted' });
		this.#wake();
		return (channel) => this.#track(this.#attempt(noted, () => this.#overSame(noted, channel), 'same'));
	}

	/** Gives up the reports under way. Another node or the next start continues them. */
	async close(): Promise<void> {
		this.#closing.abort();
		this.#timer?.stop();
		await this.#polling;
		await Promise.all(this.#underWay);
	}

	/** A report may soon be due. */
	#wake(): void {
		const isAsleep = this.#idlePolls > 1;
		this.#idlePolls = 0;
		if (!isAsleep || this.#isPolling) return;
		this.#timer?.stop();
		this.#schedule();
	}

	#schedule(): void {
		if (this.#closing.signal.aborted) return;
		this.#timer = systemTimers.about(pollMs * 2 ** Math.min(idlePollsMax, Math.max(0, this.#idlePolls - 1)), () => {
			this.#isPolling = true;
			this.#polling = this.#poll().then(
				() => {
					this.#isFailing = false;
				},
				(error) => {
					if (!this.#isFailing) this.#options.log.warn({ err: error }, 'requests for storage commitment cannot be looked up');
					this.#isFailing = true;
				},
			);
			void this.#polling.then(() => {
				this.#isPolling = false;
				this.#schedule();
			});
		});
	}

	async #poll(): Promise<void> {
		const { table, limits } = this.#options;
		const room = limits.commitmentReportsMax - this.#underWay.size;
		if (room > 0) {
			const due = await table.claim(room, this.#heldMs);
			this.#idlePolls = due.length > 0 || this.#underWay.size > 0 ? 0 : this.#idlePolls + 1;
			for (const noted of due) this.#track(this.#attempt(noted, () => this.#overNew(noted), 'new'));
		}
		const nowMs = performance.now();
		if (this.#removedOldMs !== 0 && nowMs - this.#removedOldMs < removeOldMs) return;
		await table.removeOld(limits.commitmentAgeMsMax);
		this.#removedOldMs = nowMs;
	}

	#track(work: Promise<void>): void {
		const tracked = work
			.catch((error) => this.#options.log.error({ err: error }, 'a commitment report could not be settled'))
			.finally(() => {
				this.#underWay.delete(tracked);
				// A report that failed may be due again soon.
				this.#wake();
			});
		this.#underWay.add(tracked);
	}

	/** Tries one report and notes the state of the request after it. */
	async #attempt(noted: NotedCommitment, report: () => Promise<Judgement>, association: 'same' | 'new'): Promise<void> {
		const { table, limits, metrics, log } = this.#options;
		const about = { site: noted.siteId, transaction: noted.transactionUid, ae: noted.callingAe };
		try {
			const { committed, refused, outcomes } = await report();
			await table.settle(noted, committed.length, refused.length);
			metrics.commitmentReports.inc({ association, outcome: 'delivered' });
			for (const outcome of outcomes) metrics.commitmentInstances.inc({ outcome });
			if (refused.length > 0)
				log.warn({ ...about, committed: committed.length, refused: refused.length }, 'storage commitment refused in part');
			else log.info({ ...about, committed: committed.length }, 'storage committed');
		} catch (error) {
			const isExpected = error instanceof ReportError || error instanceof AssociationError;
			const failure = isExpected ? error.message : 'the service itself could not make the report';
			// The requestor need not wait for the report. If it did not, that is no failure, and the next try need not wait.
			const isFirst = association === 'same' || this.#closing.signal.aborted;
			const pauseMs = isFirst ? 0 : Math.min(limits.commitmentRetryMs * 2 ** Math.min(noted.attempts - 1, 20), retryMsMax);
			const isGivenUp = await table.postpone(noted, pauseMs, limits.commitmentReportMsMax, failure);
			metrics.commitmentReports.inc({ association, outcome: isGivenUp ? 'given-up' : 'failed' });
			const level = isGivenUp || !isExpected ? 'error' : association === 'same' ? 'debug' : 'warn';
			const what = isGivenUp ? 'a commitment report is given up' : 'a commitment report was not delivered';
			log[level]({ ...about, attempts: noted.attempts, failure, ...(isExpected ? {} : { err: error }) }, what);
		}
	}

	async #judge(noted: NotedCommitment): Promise<Judgement> {
		const { table, objects, log } = this.#options;
		const judgement = await judge(noted, table, objects);
		const damaged = judgement.outcomes.filter((outcome) => outcome === 'damaged').length;
		if (damaged > 0)
			log.error({ site: noted.siteId, damaged }, 'indexed instances are not whole in the object store; see doctor --objects');
		return judgement;
	}

	async #overSame(noted: NotedCommitment, { transferSyntax, request }: ReturnChannel): Promise<Judgement> {
		const judgement = await this.#judge(noted);
		const status = await request(eventReport(judgement), dataSetOf(noted, judgement, transferSyntax));
		if (status === undefined) throw new ReportError('the association ended before the report');
		if (status !== statuses.success) throw new ReportError(refusal(status));
		return judgement;
	}

	async #overNew(noted: NotedCommitment): Promise<Judgement> {
		const { directory, limits, metrics, tls, targets } = this.#options;
		const target = directory.remoteAe(noted.siteId, noted.callingAe);
		if (target === 'unavailable') throw new ReportError('the remote AEs of the site cannot be looked up at the moment');
		if (target === undefined) throw new ReportError(`${noted.callingAe} is not registered as a remote AE of the site`);
		const judgement = await this.#judge(noted);
		const association = await requestAssociation(target, {
			callingAe: noted.calledAe,
			contexts: [{ abstractSyntax: commitmentClass, transferSyntaxes: commitmentTransferSyntaxes }],
			roles: [{ sopClassUid: commitmentClass, scu: false, scp: true }],
			tls,
			targets,
			limits,
			metrics,
			signal: this.#closing.signal,
		});
		try {
			const [context] = association.contexts;
			if (context === undefined) throw new ReportError(`${target.title} accepts no presentation context`);
			// A peer that does not answer the role selection has no other use for this association, so the report is sent all the same.
			const { status } = await association.send(context, eventReport(judgement), [dataSetOf(noted, judgement, context.transferSyntax)]);
			if (status !== statuses.success) throw new ReportError(refusal(status));
		} finally {
			void association.release();
		}
		return judgement;
	}
}

/** Builds the report. Event type 1 means success; 2 means that some failed (PS3.4 §J.3.3). */
function eventReport({ refused }: Judgement): OutgoingRequest {
	const eventTypeId = refused.length === 0 ? 1 : 2;
	return { operation: 'N-EVENT-REPORT', sopClassUid: commitmentClass, sopInstanceUid: commitmentInstance, eventTypeId };
}

function dataSetOf({ transactionUid }: NotedCommitment, { committed, refused }: Judgement, transferSyntax: string): Buffer {
	return commitmentReport(transactionUid, committed, refused, transferSyntax);
}

function refusal(status: number): string {
	return `the report was answered with status 0x${status.toString(16).padStart(4, '0').toUpperCase()}`;
}

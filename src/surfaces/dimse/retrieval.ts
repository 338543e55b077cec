import { writeDataSet } from '#dicom/data-set-writer.ts';
import { selectionOf } from '#dicom/query/information-model.ts';
import { uniqueKeyClauses } from '#dicom/query/plan.ts';
import type { ImagingClause, QueryLevel, RetrievableInstance } from '#record/imaging-query.ts';
import { type SubOperations, statuses } from './command-set.ts';
import type { DimseContext } from './context.ts';
import { outgoing } from './outgoing-instance.ts';
import { type Answer, type Inquiry, isRelational } from './query-retrieve.ts';
import type { Exchange, OutgoingInstance } from './service.ts';

/** The number of instances whose rows are read at a time. */
const pageRows = 100;
const failedSopInstanceUidList = 0x0008_0058;
/** In explicit VR the length of a UI has two bytes. Further UIDs are counted but not listed. */
const listBytesMax = 0xff_fe;

/** The facts about the instances of a retrieval that are known before the first is sent. */
export interface Selection {
	siteId: string;
	level: QueryLevel;
	clauses: readonly ImagingClause[];
}

/** @throws MatchingError when the identifier does not fit the information model */
export function selected({ request, model, identifier }: Inquiry): Selection {
	const { level, keys } = selectionOf(model, identifier, { relational: isRelational(request.extension) });
	return { siteId: request.grant.siteId, level, clauses: uniqueKeyClauses(keys) };
}

/** Counts sub-operations and remembers which of them failed (PS3.4 §C.4.2.1.5 to C.4.2.1.9, C.4.3.1.4 to C.4.3.1.8). */
class Progress {
	readonly counts: Required<Pick<SubOperations, 'completed' | 'failed' | 'warning'>> & { remaining: number };
	#failed = '';

	constructor(total: number) {
		this.counts = { remaining: total, completed: 0, failed: 0, warning: 0 };
	}

	add(outcome: 'completed' | 'failed' | 'warning', sopInstanceUid: string): void {
		this.counts[outcome] += 1;
		this.counts.remaining = Math.max(0, this.counts.remaining - 1);
		if (outcome !== 'failed') return;
		const list = this.#failed === '' ? sopInstanceUid : `${this.#failed}\\${sopInstanceUid}`;
		if (list.length <= listBytesMax) this.#failed = list;
	}

	/** Builds the last response. */
	answer(isCancelled: boolean, { request }: Inquiry): Answer {
		const { remaining, completed, failed, warning } = this.counts;
		const subOperations = { remaining: isCancelled ? remaining : undefined, completed, failed, warning };
		const list = { tag: failedSopInstanceUidList, vr: 'UI', text: this.#failed };
		const dataSet = this.#failed === '' ? undefined : writeDataSet([list], request.transferSyntax, '');
		const problem = failed > 0 || warning > 0 ? statuses.subOperationsFailed : statuses.success;
		const ended = failed > 0 && completed + warning === 0 ? statuses.subOperationsNotPerformed : problem;
		return { status: isCancelled ? statuses.cancelled : ended, subOperations, dataSet };
	}
}

/** Classifies the status of a C-STORE-RSP: 0x0000, a warning (0xB000, 0xB006, 0xB007), or a failure. */
function outcomeOf(status: number | undefined): 'completed' | 'failed' | 'warning' {
	if (status === statuses.success) return 'completed';
	return status !== undefined && status >> 12 === 0xb ? 'warning' : 'failed';
}

/**
 * Sends the selected instances one after the other and reports the progress after each.
 * @param send returns the status of the C-STORE-RSP; undefined when the instance could not be sent
 */
export async function retrieve(
	context: DimseContext,
	operation: 'C-GET' | 'C-MOVE',
	inquiry: Inquiry,
	exchange: Exchange,
	{ siteId, level, clauses, total }: Selection & { total: number },
	send: (instance: OutgoingInstance) => Promise<number | undefined>,
): Promise<Answer> {
	const progress = new Progress(total);
	const studies = new Set<string>();
	let after: readonly string[] | undefined;
	do {
		const page = await context.archive.instances(siteId, clauses, { count: pageRows, after });
		for (const instance of page.instances) {
			if (exchange.cancelled) return { ...progress.answer(true, inquiry), level, studies };
			studies.add(instance.studyUid);
			const outcome = outcomeOf(await sent(context, instance, send));
			progress.add(outcome, instance.sopInstanceUid);
			context.metrics.dimseSubOperations.inc({ operation, outcome });
			if (progress.counts.remaining > 0) await exchange.respond({ status: statuses.pending, subOperations: { ...progress.counts } });
		}
		after = page.next;
	} while (after !== undefined);
	return { ...progress.answer(false, inquiry), level, studies };
}

/** Sends one instance. A failure to read or send it does not stop the others. */
async function sent(
	context: DimseContext,
	instance: RetrievableInstance,
	send: (instance: OutgoingInstance) => Promise<number | undefined>,
): Promise<number | undefined> {
	try {
		return await send(outgoing(context.archive, instance));
	} catch (error) {
		context.log.warn({ err: error, object: instance.objectKey }, 'an instance could not be retrieved');
		return undefined;
	}
}

/** Counts the instances, in total and by kind. */
export async function kindsOf({ archive }: DimseContext, { siteId, clauses }: Selection) {
	const kinds = await archive.kinds(siteId, clauses);
	return { kinds, total: kinds.reduce((sum, { instances }) => sum + instances, 0) };
}

import { workerData } from 'node:worker_threads';
import { logForeignLines } from '#core/foreign-lines.ts';
import { createLog } from '#core/log.ts';
import { Ingest } from '#ingest/worker.ts';
import { deliveriesOf, type IngestTask, type IngestTaskResult, resultOf } from '#site/task.ts';
import { WorkNotes } from '#site/work-notes.ts';

logForeignLines(createLog(workerData.settings.logLevel));
const ingest = new Ingest(workerData.settings);
const notes = new WorkNotes(workerData.notes);
notes.noteThread();

export default async function processBatch(task: IngestTask): Promise<IngestTaskResult> {
	try {
		const result = await ingest.processInOrder(task.lane, deliveriesOf(task), task, notes.of(task.slot));
		if (result === 'behind') return { kind: 'behind' };
		return result === undefined ? { kind: 'unavailable' } : resultOf(result.replies, result.stages);
	} catch (error) {
		return { kind: 'failed', error };
	}
}

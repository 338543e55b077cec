import { workerData } from 'node:worker_threads';
import { Ingest } from '#ingest/worker.ts';
import { deliveriesOf, type IngestTask, type IngestTaskResult, resultOf } from '#site/task.ts';

const ingest = new Ingest(workerData);

export default async function processBatch(task: IngestTask): Promise<IngestTaskResult> {
	const result = await ingest.process(task.lane, deliveriesOf(task));
	return result === undefined ? { kind: 'unavailable' } : resultOf(result.replies, result.stages);
}

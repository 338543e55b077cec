import { workerData } from 'node:worker_threads';
import type { BulkTask } from '#bulk/task.ts';
import { BulkWorker } from '#bulk/worker.ts';
import { logForeignLines } from '#core/foreign-lines.ts';
import { createLog } from '#core/log.ts';

logForeignLines(createLog(workerData.logLevel));
const worker = new BulkWorker(workerData);

export default function runBulkTask(task: BulkTask): ReturnType<BulkWorker['run']> {
	return worker.run(task);
}

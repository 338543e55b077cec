import { workerData } from 'node:worker_threads';
import { deliveriesOf, type IngestTask, type IngestTaskResult, resultOf } from '#site/task.ts';
import { WorkNotes } from '#site/work-notes.ts';
import { replyTo } from './letters.ts';

const notes = new WorkNotes(workerData.notes);
notes.noteThread();
const stages = { interpretMs: 0, readMs: 0, applyMs: 0, writeMs: 0, commitMs: 0, repeats: 0, bisections: 0, beganMs: 0, endedMs: 0 };

/**
 * A worker in whose messages stands how long they keep it busy: so many milliseconds, `ever`, or `exit`, at which its thread ends. `commit`
 * sends a COMMIT whose answer never comes.
 */
export default async function processBatch(task: IngestTask): Promise<IngestTaskResult> {
	const deliveries = deliveriesOf(task);
	const { begin, end, committing } = notes.of(task.slot);
	for (const [index, { bytes, withheld }] of deliveries.entries()) {
		const text = Buffer.from(bytes).toString().trim();
		begin(index);
		if (withheld === undefined) {
			if (text === 'exit') process.exit(1);
			const untilMs = text === 'ever' ? Number.POSITIVE_INFINITY : Number(text) || 0;
			for (const from = process.cpuUsage().user; process.cpuUsage().user - from < untilMs * 1000; ) JSON.parse('[1]');
		}
		end();
		if (text === 'commit' && withheld === undefined) {
			committing();
			await new Promise((resolve) => setTimeout(resolve, 600_000));
		}
	}
	return resultOf(
		deliveries.map((delivery) => ({ ...replyTo(delivery), outcome: delivery.withheld === undefined ? 'accepted' : 'refused' })),
		stages,
	);
}

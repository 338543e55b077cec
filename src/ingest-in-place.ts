import { defaultLimits, type Limits } from '#core/limits.ts';
import { Ingest } from '#ingest/worker.ts';
import type { Delivery, Reply } from '#record/delivery.ts';

/** Processes deliveries in this thread, by the same way as a worker's: how the command line replays messages and writes reports. */
export async function processInPlace(
	databaseUrl: string,
	deliveries: readonly Delivery[],
	limits: Limits = defaultLimits,
): Promise<Reply[]> {
	const ingest = new Ingest({ databaseUrl, limits, logLevel: 'silent', objectsFolder: undefined });
	try {
		const replies: Reply[] = [];
		for (const delivery of deliveries) {
			const result = await ingest.process(0, [delivery]);
			if (result === undefined) throw new Error('the database does not take the message');
			replies.push(...result.replies);
		}
		return replies;
	} finally {
		await ingest.close();
	}
}

import { Ingest, type IngestSettings } from '#ingest/worker.ts';
import type { Delivery, Reply, ReplyTo } from '#record/delivery.ts';
import { defaultLimits } from './limits.ts';

/** Processes a delivery in this thread, in the same way as a worker does: the command line replays messages and writes reports so. */
export async function processInPlace<Sent extends Delivery>(
	databaseUrl: string,
	delivery: Sent,
	limits: IngestSettings['limits'] = defaultLimits,
): Promise<ReplyTo<Sent>> {
	const ingest = new Ingest({ databaseUrl, limits, logLevel: 'silent', objectsFolder: undefined, writer: '' });
	try {
		const result = await ingest.process(0, [delivery]);
		const [reply] = result?.replies ?? [];
		if (reply === undefined) throw new Error('the database does not take the message');
		return reply as ReplyTo<Sent>;
	} finally {
		await ingest.close();
	}
}

/** Processes deliveries of a site, a few at a time and in their order. Undefined stands for those that the database does not take now. */
interface IngestInPlace {
	process(deliveries: readonly Delivery[]): Promise<readonly (Reply | undefined)[]>;
	close(): Promise<void>;
}

export function openInPlace(databaseUrl: string, limits: IngestSettings['limits']): IngestInPlace {
	const ingest = new Ingest({ databaseUrl, limits, logLevel: 'silent', objectsFolder: undefined, writer: '' });
	return {
		process: async (deliveries) => (await ingest.process(0, deliveries))?.replies ?? deliveries.map(() => undefined),
		close: () => ingest.close(),
	};
}

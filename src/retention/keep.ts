import type { Log } from '#core/log.ts';
import { runHealth } from '#storage/statements/administrative/retention-runs.ts';
import type { RetentionMeans } from './means.ts';
import type { RetentionMetrics } from './metrics.ts';
import { runRetention } from './run.ts';

/** A run a day is begun, by whichever node looks first. */
const everySeconds = 86_400;
/** A node looks so often whether one is due, and how the latest one went. */
const lookMs = 600_000;

export interface KeepOptions extends RetentionMeans {
	metrics: RetentionMetrics;
	log: Log;
	/** The time until a node looks first: somebody who has just upgraded can see before what would go. */
	firstMs?: number;
}

/** Carries retention out once a day while it is not closed. A run that fails is noted, logged and shown by a metric; a later one goes on. */
export function keepRetention({ log, firstMs = lookMs, ...means }: KeepOptions): { close(): Promise<void> } {
	let isEnding = false;
	let timer: NodeJS.Timeout;
	let running = Promise.resolve();
	const look = async () => {
		try {
			const order = { by: 'retention', source: null, everySeconds, isEnding: () => isEnding };
			const finished = await runRetention(means, order);
			if (finished !== undefined) log.info({ run: finished.id, removed: finished.removed }, 'retention was carried out');
		} catch (error) {
			log.error({ err: error }, 'retention could not be carried out; it is tried again');
		}
		await showHealth({ ...means, log });
		if (!isEnding) begin(lookMs);
	};
	const begin = (inMs: number) => {
		timer = setTimeout(() => {
			running = look();
		}, inMs).unref();
	};
	// The result of the latest run is shown from the start, so that an alert does not wait.
	running = showHealth({ ...means, log });
	begin(firstMs);
	return {
		async close() {
			isEnding = true;
			clearTimeout(timer);
			await running;
		},
	};
}

async function showHealth({ database, metrics, log }: Pick<KeepOptions, 'database' | 'metrics' | 'log'>): Promise<void> {
	try {
		const [row] = await database.run(runHealth, []);
		metrics.retentionFailing.set(row?.[0] === 't' ? 1 : 0);
		metrics.retentionAge.set(Number(row?.[1] ?? 0));
	} catch (error) {
		log.debug({ err: error }, 'the health of retention could not be read');
	}
}

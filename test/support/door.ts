import { silentLog } from '#core/log.ts';
import { Database } from '#storage/database.ts';
import { defaultLimits, type Limits } from '../../src/limits.ts';
import { createMetrics } from '../../src/metrics.ts';

/** The door of a process to a test's database; the test closes it. */
export function doorTo(url: string, limits: Partial<Limits> = {}): Database {
	return new Database({ url, limits: { ...defaultLimits, ...limits }, metrics: createMetrics({ processMetrics: false }), log: silentLog });
}

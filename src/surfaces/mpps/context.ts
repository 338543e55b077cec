import type { AccessDirectory } from '#access/directory.ts';
import type { Clock } from '#core/clock.ts';
import type { Limits } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import type { Metrics } from '#core/metrics.ts';
import type { SiteGateway } from '#site/gateway.ts';

/** What reports about procedure steps are taken with. */
export interface MppsContext {
	directory: AccessDirectory;
	gateway: SiteGateway;
	limits: Limits;
	metrics: Metrics;
	log: Log;
	clock: Clock;
}

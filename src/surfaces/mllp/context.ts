import type { AccessDirectory, ConnectionDirectory } from '#access/directory.ts';
import type { AccessMetrics } from '#access/metrics.ts';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { Quotas } from '#core/node-line.ts';
import type { DeliveryLimits } from '#record/limits.ts';
import type { DeliveryMetrics } from '#record/metrics.ts';
import type { Tracing } from '#record/tracing.ts';
import type { SiteGateway } from '#site/gateway.ts';
import type { FeedCounts } from '#storage/feeds/counts.ts';
import type { UnmatchedLog } from '#storage/unmatched.ts';
import type { ConnectionRefusal } from '../tcp/reception.ts';
import type { MllpLimits } from './limits.ts';
import type { MllpMetrics } from './metrics.ts';

/** A connection that was turned away, for the log and the audit trail. `address` is the sender's, or the peer's when the sender's is unknown. */
export interface RefusedConnection {
	address: string;
	reason: ConnectionRefusal;
}

/** Everything that the MLLP surface works with. */
export interface MllpContext {
	directory: AccessDirectory & ConnectionDirectory;
	gateway: SiteGateway;
	unmatched: Pick<UnmatchedLog, 'record'>;
	/** Counts messages that are refused here. */
	feeds: Pick<FeedCounts, 'refused'>;
	/** Tells whether a peer is listed in TRUSTED_PROXIES; its connections then begin with a PROXY header. */
	isTrustedProxy(address: string): boolean;
	audit(refused: RefusedConnection): void;
	/** Tells the log of a sender who is known, and was refused for another reason. */
	warn(refused: { address: string; reason: string }): void;
	limits: MllpLimits & DeliveryLimits;
	quotas: Quotas;
	metrics: AccessMetrics & DeliveryMetrics & MllpMetrics;
	log: Log;
	/** Absent while nothing is traced. */
	tracing?: Tracing | undefined;
	clock: Clock;
}

/** The reason why an accepted connection ended; the label of `tributary_mllp_connection_ends_total`. */
export type EndReason =
	| 'peer'
	| 'idle'
	| 'frame-timeout'
	| 'slow-reader'
	| 'unavailable'
	| 'paused'
	| 'address'
	| 'proxy'
	| 'error'
	| 'drained';

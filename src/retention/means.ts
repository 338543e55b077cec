import type { ConnectionPool } from '#storage/connection-pool.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import type { RetentionLimits } from './limits.ts';
import type { RetentionMetrics } from './metrics.ts';

export interface RetentionMeans {
	database: ConnectionPool;
	objects: Pick<ObjectStore, 'remove'>;
	limits: RetentionLimits;
	/** Undefined on the command line, which nobody scrapes. */
	metrics: Pick<RetentionMetrics, 'retentionRows'> | undefined;
	nowMs(): number;
}

export interface RunOrder {
	/** The one who asked: a person, or `retention`. */
	by: string;
	/** The address of a person. */
	source: string | null;
	/** A run that began later than so many seconds ago is enough. */
	everySeconds: number;
	/** True when the process ends: the run stops after the transaction that is under way. */
	isEnding(): boolean;
}

import { Failure } from '#core/failure.ts';
import type { Cell } from '../cell.ts';
import type { StorageMetrics } from '../metrics.ts';
import { WaitedTooLong } from '../read-turns.ts';
import { Reader, type ReaderOptions, type ReadStatement } from '../reader.ts';
import { stateOf } from '../sqlstate.ts';
import { type Position, replayedOf, replayedStatement, sitesOf } from './position.ts';
import type { PrimaryPositions } from './primary-positions.ts';
import type { ReplicaCondition, ReplicaWatch } from './replica-watch.ts';

export interface ReplicaReaderOptions extends ReaderOptions {
	/** Reads what the replica does not have yet, or cannot answer. */
	primary: Reader;
	positions: PrimaryPositions;
	watch: ReplicaWatch;
	metrics: Pick<StorageMetrics, 'readFailures' | 'replicaReads'>;
}

/** PostgreSQL, query_canceled: the read took its time, and would take it again. */
const queryCanceled = '57014';

/**
 * Reads from a replica, and yet sees everything that was committed for its sites before it began, on any node. The replica says beside each answer how
 * far it was; meanwhile the primary says how far it has to be. A replica that is not there yet is waited for, REPLICA_WAIT_MS_MAX at most; then, and
 * where the replica cannot answer, the primary is read.
 */
export class ReplicaReader extends Reader {
	readonly #means: ReplicaReaderOptions;

	constructor(means: ReplicaReaderOptions) {
		super(means);
		this.#means = means;
	}

	/** False if neither of the two can be reached. */
	override get isUp(): boolean {
		return (this.#means.watch.state === 'current' && super.isUp) || this.#means.primary.isUp;
	}

	override get replica(): ReplicaCondition {
		return this.#means.watch.condition();
	}

	override async run(statement: ReadStatement, values: readonly unknown[]): Promise<Cell[][]> {
		const { positions, watch, metrics } = this.#means;
		if (watch.state !== 'current') return this.#ofPrimary(watch.state === 'late' ? 'primary_behind' : 'primary_away', statement, values);
		const asked = positions.needed(sitesOf(values));
		if (watch.isBehind && (await asked) > watch.replayed) return this.#ofPrimary('primary_behind', statement, values);
		const first = await this.#ofReplica(statement, values);
		if (first === undefined) return this.#ofPrimary('primary_away', statement, values);
		const needed = await asked;
		if (first.position >= needed) {
			metrics.replicaReads.inc({ answered: 'replica' });
			return first.rows;
		}
		const second = (await watch.reaches(needed)) ? await this.#ofReplica(statement, values) : undefined;
		if (second === undefined || second.position < needed) return this.#ofPrimary('primary_behind', statement, values);
		metrics.replicaReads.inc({ answered: 'replica_waited' });
		return second.rows;
	}

	/** @returns undefined when the replica does not answer, or not as the primary would: a query may be in the way of what is replayed, or a new table not be there */
	async #ofReplica(statement: ReadStatement, values: readonly unknown[]): Promise<{ position: Position; rows: Cell[][] } | undefined> {
		try {
			const [replayed, rows] = await this.#means.watch.whileThere(this.runBehind(replayedStatement, statement, values));
			return { position: this.#means.watch.saw(replayedOf(replayed)), rows };
		} catch (error) {
			if (error instanceof WaitedTooLong || (error instanceof Failure && stateOf(error.cause) === queryCanceled)) throw error;
			return undefined;
		}
	}

	#ofPrimary(answered: 'primary_behind' | 'primary_away', statement: ReadStatement, values: readonly unknown[]): Promise<Cell[][]> {
		this.#means.metrics.replicaReads.inc({ answered });
		return this.#means.primary.run(statement, values);
	}
}

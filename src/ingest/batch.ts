import type { Clock } from '#core/clock.ts';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { BatchStages } from '#record/batch-stages.ts';
import type { Delivery, Reply } from '#record/delivery.ts';
import { type Connection, troubleOf } from '#storage/connection.ts';
import { findAcceptedMessages, type LoggedMessage, logAccepted, logMessages, type MessageKey } from '#storage/message-log.ts';
import type { ReadSet } from '#storage/read-set.ts';
import { plainArray } from '#storage/statement.ts';
import { findBatch, forgetBatches, insertBatch } from '#storage/statements/committed-batches.ts';
import { takeTurns } from '#storage/statements/take-turns.ts';
import type { WriteSet } from '#storage/write-set.ts';
import type { Interpret, Interpretation } from './interpretation.ts';
import { definitionOf } from './kinds/index.ts';
import { lookUp } from './look-up.ts';
import { digestOf, joined, keysOf, needsLookup, type Prepared, placeAll, segmentsOf } from './prepared.ts';
import { type Settled, settle, sourceOf } from './settlement.ts';

export interface BatchResult {
	replies: Reply[];
	stages: BatchStages;
}

export interface BatchOptions {
	connection: Connection;
	readSet: ReadSet;
	writeSet: WriteSet;
	interpret: Interpret;
	clock: Clock;
	log: Log;
}

/** After these the batch is unavailable to its lane, which has a wait of its own (UNAVAILABLE_MS_MAX). */
const repeatsMax = 8;

/**
 * Processes one batch: many messages of many sites in one transaction, in order, each applied or refused by itself. The replies exist only
 * when
 * the transaction is durable.
 */
export class Batch {
	readonly #options: BatchOptions;
	readonly #stages: BatchStages = { interpretMs: 0, readMs: 0, applyMs: 0, writeMs: 0, repeats: 0, bisections: 0 };

	constructor(options: BatchOptions) {
		this.#options = options;
	}

	/** @throws Failure `unavailable` when the database does not accept the batch; then it is not known that anything is stored */
	async process(deliveries: readonly Delivery[]): Promise<BatchResult> {
		const started = performance.now();
		const prepared = deliveries.flatMap((delivery) => this.#prepare(delivery));
		this.#stages.interpretMs = performance.now() - started;
		const replies = await this.#settle(prepared);
		return { replies: joined(prepared, replies), stages: this.#stages };
	}

	#prepare(delivery: Delivery): Prepared[] {
		const interpretation = this.#options.interpret(delivery);
		const [parts, whole] = 'parts' in interpretation ? [interpretation.parts, interpretation] : [[interpretation], undefined];
		return parts.map((part) => {
			const digest = recognisedBy(delivery, part);
			return { delivery, digest, interpretation: part, whole, poison: undefined, placing: undefined };
		});
	}

	/**
	 * Finds a message whose rows the database refuses by halving, left half first. So order is kept and the other messages are unaffected.
	 */
	async #settle(batch: readonly Prepared[]): Promise<Reply[]> {
		const trouble = await this.#attempt(batch);
		if (Array.isArray(trouble)) return trouble;
		const [first] = batch;
		if (batch.length === 1 && first) {
			if (first.poison) throw new Failure('unavailable', 'the message log does not take the message', { cause: trouble.error });
			this.#options.log.error(
				{ messageId: first.delivery.id, siteId: first.delivery.siteId, sqlState: stateOf(trouble.error) },
				'message refused by the database',
			);
			first.poison = new Failure('internal', 'the message could not be stored', { cause: trouble.error });
			return this.#settle(batch);
		}
		this.#stages.bisections++;
		const middle = batch.length >> 1;
		const left = await this.#settle(batch.slice(0, middle));
		return [...left, ...(await this.#settle(batch.slice(middle)))];
	}

	/** Repeats failures that only need repeating. Returns the replies, or the error that requires halving. */
	async #attempt(batch: readonly Prepared[]): Promise<Reply[] | { error: unknown }> {
		let before: Attempt | undefined;
		for (let repeats = 0; ; repeats++) {
			const attempt: Attempt = { id: newId(), sound: [], settled: [] };
			try {
				return await this.#transact(batch, attempt, before);
			} catch (error) {
				const trouble = troubleOf(error);
				await this.#options.connection.recover();
				if (error instanceof Committed) return repliesOf(error.attempt);
				if (error instanceof Unplaced) continue;
				if (trouble === 'connection') before = attempt;
				if (trouble === 'poison' || trouble === 'other') return { error };
				this.#stages.repeats++;
				// After a lost connection the COMMIT may have happened. The repetition finds out when it has the turns.
				if (repeats === repeatsMax || (trouble === 'connection' && repeats > 0)) {
					throw new Failure('unavailable', 'the database does not take the batch', { cause: error });
				}
				if (trouble === 'repeat') await new Promise((resolve) => setTimeout(resolve, 2 ** repeats * (1 + Math.random())));
			}
		}
	}

	async #transact(batch: readonly Prepared[], attempt: Attempt, before: Attempt | undefined): Promise<Reply[]> {
		const { connection } = this.#options;
		await connection.open();
		const committedAt = new Date(this.#options.clock.nowMs()).toISOString();
		const sent: Promise<unknown>[] = [connection.control('begin')];
		try {
			await this.#carryOut(batch, attempt, before, sent, committedAt);
		} finally {
			// Statements sent after a failed one fail too. The next transaction starts when all have answered.
			await Promise.allSettled(sent);
		}
		return repliesOf(attempt);
	}

	async #carryOut(
		batch: readonly Prepared[],
		attempt: Attempt,
		before: Attempt | undefined,
		sent: Promise<unknown>[],
		committedAt: string,
	): Promise<void> {
		const { connection } = this.#options;
		const { settled } = attempt;
		const turns = this.#takeTurns(batch);
		if (before) await this.#refuseCommitted(batch, before, turns);
		const accepted = findAcceptedMessages(connection, batch.filter((message) => message.interpretation.controlId !== '').map(keyOf));
		sent.push(turns, accepted);
		for (const segment of segmentsOf(batch)) {
			const started = performance.now();
			const [first] = segment;
			if (first && segment.length === 1 && needsLookup(first)) await lookUp(first, connection, this.#options.readSet);
			const reads = this.#options.readSet.read(connection, keysOf(segment));
			sent.push(reads);
			// While the database reads and writes, so does the disk.
			connection.flush();
			void placeAll(segment);
			const [sets, sequences, earlier] = await Promise.all([reads, turns, accepted]);
			const read = performance.now();
			for (const message of segment) {
				if (message.poison === undefined) attempt.sound.push(message);
				const { siteId } = message.delivery;
				const set = sets.get(siteId);
				if (set === undefined) throw new Error('a site of the batch was not read');
				const sequence = sequences.next(siteId);
				settled.push(
					settle(message, {
						accepted: earlier,
						set,
						sequence,
						lastUpdated: committedAt,
						onBug: (error) => this.#reportBug(error, message),
					}),
				);
			}
			this.#stages.readMs += read - started;
			this.#stages.applyMs += performance.now() - read;
			const source = segment[0] ? sourceOf(segment[0]) : '';
			sent.push(this.#options.writeSet.write(connection, sets, source, committedAt));
		}
		const siteId = batch[0]?.delivery.siteId;
		if (siteId !== undefined) sent.push(connection.run(insertBatch, [siteId, attempt.id, committedAt]));
		if (siteId !== undefined && Math.random() < 0.001) sent.push(connection.run(forgetBatches, [siteId, committedAt]));
		await this.#commit(batch, attempt, sent, committedAt);
	}

	/** The holder of the sites' turns knows that an earlier transaction on them has ended, either way. */
	async #refuseCommitted(batch: readonly Prepared[], before: Attempt, turns: Promise<unknown>): Promise<void> {
		await turns;
		const rows = await this.#options.connection.run(findBatch, [batch[0]?.delivery.siteId, before.id]);
		if (rows.length > 0) throw new Committed(before);
	}

	async #commit(batch: readonly Prepared[], { settled, sound }: Attempt, sent: Promise<unknown>[], committedAt: string): Promise<void> {
		const { connection } = this.#options;
		const started = performance.now();
		const logged = settled.map((message) => message.logged).filter((message) => message !== undefined);
		if (logged.length > 0) sent.push(logMessages(connection, logged, committedAt));
		const accepted = logged.filter(isRecognisable);
		if (accepted.length > 0) sent.push(logAccepted(connection, accepted, committedAt));
		// A statement that fails meanwhile is reported by the promises awaited below.
		for (const statement of sent) statement.catch(() => undefined);
		await placeAll(batch);
		if (sound.some(({ poison }) => poison !== undefined)) throw new Unplaced();
		const commit = connection.control('commit');
		const [command] = await Promise.all([commit, ...sent]);
		// PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and no error.
		if (command !== 'COMMIT') throw new Error(`the transaction ended with ${command}`);
		this.#stages.writeMs += performance.now() - started;
	}

	async #takeTurns(batch: readonly Prepared[]): Promise<Sequences> {
		const counts = new Map<string, number>();
		for (const { delivery } of batch) counts.set(delivery.siteId, (counts.get(delivery.siteId) ?? 0) + 1);
		const rows = await this.#options.connection.run(takeTurns, [plainArray([...counts.keys()]), plainArray([...counts.values()])]);
		return new Sequences(
			rows.map(([siteId, last]) => [siteId as string, BigInt(last as string) - BigInt(counts.get(siteId as string) ?? 0)]),
		);
	}

	#reportBug(error: unknown, { delivery }: Prepared): void {
		this.#options.log.error({ err: error, messageId: delivery.id, siteId: delivery.siteId }, 'message could not be processed');
	}
}

/** One transaction of a batch and its decisions. They are true only after the commit. */
interface Attempt {
	id: string;
	/** Messages with no known fault when they were applied. */
	sound: Prepared[];
	settled: Settled[];
}

function repliesOf({ settled }: Attempt): Reply[] {
	return settled.map(({ reply }) => reply);
}

/** An object could not be stored although its row was written meanwhile. Its message is refused when the batch is repeated. */
class Unplaced extends Error {}

/** The transaction whose answer was lost had been committed. */
class Committed extends Error {
	readonly attempt: Attempt;

	constructor(attempt: Attempt) {
		super('the batch was committed before');
		this.attempt = attempt;
	}
}

/** Hands out each site's numbers in the order of its messages. */
class Sequences {
	readonly #last: Map<string, bigint>;

	constructor(entries: [string, bigint][]) {
		this.#last = new Map(entries);
	}

	next(siteId: string): bigint {
		const next = (this.#last.get(siteId) ?? 0n) + 1n;
		this.#last.set(siteId, next);
		return next;
	}
}

/** Returns the digest by which a repeated delivery is recognised, beside its control id. Empty without a control id. */
function recognisedBy({ kind, bytes, id }: Delivery, { controlId }: Interpretation): string {
	if (controlId === '') return '';
	return definitionOf(kind).recognisedBy === 'delivery' ? id : digestOf(bytes);
}

function keyOf({ delivery, interpretation, digest }: Prepared): MessageKey {
	return { siteId: delivery.siteId, clientId: delivery.clientId, controlId: interpretation.controlId, digest };
}

/** Tells whether a message has a control id, without which a repetition cannot be recognised. */
function isRecognisable(message: LoggedMessage): boolean {
	return (message.outcome === 'accepted' || message.outcome === 'ignored') && message.controlId !== '';
}

function stateOf(error: unknown): string {
	const state = (error as { code?: unknown }).code;
	return typeof state === 'string' ? state : 'unknown';
}

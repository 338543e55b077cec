import type { Clock } from '#core/clock.ts';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { BatchStages } from '#record/batch-stages.ts';
import type { Delivery, Reply } from '#record/delivery.ts';
import { siteAuthorities } from '#record/holdings/site-authorities.ts';
import type { Authorities } from '#record/identity/authorities.ts';
import type { AuthorityCache } from '#storage/authorities.ts';
import type { Connection } from '#storage/connection.ts';
import { findAcceptedMessages, type LogForm, type LoggedMessage, logAccepted, logMessages, type MessageKey } from '#storage/message-log.ts';
import type { ReadSet } from '#storage/read-set.ts';
import { checkCommitted, isConsequence, stateOf, type Trouble } from '#storage/sqlstate.ts';
import { plainArray } from '#storage/statement.ts';
import { findBatch, forgetBatches, insertBatch } from '#storage/statements/committed-batches.ts';
import { takeTurns } from '#storage/statements/take-turns.ts';
import { Again, transact, WasCommitted } from '#storage/transact.ts';
import type { WriteSet } from '#storage/write-set.ts';
import type { Interpret, Interpretation } from './interpretation.ts';
import { definitionOf } from './kinds/index.ts';
import { lookUp } from './look-up.ts';
import { digestOf, keysOf, needsLookup, type Prepared, placeAll, repliesOf, segmentsOf } from './prepared.ts';
import { type Settled, settle, sourceOf } from './settlement.ts';

export interface BatchResult {
	/** In the order of the deliveries. Undefined where a message was not carried out: it keeps its place before the later ones of its site. */
	replies: (Reply | undefined)[];
	stages: BatchStages;
}

export interface BatchOptions {
	connection: Connection;
	readSet: ReadSet;
	writeSet: WriteSet;
	/** Kept from batch to batch. */
	authorities: AuthorityCache;
	interpret: Interpret;
	clock: Clock;
	log: Log;
	/** How long the same messages are tried again before the database counts as away. */
	patienceMs: number;
}

/** After these the batch is unavailable to its lane, which has a wait of its own (UNAVAILABLE_MS_MAX). */
const repeatsMax = 8;

/** The next form in which a message is logged, after the log refused the one before. */
const shorterForm: Readonly<Record<LogForm, LogForm | undefined>> = { whole: 'cut', cut: 'bare', bare: undefined };

/**
 * Processes one batch: many messages of many sites in one transaction, in order, each applied or refused by itself. The replies exist only
 * when the transaction is durable.
 */
export class Batch {
	readonly #options: BatchOptions;
	/** Sites of messages that were not carried out: what comes behind them waits. */
	readonly #held = new Set<string>();
	readonly #stages: BatchStages = { interpretMs: 0, readMs: 0, applyMs: 0, writeMs: 0, repeats: 0, bisections: 0 };

	constructor(options: BatchOptions) {
		this.#options = options;
	}

	/** @throws Failure `unavailable` when the database takes nothing of the batch; nothing is known to be stored then */
	async process(deliveries: readonly Delivery[]): Promise<BatchResult> {
		const started = performance.now();
		const prepared = deliveries.flatMap((delivery) => this.#prepare(delivery));
		this.#stages.interpretMs = performance.now() - started;
		try {
			await this.#settle(prepared);
		} catch (error) {
			// Messages that were committed before the database went away are answered.
			if (!(error instanceof Failure) || prepared.every(({ reply }) => reply === undefined)) throw error;
		}
		return { replies: repliesOf(prepared), stages: this.#stages };
	}

	#prepare(delivery: Delivery): Prepared[] {
		const interpretation = this.#options.interpret(delivery);
		const [parts, whole] = 'parts' in interpretation ? [interpretation.parts, interpretation] : [[interpretation], undefined];
		return parts.map((part) => {
			const digest = recognisedBy(delivery, part);
			return { delivery, digest, interpretation: part, whole, poison: undefined, loggedAs: 'whole', reply: undefined, placing: undefined };
		});
	}

	#settle(batch: readonly Prepared[]): Promise<void> {
		return transact<Prepared, Attempt>(batch, {
			attempt: (messages, unsure, committing) => this.#attempt(messages, unsure, committing),
			recover: (trouble) => this.#options.connection.recover(trouble),
			conclude: (messages, { settled }) => {
				for (const [index, message] of messages.entries()) message.reply = settled[index]?.reply;
			},
			refuse: (message, trouble, error) => this.#refuse(message, trouble, error),
			isHeld: ({ delivery }) => this.#held.size > 0 && this.#held.has(delivery.siteId),
			pauseMs: (trouble, repeats, elapsedMs) => this.#pauseMs(trouble, repeats, elapsedMs),
			repeated: () => {
				this.#stages.repeats++;
			},
			halved: () => {
				this.#stages.bisections++;
			},
		});
	}

	#pauseMs(trouble: Trouble, repeats: number, elapsedMs: number): number | undefined {
		// After a lost connection the COMMIT may have happened: one repeat finds that out when it has the turns.
		if (trouble === 'connection') return repeats === 0 ? 0 : undefined;
		if (repeats === repeatsMax || elapsedMs > this.#options.patienceMs) return undefined;
		return 2 ** repeats * (1 + Math.random());
	}

	/**
	 * A message that failed alone. Where the database refuses its rows it is refused, and logged so; where the log does not take it
	 * either, the log gets less of it. Where nobody knows why, it is not answered: it may be no fault of the message.
	 */
	#refuse(message: Prepared, trouble: 'row' | 'unknown', error: unknown): 'again' | 'done' {
		const { delivery, interpretation, whole } = message;
		const { log } = this.#options;
		const about = { messageId: delivery.id, siteId: delivery.siteId, sqlState: stateOf(error) ?? 'unknown' };
		// A part cannot wait by itself: those before it are carried out.
		if (trouble === 'unknown' && whole === undefined) {
			log.error({ ...about, err: error }, 'message not stored, the reason is not known; its site waits');
			this.#held.add(delivery.siteId);
			return 'done';
		}
		if (message.poison === undefined && interpretation.verdict.kind !== 'refuse') {
			log.error(about, 'message refused by the database');
			message.poison = new Failure('internal', 'the message could not be stored', { cause: error });
			return 'again';
		}
		const form = shorterForm[message.loggedAs];
		log.error({ ...about, form }, 'the message log does not take a message');
		if (form === undefined) {
			this.#held.add(delivery.siteId);
			return 'done';
		}
		message.loggedAs = form;
		return 'again';
	}

	async #attempt(batch: readonly Prepared[], unsure: Attempt | undefined, committing: (attempt: Attempt) => void): Promise<Attempt> {
		const { connection } = this.#options;
		await connection.open();
		const attempt: Attempt = { id: newId(), sound: [], settled: [] };
		const committedAt = new Date(this.#options.clock.nowMs()).toISOString();
		const sent: Promise<unknown>[] = [connection.control('begin')];
		try {
			await this.#carryOut(batch, attempt, unsure, sent, committedAt);
			await this.#commit(batch, attempt, sent, committedAt, committing);
			return attempt;
		} catch (error) {
			// Statements that were sent behind a failed one fail too; the next transaction starts when all have answered.
			throw causeOf(error, await Promise.allSettled(sent));
		}
	}

	async #carryOut(
		batch: readonly Prepared[],
		attempt: Attempt,
		unsure: Attempt | undefined,
		sent: Promise<unknown>[],
		committedAt: string,
	): Promise<void> {
		const { connection } = this.#options;
		const { settled } = attempt;
		const turns = this.#takeTurns(batch);
		if (unsure) await this.#refuseCommitted(batch, unsure, turns);
		const accepted = findAcceptedMessages(connection, batch.filter(isNamed).map(keyOf));
		sent.push(turns, accepted);
		let authorities: Map<string, Authorities> | undefined;
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
			authorities ??= await this.#options.authorities.of(connection, sequences.authorityVersions);
			for (const [siteId, known] of authorities) sets.get(siteId)?.of(siteAuthorities).use(known);
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
			// What this segment learns, the next one knows; it is not kept beyond the transaction, which may fail.
			for (const [siteId, set] of sets) {
				const learned = set.held(siteAuthorities);
				if (learned !== undefined && learned.changed.length > 0) authorities.set(siteId, learned.known);
			}
			this.#stages.readMs += read - started;
			this.#stages.applyMs += performance.now() - read;
			const source = segment[0] ? sourceOf(segment[0]) : '';
			sent.push(this.#options.writeSet.write(connection, sets, source, committedAt));
		}
		const siteId = batch[0]?.delivery.siteId;
		if (siteId !== undefined) sent.push(connection.run(insertBatch, [siteId, attempt.id, committedAt]));
		if (siteId !== undefined && Math.random() < 0.001) sent.push(connection.run(forgetBatches, [siteId, committedAt]));
	}

	/** Whoever holds the sites' turns knows that an earlier transaction on them has ended, one way or the other. */
	async #refuseCommitted(batch: readonly Prepared[], unsure: Attempt, turns: Promise<unknown>): Promise<void> {
		await turns;
		const rows = await this.#options.connection.run(findBatch, [batch[0]?.delivery.siteId, unsure.id]);
		if (rows.length > 0) throw new WasCommitted();
	}

	async #commit(
		batch: readonly Prepared[],
		attempt: Attempt,
		sent: Promise<unknown>[],
		committedAt: string,
		committing: (attempt: Attempt) => void,
	): Promise<void> {
		const { settled, sound } = attempt;
		const { connection } = this.#options;
		const started = performance.now();
		const logged = settled.map((message) => message.logged).filter((message) => message !== undefined);
		if (logged.length > 0) sent.push(logMessages(connection, logged, committedAt));
		const accepted = logged.filter(isRecognisable);
		if (accepted.length > 0) sent.push(logAccepted(connection, accepted, committedAt));
		// A statement that fails meanwhile is reported by the promises awaited below.
		for (const statement of sent) statement.catch(() => undefined);
		await placeAll(batch);
		if (sound.some(({ poison }) => poison !== undefined)) throw new Again('an object was not placed');
		committing(attempt);
		const commit = connection.control('commit');
		const [command] = await Promise.all([commit, ...sent]);
		checkCommitted(command);
		this.#stages.writeMs += performance.now() - started;
	}

	async #takeTurns(batch: readonly Prepared[]): Promise<Sequences> {
		const counts = new Map<string, number>();
		for (const { delivery } of batch) counts.set(delivery.siteId, (counts.get(delivery.siteId) ?? 0) + 1);
		const rows = await this.#options.connection.run(takeTurns, [plainArray([...counts.keys()]), plainArray([...counts.values()])]);
		return new Sequences(
			rows.map(([siteId, last]) => [siteId as string, BigInt(last as string) - BigInt(counts.get(siteId as string) ?? 0)]),
			new Map(rows.map(([siteId, , version]) => [siteId as string, version as string])),
		);
	}

	#reportBug(error: unknown, { delivery }: Prepared): void {
		this.#options.log.error({ err: error, messageId: delivery.id, siteId: delivery.siteId }, 'message could not be processed');
	}
}

/** One transaction of a batch and its decisions. They are true only after the commit. */
interface Attempt {
	id: string;
	/** Messages that nothing was known against when they were applied; an object that is not placed meanwhile makes them refused. */
	sound: Prepared[];
	settled: Settled[];
}

/** Hands out each site's numbers in the order of its messages. */
class Sequences {
	readonly #last: Map<string, bigint>;
	/** Numbers of the state of the sites' authorities. */
	readonly authorityVersions: ReadonlyMap<string, string>;

	constructor(entries: [string, bigint][], authorityVersions: ReadonlyMap<string, string>) {
		this.#last = new Map(entries);
		this.authorityVersions = authorityVersions;
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

/** A statement behind the one that failed may be heard of first: it only says that the transaction had failed. */
function causeOf(error: unknown, sent: readonly PromiseSettledResult<unknown>[]): unknown {
	if (!isConsequence(error)) return error;
	const failed = sent.filter((statement) => statement.status === 'rejected').map(({ reason }): unknown => reason);
	return failed.find((reason) => !isConsequence(reason)) ?? error;
}

/** Tells whether the message can be recognised when it comes again. A message that is logged only in part is not looked up. */
function isNamed({ interpretation, loggedAs }: Prepared): boolean {
	return interpretation.controlId !== '' && loggedAs === 'whole';
}

function keyOf({ delivery, interpretation, digest }: Prepared): MessageKey {
	return { siteId: delivery.siteId, clientId: delivery.clientId, controlId: interpretation.controlId, digest };
}

/** Tells whether a message has a control id, without which a repetition cannot be recognised. */
function isRecognisable(message: LoggedMessage): boolean {
	return (message.outcome === 'accepted' || message.outcome === 'ignored') && message.controlId !== '';
}

import { setImmediate } from 'node:timers/promises';
import type { Clock } from '#core/clock.ts';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import { steadyMs } from '#core/timers.ts';
import { type BatchNotes, noNotes } from '#record/batch-notes.ts';
import type { BatchStages } from '#record/batch-stages.ts';
import { type Delivery, idsOf, type Reply } from '#record/delivery.ts';
import { siteAuthorities } from '#record/holdings/site-authorities.ts';
import type { Authorities } from '#record/identity/authorities.ts';
import type { AuthorityCache } from '#storage/authorities.ts';
import type { Connection, StatementRunner } from '#storage/connection.ts';
import type { ForeseenTransaction, Foresight } from '#storage/foresight.ts';
import { findAcceptedMessages, type LogForm, logAccepted, logMessages } from '#storage/message-log.ts';
import type { ReadSet } from '#storage/read-set.ts';
import { checkCommitted, isTurnClosed, stateOf, type Trouble } from '#storage/sqlstate.ts';
import { plainArray } from '#storage/statement.ts';
import { findBatch, forgetBatches, insertBatch } from '#storage/statements/committed-batches.ts';
import { takeTurns } from '#storage/statements/take-turns.ts';
import { Again, transact, WasCommitted } from '#storage/transact.ts';
import type { WriteSet } from '#storage/write-set.ts';
import { type Attempt, causeOf, Sent, Sequences } from './attempt.ts';
import type { Interpret } from './interpretation.ts';
import { definitionOf } from './kinds/index.ts';
import { lookUp } from './look-up.ts';
import { isNamed, keyOf, keysOf, needsLookup, type Prepared, placeAll, repliesOf, segmentsOf } from './prepared.ts';
import { isRecognisable, recognisedBy } from './recognition.ts';
import { failRehearsal, isRehearsal, isRehearsed, partsOf } from './rehearsal.ts';
import { settle, sourceOf } from './settlement.ts';
import { Slices } from './slices.ts';

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
	/** Kept from batch to batch; without it every batch waits for what it reads. */
	foresight?: Foresight;
	interpret: Interpret;
	clock: Clock;
	log: Log;
	notes?: BatchNotes;
	/** Other sites send to the thread, so the work on the batch is divided into slices. */
	inSlices?: boolean;
	/** How long the same messages are tried again before the database counts as away. */
	patienceMs: number;
}

/** After these the batch is unavailable to its lane, which has a wait of its own (UNAVAILABLE_MS_MAX). */
const repeatsMax = 8;

/** The pause while it is not known whether a COMMIT has happened: a server that starts again does so in some seconds. */
const unsurePauseMsMax = 500;

/** The next form in which a message is logged, after the log refused the one before. */
const shorterForm: Readonly<Record<LogForm, LogForm | undefined>> = { whole: 'cut', cut: 'bare', bare: undefined };

/**
 * Processes one batch: many messages of many sites in one transaction, in order, each applied or refused by itself. The replies exist only
 * when the transaction is durable.
 */
export class Batch {
	readonly #options: BatchOptions;
	readonly #notes: BatchNotes;
	readonly #inSlices: boolean;
	/** Sites of messages that were not carried out: what comes behind them waits. */
	readonly #held = new Set<string>();
	/** False when what was expected did not hold: then the batch waits for what it reads. */
	#mayGuess = true;
	readonly #stages: BatchStages = {
		...{ interpretMs: 0, readMs: 0, applyMs: 0, writeMs: 0, commitMs: 0 },
		...{ repeats: 0, bisections: 0, beganMs: steadyMs(), endedMs: 0 },
	};

	constructor(options: BatchOptions) {
		this.#options = options;
		this.#notes = options.notes ?? noNotes;
		this.#inSlices = options.inSlices ?? false;
	}

	/** @throws Failure `unavailable` when the database takes nothing of the batch; nothing is known to be stored then */
	async process(deliveries: readonly Delivery[]): Promise<BatchResult> {
		return this.#carryOutAll(deliveries, await this.#prepareAll(deliveries, new Slices(this.#inSlices)));
	}

	/**
	 * Interprets the messages while the batch before is carried out. `before` resolves when that has ended, true if all of it was carried out;
	 * otherwise nothing of this one is: `behind`.
	 * @throws Failure as `process` does
	 */
	async processBehind(deliveries: readonly Delivery[], before: Promise<boolean>): Promise<BatchResult | 'behind'> {
		// The batch before goes on as soon as the database answers it.
		await setImmediate();
		const prepared = await this.#prepareAll(deliveries, new Slices(true));
		return (await before) ? this.#carryOutAll(deliveries, prepared) : 'behind';
	}

	async #carryOutAll(deliveries: readonly Delivery[], prepared: readonly Prepared[]): Promise<BatchResult> {
		try {
			// Rehearsals come after the messages that are stored, so they meet the state that those leave.
			const written = deliveries.some(isRehearsal) ? prepared.filter(({ delivery }) => !isRehearsal(delivery)) : prepared;
			// A batch of nothing finds out whether the database is there; it writes nothing, so it does not find out about a full disk.
			if (written.length > 0 || deliveries.length === 0) await this.#settle(written);
			if (written !== prepared) for (const delivery of deliveries.filter(isRehearsal)) await this.#settle(partsOf(prepared, delivery));
		} catch (error) {
			// Messages that were committed before the database went away are answered.
			if (!(error instanceof Failure) || prepared.every(({ reply }) => reply === undefined)) throw error;
		}
		this.#stages.endedMs = steadyMs();
		return { replies: repliesOf(prepared), stages: this.#stages };
	}

	async #prepareAll(deliveries: readonly Delivery[], slices: Slices): Promise<Prepared[]> {
		const prepared: Prepared[] = [];
		for (const [index, delivery] of deliveries.entries()) {
			if (slices.isOver()) await slices.next();
			prepared.push(...this.#prepare(delivery, index));
		}
		this.#stages.interpretMs += slices.workedMs();
		return prepared;
	}

	#prepare(delivery: Delivery, index: number): Prepared[] {
		return this.#noted(() => this.#interpreted(delivery, index), index);
	}

	#interpreted(delivery: Delivery, index: number): Prepared[] {
		const interpretation = this.#options.interpret(delivery);
		const [parts, whole] = 'parts' in interpretation ? [interpretation.parts, interpretation] : [[interpretation], undefined];
		return parts.map((part) => {
			const digest = recognisedBy(delivery, part);
			return {
				delivery,
				index,
				digest,
				interpretation: part,
				whole,
				poison: undefined,
				loggedAs: 'whole',
				reply: undefined,
				placing: undefined,
			};
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
			pauseMs: (trouble, repeats, elapsedMs, isUnsure) => this.#pauseMs(trouble, repeats, elapsedMs, isUnsure),
			repeated: () => {
				this.#stages.repeats++;
			},
			halved: () => {
				this.#stages.bisections++;
			},
		});
	}

	#pauseMs(trouble: Trouble, repeats: number, elapsedMs: number, isUnsure: boolean): number | undefined {
		if (repeats === 0 && trouble === 'connection') return 0;
		if (elapsedMs > this.#options.patienceMs) return undefined;
		// The COMMIT may have happened, and the next attempt that has the turns finds that out. If it were left to the lane to hand the batch over
		// again, nobody would ask, and what cannot be recognised would be stored twice.
		const pauseMs = 2 ** repeats * (1 + Math.random());
		if (isUnsure) return Math.min(unsurePauseMsMax, pauseMs);
		return trouble === 'connection' || repeats === repeatsMax ? undefined : pauseMs;
	}

	/**
	 * A message that failed alone. Where the database refuses its rows it is refused, and logged so; where the log does not take it
	 * either, the log gets less of it. Where nobody knows why, it is not answered: it may be no fault of the message.
	 */
	#refuse(message: Prepared, trouble: 'row' | 'unknown', error: unknown): 'again' | 'done' {
		const { delivery, interpretation, whole } = message;
		if (isRehearsal(delivery)) return failRehearsal(message, error);
		const { log } = this.#options;
		const about = { ...idsOf(delivery), sqlState: stateOf(error) ?? 'unknown' };
		// A part cannot wait by itself: those before it are carried out.
		if (trouble === 'unknown' && whole === undefined) {
			if (isTurnClosed(error)) log.warn(about, 'message not stored: its site is closed while it moves to another database, and waits');
			else log.error({ ...about, err: error }, 'message not stored, the reason is not known; its site waits');
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
		const sent = new Sent();
		sent.push(connection.control('begin'));
		const foreseen = this.#foreseen(batch, unsure !== undefined);
		try {
			await this.#carryOut(batch, attempt, unsure, sent, committedAt, foreseen);
			if (isRehearsed(batch)) return await this.#takeBack(attempt, sent);
			await this.#commit(batch, attempt, sent, committedAt, committing, foreseen);
			await foreseen?.learn();
			return attempt;
		} catch (error) {
			// Statements that were sent behind a failed one fail too; the next transaction starts when all have answered.
			const answers = await Promise.allSettled(sent.statements);
			if (!(await foreseen?.wasWrong())) throw causeOf(error, answers);
			this.#mayGuess = false;
			throw new Again('the database had other rows than were expected');
		}
	}

	/** Several messages at once seldom read what those before them read. */
	#foreseen(batch: readonly Prepared[], isUnsure: boolean): ForeseenTransaction | undefined {
		const [first] = batch;
		if (first === undefined || batch.length > 1 || isRehearsed(batch) || definitionOf(first.delivery.kind).isForeseen !== true)
			return undefined;
		return this.#options.foresight?.begin(this.#options.connection, this.#mayGuess && !isUnsure);
	}

	async #carryOut(
		batch: readonly Prepared[],
		attempt: Attempt,
		unsure: Attempt | undefined,
		sent: Sent,
		committedAt: string,
		foreseen: ForeseenTransaction | undefined,
	): Promise<void> {
		const { connection } = this.#options;
		const { settled } = attempt;
		const turns = this.#takeTurns(batch, foreseen ?? connection);
		if (unsure) await this.#refuseCommitted(batch, unsure, turns);
		const accepted = findAcceptedMessages(connection, batch.filter(isNamed).map(keyOf));
		sent.push(turns);
		sent.push(accepted);
		let authorities: Map<string, Authorities> | undefined;
		for (const segment of segmentsOf(batch)) {
			const started = performance.now();
			const [first] = segment;
			if (first && segment.length === 1 && needsLookup(first)) await lookUp(first, connection, this.#options.readSet);
			const reads = this.#noted(() => this.#options.readSet.read(foreseen ?? connection, keysOf(segment)));
			sent.push(reads);
			// While the database reads and writes, so does the disk. What is foreseen goes with what follows from it.
			if (foreseen?.isForeseen !== true) connection.flush();
			if (!isRehearsed(batch)) void placeAll(segment);
			const [sets, sequences, earlier] = await Promise.all([reads, turns, accepted]);
			authorities ??= await this.#options.authorities.of(connection, sequences.authorityVersions);
			for (const [siteId, known] of authorities) sets.get(siteId)?.of(siteAuthorities).use(known);
			const read = performance.now();
			const slices = new Slices(this.#inSlices);
			for (const message of segment) {
				if (slices.isOver()) await slices.next();
				if (message.poison === undefined) attempt.sound.push(message);
				const { siteId } = message.delivery;
				const set = sets.get(siteId);
				if (set === undefined) throw new Error('a site of the batch was not read');
				const sequence = sequences.next(siteId);
				const context = {
					accepted: earlier,
					set,
					sequence,
					lastUpdated: committedAt,
					onBug: (error: unknown) => this.#reportBug(error, message),
				};
				settled.push(this.#noted(() => settle(message, context), message.index));
			}
			// What this segment learns, the next one knows; it is not kept beyond the transaction, which may fail.
			for (const [siteId, set] of sets) {
				const learned = set.held(siteAuthorities);
				if (learned !== undefined && learned.changed.length > 0) authorities.set(siteId, learned.known);
			}
			this.#stages.readMs += read - started;
			this.#stages.applyMs += slices.workedMs();
			if (isRehearsed(batch)) continue;
			const source = segment[0] ? sourceOf(segment[0]) : '';
			const { parts, done } = this.#options.writeSet.inParts(foreseen?.writing ?? connection, sets, source, committedAt);
			for (const send of parts) {
				this.#noted(send);
				if (slices.isOver()) await slices.next();
			}
			sent.push(done());
		}
		const siteId = isRehearsed(batch) ? undefined : batch[0]?.delivery.siteId;
		if (siteId !== undefined) sent.push(connection.run(insertBatch, [siteId, attempt.id, committedAt]));
		if (siteId !== undefined && Math.random() < 0.001) sent.push(connection.run(forgetBatches, [siteId, committedAt]));
	}

	/** Ends the transaction of a rehearsal: nothing of it is stored. */
	async #takeBack(attempt: Attempt, sent: Sent): Promise<Attempt> {
		await Promise.all(sent.statements);
		await this.#options.connection.recover('row');
		return attempt;
	}

	/** Does something for one message, or for all of the batch together, that awaits nothing. */
	#noted<T>(work: () => T, index?: number): T {
		this.#notes.begin(index);
		try {
			return work();
		} finally {
			this.#notes.end();
		}
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
		sent: Sent,
		committedAt: string,
		committing: (attempt: Attempt) => void,
		foreseen: ForeseenTransaction | undefined,
	): Promise<void> {
		const { settled, sound } = attempt;
		const { connection } = this.#options;
		const started = performance.now();
		const logged = settled.map((message) => message.logged).filter((message) => message !== undefined);
		if (logged.length > 0) sent.push(this.#noted(() => logMessages(connection, logged, committedAt)));
		const accepted = logged.filter(isRecognisable);
		if (accepted.length > 0) sent.push(logAccepted(connection, accepted, committedAt));
		await placeAll(batch);
		if (sound.some(({ poison }) => poison !== undefined)) throw new Again('an object was not placed');
		if (foreseen?.guesses) await this.#confirm(foreseen, logged.length > 0);
		committing(attempt);
		this.#notes.committing();
		const committingAt = performance.now();
		const commit = connection.control('commit');
		const [command] = await Promise.all([commit, ...sent.statements]);
		checkCommitted(command);
		const committed = performance.now();
		this.#stages.writeMs += committed - started;
		this.#stages.commitMs += committed - committingAt;
	}

	/** @throws Again when the batch went on with what is not so; the number of a logged message cannot be foreseen */
	async #confirm(foreseen: ForeseenTransaction, isLogged: boolean): Promise<void> {
		if (!isLogged && (await foreseen.isTrue())) return;
		this.#mayGuess = false;
		throw new Again('the database had other rows than were expected');
	}

	async #takeTurns(batch: readonly Prepared[], runner: StatementRunner): Promise<Sequences> {
		const counts = new Map<string, number>();
		for (const { delivery } of batch) counts.set(delivery.siteId, (counts.get(delivery.siteId) ?? 0) + 1);
		const rows = await runner.run(takeTurns, [plainArray([...counts.keys()]), plainArray([...counts.values()])]);
		return new Sequences(
			rows.map(([siteId, last]) => [siteId as string, BigInt(last as string) - BigInt(counts.get(siteId as string) ?? 0)]),
			new Map(rows.map(([siteId, , version]) => [siteId as string, version as string])),
		);
	}

	#reportBug(error: unknown, { delivery }: Prepared): void {
		this.#options.log.error({ err: error, ...idsOf(delivery) }, 'message could not be processed');
	}
}

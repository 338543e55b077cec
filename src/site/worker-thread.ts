import { wholeBatch } from '#record/batch-notes.ts';
import type { Delivery } from '#record/delivery.ts';
import { type IngestTaskResult, taskOf } from './task.ts';
import { WorkNotes } from './work-notes.ts';
import type { OpenPool, WorkerPool } from './worker-pool.ts';

/** The work of a thread, for the watch over its processor time. */
export interface Work {
	/** Another text means that other work was begun. */
	key: string;
	slot: number;
	/** The message's place in the batch; undefined where it is work for several messages. */
	index: number | undefined;
	deliveries: readonly Delivery[];
	cpuMs: number;
}

/** Thrown for a batch whose thread ended. */
export class ThreadEnded extends Error {
	/** The place of the message that the thread was working on; `elsewhere` when it worked for another lane; undefined where nobody knows. */
	readonly at: number | 'elsewhere' | undefined;
	/** `time`: it was ended because it took too much processor time. */
	readonly reason: 'time' | 'crash';
	/** Some messages of the batch may be stored. */
	readonly isUnsure: boolean;

	constructor(cause: unknown, { at, reason, isUnsure }: Pick<ThreadEnded, 'at' | 'reason' | 'isUnsure'>) {
		super('the thread ended', { cause });
		this.at = at;
		this.reason = reason;
		this.isUnsure = isUnsure;
	}
}

export interface WayOfWork {
	/** The last batch of the lane may not have ended, and nothing of this one is carried out unless all of that was. */
	isAhead: boolean;
	/** The work is divided into slices, because other sites send to the thread. */
	inSlices: boolean;
}

interface Given {
	number: number;
	deliveries: readonly Delivery[];
}

/** A batch that is carried out, and one that is interpreted meanwhile. */
const batchesPerLane = 2;

/** A thread with its notes, and what it was given. */
interface Crew {
	pool: WorkerPool;
	notes: WorkNotes;
	/** The batches of a lane have slots next to each other. */
	given: (Given | undefined)[];
	/** The last batch of each lane. */
	last: (number | undefined)[];
	/** Set when it has ended in the middle of a piece of work, or was ended. */
	end: { slot: number; index: number | undefined; reason: 'time' | 'crash'; done: Promise<void> } | undefined;
}

/** A worker thread of some lanes. It is ended and replaced when what it works on takes too long. */
export class WorkerThread {
	readonly #open: OpenPool;
	readonly #lanes: number;
	readonly #hasSpare: boolean;
	#isClosed = false;
	#crew: Crew | undefined;
	/** Opened ahead, while it is not certain that the thread has to be replaced. */
	#spare: Crew | undefined;
	#batches = 0;

	/** `isLazy`: the thread begins when it is first needed. `hasSpare`: another one takes over at once when it is ended. */
	constructor(open: OpenPool, lanes: number, { isLazy, hasSpare }: { isLazy: boolean; hasSpare: boolean }) {
		this.#open = open;
		this.#lanes = lanes;
		this.#hasSpare = hasSpare;
		if (!isLazy) this.#crew = this.#begin();
	}

	#begin(): Crew {
		const slots = this.#lanes * batchesPerLane;
		const notes = WorkNotes.create(slots);
		return { pool: this.#open(notes.shared, slots), notes, given: [], last: [], end: undefined };
	}

	get threads(): readonly unknown[] {
		return this.#crew?.pool.threads ?? [];
	}

	/** @throws ThreadEnded */
	async run(lane: number, deliveries: readonly Delivery[], { isAhead, inSlices }: WayOfWork): Promise<IngestTaskResult> {
		if (this.#isClosed) throw new Error('the thread is closed');
		this.#crew ??= this.#begin();
		const crew = this.#crew;
		const number = ++this.#batches;
		// A thread that was not given the batch before does not know it.
		const follows = isAhead ? (crew.last[lane] ?? 0) : undefined;
		crew.last[lane] = number;
		const slot = freeSlot(crew, lane);
		const [task, transferList] = taskOf({ lane, slot, number, follows, inSlices }, deliveries);
		crew.notes.beginBatch(slot);
		crew.given[slot] = { number, deliveries };
		try {
			return await crew.pool.run(task, { transferList });
		} catch (error) {
			const { piece } = crew.notes;
			// A piece that has begun and not ended: the thread has.
			if (piece !== undefined)
				this.#replace(crew, { slot: piece.slot, index: indexOf(piece.index, crew.given[piece.slot]?.deliveries.length) }, 'crash');
			// A thread notes its COMMITs until its very end.
			await crew.end?.done;
			throw endOf(crew, slot, error);
		} finally {
			crew.given[slot] = undefined;
		}
	}

	/** A batch of the lane is carried out elsewhere: none that this thread was given is the last. */
	passOver(lane: number): void {
		if (this.#crew) this.#crew.last[lane] = undefined;
	}

	/** True while it has a batch that is not carried out yet. */
	get isBusy(): boolean {
		return this.#crew?.given.some((batch) => batch !== undefined) === true;
	}

	/** Returns what the thread works on now; undefined when that is nothing. */
	get work(): Work | undefined {
		if (this.#crew === undefined) return undefined;
		const { notes, given, pool } = this.#crew;
		const { piece } = notes;
		if (piece === undefined) return undefined;
		const batch = given[piece.slot];
		if (batch === undefined) return undefined;
		const { number, deliveries } = batch;
		const index = indexOf(piece.index, deliveries.length);
		return { key: `${number}/${index}`, slot: piece.slot, index, deliveries, cpuMs: pool.cpuMs(notes.osThread) };
	}

	/** Opens another thread, which takes over at once if this one has to be ended. */
	prepare(): void {
		if (this.#hasSpare && !this.#isClosed) this.#spare ??= this.#begin();
	}

	/** The thread need not be ended. */
	async relax(): Promise<void> {
		const spare = this.#spare;
		this.#spare = undefined;
		await spare?.pool.destroy();
	}

	/** Ends the thread because of its work. What it was given is rejected, and what comes is given to another thread. */
	end(work: Work): void {
		if (this.#crew) this.#replace(this.#crew, work, 'time');
	}

	#replace(crew: Crew, { slot, index }: Pick<Work, 'slot' | 'index'>, reason: 'time' | 'crash'): void {
		if (crew.end !== undefined) return;
		if (this.#crew === crew) {
			this.#crew = this.#spare ?? (this.#hasSpare && !this.#isClosed ? this.#begin() : undefined);
			this.#spare = undefined;
		}
		crew.end = { slot, index, reason, done: crew.pool.destroy() };
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		await Promise.all([this.#crew?.pool.destroy(), this.#spare?.pool.destroy()]);
	}
}

/** Work for a batch of one message is work for that message. */
function indexOf(index: number, messages: number | undefined): number | undefined {
	if (index !== wholeBatch) return index;
	return messages === 1 ? 0 : undefined;
}

/** Returns the place of a lane's batch in a thread. */
function freeSlot({ given }: Crew, lane: number): number {
	for (let slot = lane * batchesPerLane; slot < (lane + 1) * batchesPerLane; slot++) if (given[slot] === undefined) return slot;
	throw new Error('a lane has more batches under way than it may have');
}

/** Says what is known of a batch whose thread has ended. */
function endOf({ end, notes }: Crew, slot: number, error: unknown): ThreadEnded {
	const at = end === undefined ? undefined : end.slot === slot ? end.index : 'elsewhere';
	return new ThreadEnded(error, { at, reason: end?.reason ?? 'crash', isUnsure: notes.hasCommitted(slot) });
}

import { chmod, open, rm, stat } from 'node:fs/promises';
import type { Log } from '#core/log.ts';
import type { ConnectionPool } from '../connection-pool.ts';
import type { StorageMetrics } from '../metrics.ts';
import { compactSegment } from './compaction.ts';
import type { FileStore } from './file-store.ts';
import { unlessMissing } from './file-system.ts';
import { settlingMs } from './object-store.ts';
import { mayBeAtWork } from './owner.ts';
import { Ended, Pace } from './pace.ts';
import { keyHeldMs } from './relocate.ts';
import { sealedMode } from './segment-file.ts';
import { UpkeepLock } from './upkeep-lock.ts';

export interface UpkeepOptions {
	/** Appends to segments of its own. */
	store: FileStore;
	/** The process start to which the segments of this process belong. */
	owner: string;
	database: ConnectionPool;
	metrics: StorageMetrics;
	log: Log;
	segmentBytes: number;
	/** No more than this is copied. */
	bytesPerSecond: number;
	/** A segment that changed later than so long ago may have records whose rows are on their way. */
	settledMs?: number;
	/** Whoever has read a key before its object was moved may read the object for so long. */
	graceMs?: number;
	/** Further work, done when the segments are in order. */
	furthermore?: (pace: Pace) => Promise<void>;
}

/** The segments are looked at so often. Nobody waits for it. */
const everyMs = 60_000;
/** So many small segments, such as short runs of the service leave, are put together. */
const smallMax = 8;
/** A segment is small below this part of a whole one. */
const smallPart = 16;

interface SegmentState {
	id: string;
	bytes: number;
	removedBytes: number;
	isSealed: boolean;
	changedMs: number;
}

/** Looks after the segments of a folder: seals what ended processes left, and gives back the space of what is not wanted any more. */
export class Upkeep {
	readonly #options: UpkeepOptions;
	readonly #lock: UpkeepLock;
	readonly #pace: Pace;
	/** Segments with damaged records, which stay. They are tried again after the next start. */
	readonly #damaged = new Set<string>();

	constructor(options: UpkeepOptions) {
		this.#options = options;
		this.#lock = new UpkeepLock(options.store.segments.folder, options.owner);
		this.#pace = new Pace(options.bytesPerSecond);
	}

	/** One round. @throws Failure `unavailable` when the disk or the database cannot be asked; a later round goes on. */
	async round(): Promise<void> {
		if (!(await this.#lock.take())) return;
		await this.#removeEmptied();
		await this.#options.store.removeHeld();
		const segments = await this.#look();
		this.#count(segments);
		for (const id of this.#worthIt(segments)) await this.#compact(id);
		await this.#options.furthermore?.(this.#pace);
		this.#options.metrics.compactionLastRun.set(Date.now() / 1000);
	}

	/** Ends a round that is under way. */
	async close(): Promise<void> {
		this.#pace.end();
		await this.#lock.giveBack();
	}

	async #look(): Promise<SegmentState[]> {
		const { store } = this.#options;
		const segments: SegmentState[] = [];
		for (const id of await store.segments.list()) {
			const found = await stat(store.segments.pathOf(id)).catch((error: unknown) => unlessMissing(error, undefined));
			if (found === undefined) continue;
			const removed = await store.removals.of(id);
			const isSealed = (found.mode & 0o200) === 0 || (await this.#seal(id, found.mtimeMs));
			const removedBytes = [...removed.values()].reduce((sum, bytes) => sum + bytes, 0);
			segments.push({ id, bytes: found.size, removedBytes, isSealed, changedMs: found.mtimeMs });
		}
		return segments;
	}

	/** Seals a segment whose writer has ended, and says what of it is torn. Returns false while the writer may append to it. */
	async #seal(id: string, changedMs: number): Promise<boolean> {
		const { store, owner, log } = this.#options;
		const head = await store.segments.head(id);
		// The writer has just begun, or ended before the head was durable: then nothing in it was acknowledged.
		if (head === undefined) return false;
		if (head.writer === owner || (await mayBeAtWork(head.writer, async () => changedMs))) return false;
		let records = 0;
		let torn = 0;
		for await (const { record, gap } of store.segments.scan(id)) {
			this.#pace.stopIfEnded();
			if (record) records += 1;
			else torn += gap.end - gap.start;
		}
		const path = store.segments.pathOf(id);
		await chmod(path, sealedMode);
		const file = await open(path, 'r');
		await file.sync().finally(() => file.close());
		log.info({ segment: id, records, tornBytes: torn }, 'a segment of a process that ended is sealed');
		return true;
	}

	/** The segments of which half is removed, and the small ones where there are many. */
	#worthIt(segments: readonly SegmentState[]): string[] {
		const { settledMs = settlingMs, segmentBytes } = this.#options;
		const until = Date.now() - settledMs;
		const candidates = segments.filter(({ id, isSealed, changedMs }) => isSealed && !this.#damaged.has(id) && changedMs <= until);
		const isSmall = ({ bytes }: SegmentState) => bytes * smallPart < segmentBytes;
		const areMany = candidates.filter(isSmall).length >= smallMax;
		return candidates.filter((segment) => segment.removedBytes * 2 >= segment.bytes || (areMany && isSmall(segment))).map(({ id }) => id);
	}

	async #compact(id: string): Promise<void> {
		const { store, database, metrics, log } = this.#options;
		const { bytes, damaged } = await compactSegment(id, { store, database, pace: this.#pace });
		metrics.compactionRewritten.inc(bytes);
		metrics.segmentCompactions.inc({ outcome: damaged === 0 ? 'emptied' : 'damaged' });
		if (damaged > 0) {
			this.#damaged.add(id);
			log.error({ segment: id, damaged }, 'a segment has damaged records and is kept; see tributary doctor --objects');
		} else log.info({ segment: id, copiedBytes: bytes }, 'a segment was compacted');
	}

	/** Removes segments that were emptied so long ago that nobody has their keys any more. Whoever still reads one reads on. */
	async #removeEmptied(): Promise<void> {
		const { store, metrics, graceMs = keyHeldMs } = this.#options;
		// A backup may still have to copy them.
		if (await store.pins.any()) return;
		for (const { id, emptiedMs } of await store.segments.emptied()) {
			if (emptiedMs > Date.now() - graceMs) continue;
			store.segments.forget(id);
			const path = store.segments.pathOf(id);
			const found = await stat(path).catch((error: unknown) => unlessMissing(error, undefined));
			await rm(path, { force: true });
			metrics.compactionFreed.inc(found?.size ?? 0);
			await store.removals.drop(id);
			await store.segments.unmark(id);
		}
	}

	#count(segments: readonly SegmentState[]): void {
		const { metrics } = this.#options;
		const sum = (of: (segment: SegmentState) => number) => segments.reduce((total, segment) => total + of(segment), 0);
		for (const state of ['growing', 'sealed'] as const)
			metrics.segments.set({ state }, segments.filter(({ isSealed }) => isSealed === (state === 'sealed')).length);
		const removed = sum(({ removedBytes }) => removedBytes);
		metrics.segmentBytes.set({ kind: 'removed' }, removed);
		metrics.segmentBytes.set({ kind: 'live' }, sum(({ bytes }) => bytes) - removed);
	}
}

/** Does rounds of upkeep until it is closed. A round that fails is logged; the next one goes on. */
export function keepSegments(options: UpkeepOptions): { close(): Promise<void> } {
	const upkeep = new Upkeep(options);
	let timer: NodeJS.Timeout | undefined;
	let isClosed = false;
	const round = async () => {
		try {
			await upkeep.round();
		} catch (error) {
			if (!(error instanceof Ended)) options.log.warn({ err: error }, 'the segments of the object store could not be looked after');
		}
		if (!isClosed) timer = setTimeout(begin, everyMs).unref();
	};
	let running = Promise.resolve();
	const begin = () => {
		running = round();
	};
	begin();
	return {
		async close() {
			isClosed = true;
			clearTimeout(timer);
			const closing = upkeep.close();
			await running;
			await closing;
			await options.store.close();
		},
	};
}

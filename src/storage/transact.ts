import { Failure } from '#core/failure.ts';
import { type Trouble, troubleOf } from './sqlstate.ts';

/** Items that are carried out together in one transaction as far as the database lets them. */
export interface Transaction<Item, Outcome> {
	/**
	 * Carries out the items in a transaction and commits it. Calls `committing` right before the COMMIT is sent: from then on the
	 * outcome may be true though no answer comes. `unsure` is such an outcome of an earlier attempt with these items; who has
	 * taken the turns of their sites finds out about it, and throws `WasCommitted` if it is true.
	 */
	attempt(items: readonly Item[], unsure: Outcome | undefined, committing: (outcome: Outcome) => void): Promise<Outcome>;
	/** Ends a transaction that failed, so that another one can begin. */
	recover(trouble: Trouble): Promise<void>;
	/** Items whose transaction is committed. What this throws ends it all. */
	conclude(items: readonly Item[], outcome: Outcome): void;
	/**
	 * One item, alone in its transaction, which failed: the database refuses it (`row`), or nobody knows why (`unknown`). `again`
	 * when it has another form now in which it is to be tried.
	 */
	refuse(item: Item, trouble: 'row' | 'unknown', error: unknown): 'again' | 'done';
	/** Items that are passed over, because one before them, in whose order they stand, was not carried out. */
	isHeld?(item: Item): boolean;
	/**
	 * Milliseconds before the next attempt; undefined when there is none. `isUnsure`: an earlier COMMIT may have happened, which nobody finds out any
	 * more once this is given up.
	 */
	pauseMs(trouble: Trouble, repeats: number, elapsedMs: number, isUnsure: boolean): number | undefined;
	repeated?(): void;
	halved?(): void;
}

/** Thrown by an attempt to be begun anew at once: it has learnt meanwhile what it has to do otherwise. */
export class Again extends Error {}

/** Thrown by an attempt that has found that the transaction whose answer was lost had happened. */
export class WasCommitted extends Error {}

/**
 * Carries out items in order. A transaction that failed for a passing reason is tried again. Where the database refuses what is
 * written, the items are halved, the left half first, until the one at fault is alone: so order is kept, and its neighbours
 * are not touched.
 * @throws Failure `unavailable` when the database does not take the items; those that were not concluded are not known to be stored
 */
export async function transact<Item, Outcome>(items: readonly Item[], transaction: Transaction<Item, Outcome>): Promise<void> {
	const ranges = [items];
	for (let range = ranges.pop(); range !== undefined; range = ranges.pop()) {
		const open = transaction.isHeld === undefined ? range : opened(range, transaction);
		if (open.length === 0 && range.length > 0) continue;
		const attempted = await attempt(open, transaction);
		if (attempted.kind === 'committed') {
			transaction.conclude(open, attempted.outcome);
			continue;
		}
		const [first] = open;
		const { trouble, error } = attempted;
		if (first === undefined) throw unavailable(error);
		if (open.length > 1) {
			transaction.halved?.();
			const middle = open.length >> 1;
			ranges.push(open.slice(middle), open.slice(0, middle));
		} else if (transaction.refuse(first, trouble, error) === 'again') {
			ranges.push(open);
		}
	}
}

function opened<Item, Outcome>(range: readonly Item[], transaction: Transaction<Item, Outcome>): readonly Item[] {
	return range.some((item) => transaction.isHeld?.(item)) ? range.filter((item) => !transaction.isHeld?.(item)) : range;
}

type Attempted<Outcome> = { kind: 'committed'; outcome: Outcome } | { kind: 'failed'; trouble: 'row' | 'unknown'; error: unknown };

/** Repeats what only needs repeating. */
async function attempt<Item, Outcome>(items: readonly Item[], transaction: Transaction<Item, Outcome>): Promise<Attempted<Outcome>> {
	const startedMs = performance.now();
	let unsure: Outcome | undefined;
	for (let repeats = 0; ; ) {
		let committing: Outcome | undefined;
		try {
			const outcome = await transaction.attempt(items, unsure, (reached) => {
				committing = reached;
			});
			return { kind: 'committed', outcome };
		} catch (error) {
			const trouble = troubleOf(error);
			await transaction.recover(trouble);
			if (error instanceof Again) continue;
			if (error instanceof WasCommitted && unsure !== undefined) return { kind: 'committed', outcome: unsure };
			if (trouble === 'row') return { kind: 'failed', trouble, error };
			// As long as the outcome of an earlier attempt is open, no part of it may be tried by itself.
			if (trouble === 'unknown' && unsure === undefined) return { kind: 'failed', trouble, error };
			if (trouble === 'connection') unsure = committing ?? unsure;
			transaction.repeated?.();
			const pauseMs = transaction.pauseMs(trouble, repeats, performance.now() - startedMs, unsure !== undefined);
			if (pauseMs === undefined) throw unavailable(error);
			if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
			repeats++;
		}
	}
}

function unavailable(cause: unknown): Failure {
	return new Failure('unavailable', 'the database does not take the transaction', { cause });
}

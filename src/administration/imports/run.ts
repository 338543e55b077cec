import { setTimeout as pause } from 'node:timers/promises';
import { type Counts, Journal, noCounts, type Refusal } from './journal.ts';

export interface ImportOptions {
	/** The path of the journal. */
	journal: string;
	isDry: boolean;
	/** The most things in a second; undefined: as fast as they are taken. */
	rate: number | undefined;
	/** Tells a person how far it is. */
	progress(text: string): void;
}

export interface ImportReport extends Counts {
	/** The first refusals; the journal has all. */
	refusals: (Refusal & { unit: string })[];
	journal: string;
	dry_run: boolean;
}

/** A report shows so many refusals. */
const shownMax = 100;
const progressMs = 5000;

/** Counts what became of one unit, and says why things were refused. */
export interface Settled extends Counts {
	refusals: Refusal[];
}

export const settled = (what: Partial<Counts>, ...refusals: Refusal[]): Settled => ({ ...noCounts, ...what, refusals });

/** One run of an import: its pace, its journal and its report. */
export class ImportRun {
	readonly options: ImportOptions;
	readonly journal: Journal;
	readonly #refusals: ImportReport['refusals'] = [];
	readonly #startedMs = performance.now();
	#toldMs = performance.now();
	#counted = 0;

	private constructor(options: ImportOptions, journal: Journal) {
		this.options = options;
		this.journal = journal;
	}

	static async open(of: object, options: ImportOptions): Promise<ImportRun> {
		return new ImportRun(options, await Journal.open(options.journal, of, options));
	}

	/** Waits until so many further things may be sent. */
	async pace(count: number): Promise<void> {
		this.#counted += count;
		const { rate } = this.options;
		if (rate === undefined) return;
		const aheadMs = this.#startedMs + ((this.#counted - count) * 1000) / rate - performance.now();
		if (aheadMs > 0) await pause(aheadMs);
	}

	/** Notes a unit, or a part of it (`at`). */
	async note(unit: string, { refusals, ...counts }: Settled, at?: number): Promise<void> {
		await this.journal.note({ unit, ...counts, ...(at !== undefined && { at }), ...(refusals.length > 0 && { refusals }) });
		for (const refusal of refusals) if (this.#refusals.length < shownMax) this.#refusals.push({ unit, ...refusal });
		const nowMs = performance.now();
		if (nowMs - this.#toldMs < progressMs) return;
		this.#toldMs = nowMs;
		const { taken, known, refused, skipped } = this.journal.total;
		this.options.progress(`${taken} taken, ${known} known, ${refused} refused, ${skipped} skipped`);
	}

	/** Takes units a few at a time; what a run before has settled is passed over. */
	async all(units: AsyncIterable<string> | Iterable<string>, atOnce: number, take: (unit: string) => Promise<Settled>): Promise<void> {
		const under = new Set<Promise<void>>();
		let failure: unknown;
		for await (const unit of units) {
			if (this.journal.isDone(unit)) continue;
			await this.pace(1);
			const one = take(unit)
				.then((outcome) => this.note(unit, outcome))
				.catch((error: unknown) => {
					failure ??= error;
				})
				.finally(() => under.delete(one));
			under.add(one);
			if (under.size >= atOnce) await Promise.race(under);
			if (failure !== undefined) break;
		}
		await Promise.all(under);
		if (failure !== undefined) throw failure;
	}

	report(): ImportReport {
		return { ...this.journal.total, refusals: this.#refusals, journal: this.journal.path, dry_run: this.options.isDry };
	}
}

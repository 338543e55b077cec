import type { MetricSnapshot } from '#core/metric-snapshot.ts';
import type { FigureSource, NodeLine, Reading } from '#core/node-line.ts';
import { version } from '../version.ts';
import { Line, type LineMessage } from './line.ts';
import type { ParentQuestions, ProcessQuestions, ToParent } from './messages.ts';

/** The parent does nothing that takes long. It waits for no process longer than half of this. */
const answerMsMax = 10_000;

/** A process's end of the line to the parent of its node. */
export class MemberLine implements NodeLine {
	readonly #line: Line<ParentQuestions, ProcessQuestions>;
	readonly #tell: (message: ToParent) => void;
	readonly #measure: () => Promise<readonly MetricSnapshot[]>;
	#figures: FigureSource | undefined;

	/** @param measure returns the metrics of this process */
	constructor(tell: (message: ToParent) => void, measure: () => Promise<readonly MetricSnapshot[]>) {
		this.#tell = tell;
		this.#measure = measure;
		this.#line = new Line<ParentQuestions, ProcessQuestions>(tell, {
			metrics: () => measure(),
			figures: () => this.#figures?.measure(),
			history: () => (this.#figures === undefined ? undefined : { version, kept: this.#figures.history() }),
		});
	}

	readonly quotas = {
		// A process that cannot ask is about to end.
		take: (name: string, most: number) => this.#line.ask('quota', { name, most }, answerMsMax).catch(() => false),
		give: (name: string) => this.#tell({ kind: 'given', quota: name }),
	};

	metrics(): Promise<readonly MetricSnapshot[]> {
		return this.#line.ask('metrics', undefined, answerMsMax);
	}

	async joinFigures(source: FigureSource): Promise<unknown> {
		this.#figures = source;
		// Without the history of another process, this one begins its own.
		const history = await this.#line.ask('history', undefined, answerMsMax).catch(() => undefined);
		return history?.version === version ? history.kept : undefined;
	}

	async take(message: LineMessage | { kind: 'figures'; reading: Reading }): Promise<void> {
		if (message.kind === 'figures') await this.#figures?.take(message.reading);
		else this.#line.take(message);
	}

	/** Tells what this process has counted, so that it stays counted. */
	async leave(): Promise<void> {
		this.#tell({ kind: 'counted', metrics: await this.#measure() });
	}

	/** The parent is gone. */
	close(): void {
		this.#line.close();
	}
}

import type { Log } from '#core/log.ts';
import type { MetricSnapshot } from '#core/metric-snapshot.ts';
import type { Reading, StorageRead } from '#core/node-line.ts';
import { Line } from './line.ts';
import type { KeptFigures, ParentQuestions, ProcessQuestions, ToParent } from './messages.ts';
import { NodeMetrics } from './node-metrics.ts';
import { SharedQuotas } from './shared-quotas.ts';
import type { MemberProcess } from './slot.ts';

/** Live figures have a point every ten seconds. */
const figuresMs = 10_000;
/** A process whose event loop is held up for longer is left out; what it told last counts for it. */
const answerMsMax = 3000;
/** The history of an hour of many sites has some megabytes. */
const historyMsMax = 5000;

type ToMember = Line<ProcessQuestions, ParentQuestions>;

/** Gathers what the processes of a node know together: metrics, live figures, shared limits. The parent has it, and answers their questions. */
export class Gathering {
	readonly #log: Log;
	readonly #lines = new Map<MemberProcess, ToMember>();
	readonly #metrics = new NodeMetrics();
	readonly #quotas = new SharedQuotas();
	#timer: NodeJS.Timeout | undefined;

	constructor(log: Log) {
		this.#log = log;
	}

	/** Begins to take the live figures of the node. */
	start(): void {
		const share = () => {
			this.#shareFigures().catch((error: unknown) => this.#log.warn({ err: error }, 'live figures could not be gathered'));
		};
		share();
		this.#timer = setInterval(share, figuresMs);
	}

	close(): void {
		clearInterval(this.#timer);
	}

	join(member: MemberProcess): void {
		const line: ToMember = new Line<ProcessQuestions, ParentQuestions>((message) => member.tell(message), {
			metrics: () => this.#all(),
			history: () => this.#history(member),
			quota: ({ name, most }) => this.#quotas.take(member, name, most),
		});
		this.#lines.set(member, line);
		member.child.on('message', (message: ToParent) => {
			if (message.kind === 'question' || message.kind === 'answer') line.take(message);
			else if (message.kind === 'counted') this.#metrics.note(member, String(member.index), message.metrics);
			else if (message.kind === 'given') this.#quotas.give(member, message.quota);
		});
		void member.ended.then(() => {
			line.close();
			this.#lines.delete(member);
			this.#metrics.end(member);
			this.#quotas.end(member);
		});
	}

	/** Asks the open processes. Those that do not answer in time are left out. */
	async #askAll<Name extends 'metrics' | 'figures'>(name: Name): Promise<[MemberProcess, ProcessQuestions[Name]['answer']][]> {
		const open = [...this.#lines].filter(([member]) => member.isOpen);
		const answers = await Promise.allSettled(
			open.map(
				async ([member, line]) =>
					[member, await line.ask(name, undefined, answerMsMax)] as [MemberProcess, ProcessQuestions[Name]['answer']],
			),
		);
		return answers.flatMap((answer) => (answer.status === 'fulfilled' && this.#lines.has(answer.value[0]) ? [answer.value] : []));
	}

	async #all(): Promise<readonly MetricSnapshot[]> {
		for (const [member, metrics] of await this.#askAll('metrics')) this.#metrics.note(member, String(member.index), metrics);
		return this.#metrics.all();
	}

	async #shareFigures(): Promise<void> {
		const names = new Set<string>();
		const waiting = new Map<string, number>();
		// Every process reads the same tables, at moments of its own. One of them speaks for all.
		let storage: StorageRead | undefined;
		for (const [member, reading] of await this.#askAll('figures')) {
			if (reading === undefined) continue;
			this.#metrics.note(member, String(member.index), reading.metrics);
			storage ??= reading.storage;
			for (const { name } of reading.metrics) names.add(name);
			for (const [siteId, count] of reading.waiting) waiting.set(siteId, (waiting.get(siteId) ?? 0) + count);
		}
		if (storage === undefined) return;
		const reading: Reading = { atMs: Date.now(), metrics: this.#metrics.all([...names]), waiting, storage };
		for (const member of this.#lines.keys()) member.tell({ kind: 'figures', reading });
	}

	/** Asks the process that has run longest. */
	async #history(but: MemberProcess): Promise<KeptFigures | undefined> {
		const [eldest] = [...this.#lines].filter(([member]) => member.isOpen && member !== but);
		return eldest?.[1].ask('history', undefined, historyMsMax);
	}
}

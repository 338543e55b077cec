import type { AlertRule } from './alert-rules.ts';
import { evaluate, type History } from './expression.ts';

export interface Alert {
	name: string;
	/** The time at which its condition began to hold without a break, in milliseconds since 1970. */
	sinceMs: number;
	summary: string;
	severity: AlertRule['severity'];
	/** The slug of the site; undefined when the alert is about the node. */
	site: string | undefined;
}

/** Tracks which alerts fire: each one whose condition has held as long as its rule demands. */
export class Alerts {
	readonly #rules: readonly AlertRule[];
	/** The alerts whose condition holds, by rule and labels. */
	#holding = new Map<string, Alert>();

	constructor(rules: readonly AlertRule[]) {
		this.#rules = rules;
	}

	judge(history: History, nowMs: number): void {
		const holding = new Map<string, Alert>();
		for (const { name, severity, expression, summary } of this.#rules) {
			for (const { labels } of evaluate(expression, history)) {
				const key = `${name} ${JSON.stringify(labels)}`;
				const sinceMs = this.#holding.get(key)?.sinceMs ?? nowMs;
				holding.set(key, { name, sinceMs, severity, summary: filledIn(summary, labels), site: labels['site'] });
			}
		}
		this.#holding = holding;
	}

	/** The alerts whose condition holds, for another process of the node. */
	kept(): ReadonlyMap<string, Alert> {
		return this.#holding;
	}

	adopt(holding: ReadonlyMap<string, Alert>): void {
		this.#holding = new Map(holding);
	}

	firing(nowMs: number): Alert[] {
		const waits = new Map(this.#rules.map(({ name, forMs }) => [name, forMs]));
		return [...this.#holding.values()].filter(({ name, sinceMs }) => nowMs - sinceMs >= (waits.get(name) ?? 0));
	}
}

function filledIn(summary: string, labels: Readonly<Record<string, string>>): string {
	return summary.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? (label === 'instance' ? 'this node' : ''));
}

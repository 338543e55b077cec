import type { AlertRule } from './alert-rules.ts';
import { evaluate, type History } from './expression.ts';

export interface Alert {
	name: string;
	/** Since when its condition holds without a break, in milliseconds since 1970. */
	sinceMs: number;
	summary: string;
	severity: AlertRule['severity'];
	/** Undefined: it is about the node. */
	site: string | undefined;
}

/** Which alerts hold, by the rules, each as long as its rule asks for. */
export class Alerts {
	readonly #rules: readonly AlertRule[];
	/** By rule and labels. */
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

	firing(nowMs: number): Alert[] {
		const waits = new Map(this.#rules.map(({ name, forMs }) => [name, forMs]));
		return [...this.#holding.values()].filter(({ name, sinceMs }) => nowMs - sinceMs >= (waits.get(name) ?? 0));
	}
}

function filledIn(summary: string, labels: Readonly<Record<string, string>>): string {
	return summary.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? (label === 'instance' ? 'this node' : ''));
}

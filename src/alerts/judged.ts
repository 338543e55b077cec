import { type Expression, evaluate, type History } from './expression.ts';
import type { Severity } from './rule.ts';
import type { AlertRule } from './rules/index.ts';

export interface Alert {
	/** The rule and the labels: what one alert has in common from its start to its end. */
	key: string;
	name: string;
	/** The time at which its condition began to hold without a break, in milliseconds since 1970. */
	sinceMs: number;
	summary: string;
	severity: Severity;
	/** The slug of the site; undefined when the alert is about the node or the network. */
	site: string | undefined;
	/** True where every node of the network would say the same: what the alert is about is no label of a node. */
	ofNetwork: boolean;
	/** The address in the console of the rows that it speaks of. */
	list: string | undefined;
}

interface Resumed {
	alert: Alert;
	/** The node remembers as much as its rule looks at from then on. */
	untilMs: number;
}

/** Another process of the node adopts these. */
export interface KeptAlerts {
	holding: ReadonlyMap<string, Alert>;
	resumed: ReadonlyMap<string, Resumed>;
}

/** Tracks which alerts fire: each one whose condition has held as long as its rule demands. */
export class Alerts {
	readonly #rules: readonly AlertRule[];
	readonly #node: string;
	/** The alerts whose condition holds, by rule and labels. */
	#holding = new Map<string, Alert>();
	/** Alerts of before a start. They fire as long as they hold, or what is remembered since the start is too short to tell. */
	#resumed = new Map<string, Resumed>();

	/** @param node the name of the node, as alerts tell it */
	constructor(rules: readonly AlertRule[], node: string) {
		this.#rules = rules;
		this.#node = node;
	}

	judge(history: History, nowMs: number): void {
		const holding = new Map<string, Alert>();
		for (const { name, severity, expression, summary, words, list } of this.#rules) {
			for (const { labels } of evaluate(expression, history)) {
				const key = `${name} ${JSON.stringify(labels)}`;
				const sinceMs = (this.#resumed.get(key)?.alert ?? this.#holding.get(key))?.sinceMs ?? nowMs;
				holding.set(key, {
					...{ key, name, sinceMs, severity, site: labels['site'], ofNetwork: isOfNetwork(expression) },
					summary: this.#filledIn(summary, labels, (value, label) => words?.[label]?.[value] ?? value),
					list: list && this.#filledIn(list, labels, encodeURIComponent),
				});
			}
		}
		this.#holding = holding;
		for (const [key, { untilMs }] of this.#resumed) if (!holding.has(key) && nowMs >= untilMs) this.#resumed.delete(key);
	}

	/** The alerts whose condition holds, for another process of the node. */
	kept(): KeptAlerts {
		return { holding: this.#holding, resumed: this.#resumed };
	}

	adopt({ holding, resumed }: KeptAlerts): void {
		this.#holding = new Map(holding);
		this.#resumed = new Map(resumed);
	}

	/** Goes on with the alerts of before a start. */
	resume(alerts: readonly Alert[], nowMs: number): void {
		const windows = new Map(this.#rules.map(({ name, expression }) => [name, windowMsOf(expression)]));
		this.#resumed = new Map(
			alerts.flatMap((alert) => {
				const windowMs = windows.get(alert.name);
				return windowMs === undefined ? [] : [[alert.key, { alert, untilMs: nowMs + windowMs }]];
			}),
		);
	}

	firing(nowMs: number): Alert[] {
		const waits = new Map(this.#rules.map(({ name, forMs }) => [name, forMs]));
		const held = [...this.#holding.values()].filter(
			({ key, name, sinceMs }) => this.#resumed.has(key) || nowMs - sinceMs >= (waits.get(name) ?? 0),
		);
		const untold = [...this.#resumed.values()].filter(({ alert }) => !this.#holding.has(alert.key));
		return [...held, ...untold.map(({ alert }) => alert)];
	}

	#filledIn(text: string, labels: Readonly<Record<string, string>>, written: (value: string, label: string) => string): string {
		return text.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) =>
			written(labels[label] ?? (label === 'instance' ? this.#node : ''), label),
		);
	}
}

/** Returns the longest time that an expression looks back. */
function windowMsOf(expression: Expression): number {
	switch (expression.kind) {
		case 'series':
			return 0;
		case 'over':
			return expression.windowMs;
		case 'ratio':
			return Math.max(windowMsOf(expression.of), windowMsOf(expression.to));
		default:
			return windowMsOf(expression.of);
	}
}

/** An expression that leaves the label `instance` out says the same on every node. */
function isOfNetwork(expression: Expression): boolean {
	switch (expression.kind) {
		case 'by':
			return !expression.labels.includes('instance');
		case 'series':
		case 'over':
			return false;
		default:
			return isOfNetwork(expression.of);
	}
}

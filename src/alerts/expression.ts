/**
 * The part of PromQL that the table of alerts uses, so that the console judges by the very text that Prometheus gets: gauges,
 * `increase`, `rate` and `min_over_time` of them, `sum by`, `max by`, `histogram_quantile`, a ratio, and a comparison.
 */
export type Expression =
	| { kind: 'series'; metric: string; matchers: readonly Matcher[] }
	| { kind: 'over'; how: 'increase' | 'rate' | 'min_over_time'; of: Series; windowMs: number }
	| { kind: 'by'; how: 'sum' | 'max'; labels: readonly string[]; of: Expression }
	| { kind: 'quantile'; quantile: number; of: Expression }
	| { kind: 'ratio'; of: Expression; to: Expression }
	| { kind: 'compare'; operator: '>' | '<' | '=='; of: Expression; than: number };

type Series = Extract<Expression, { kind: 'series' }>;

export interface Matcher {
	label: string;
	operator: '=' | '!=' | '=~';
	value: string;
}

/** A series at one instant. */
export interface Sample {
	labels: Readonly<Record<string, string>>;
	value: number;
}

/** The recorded series that expressions are evaluated on. */
export interface History {
	/** Returns the latest values of a metric. */
	values(metric: string): Iterable<Sample>;
	/** Returns the growth of counters and histogram buckets in the last `windowMs`. */
	increases(metric: string, windowMs: number): Iterable<Sample>;
	/** Returns the smallest value of a gauge in the last `windowMs`. */
	minima(metric: string, windowMs: number): Iterable<Sample>;
}

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts `90s`, `15m`, `24h` to milliseconds. */
export function durationMs(text: string): number {
	const [, count = '', unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
	const ms = unitMs[unit];
	if (ms === undefined) throw new Error(`'${text}' is no duration`);
	return Number(count) * ms;
}

/** @throws Error when the text uses anything beyond the supported part */
export function parseExpression(text: string): Expression {
	const tokens = text.match(/"[^"]*"|[a-zA-Z_]\w*|\d+(?:\.\d+)?[smhd]?|=~|!=|==|[=(){}[\],/<>]/g) ?? [];
	if (tokens.join('') !== text.replace(/\s+/g, '')) throw new Error(`'${text}' has characters that are not understood`);
	const parser = new Parser(tokens);
	const expression = parser.comparison();
	parser.end();
	return expression;
}

class Parser {
	readonly #tokens: readonly string[];
	#at = 0;

	constructor(tokens: readonly string[]) {
		this.#tokens = tokens;
	}

	end(): void {
		if (this.#at < this.#tokens.length) throw new Error(`'${this.#tokens[this.#at]}' is not understood here`);
	}

	#next(): string {
		return this.#tokens[this.#at++] ?? '';
	}

	#expect(token: string): void {
		const found = this.#next();
		if (found !== token) throw new Error(`'${token}' is expected, not '${found}'`);
	}

	#takes(token: string): boolean {
		if (this.#tokens[this.#at] !== token) return false;
		this.#at++;
		return true;
	}

	comparison(): Expression {
		const of = this.#ratio();
		const operator = this.#next();
		if (operator !== '>' && operator !== '<' && operator !== '==') throw new Error(`'${operator}' is no comparison`);
		return { kind: 'compare', operator, of, than: Number(this.#next()) };
	}

	#ratio(): Expression {
		const of = this.#operand();
		return this.#takes('/') ? { kind: 'ratio', of, to: this.#operand() } : of;
	}

	#operand(): Expression {
		const name = this.#next();
		if (name === 'sum' || name === 'max') {
			this.#expect('by');
			this.#expect('(');
			return { kind: 'by', how: name, labels: this.#labels(), of: this.#inParentheses() };
		}
		if (name === 'histogram_quantile') {
			this.#expect('(');
			const quantile = Number(this.#next());
			this.#expect(',');
			const of = this.#operand();
			this.#expect(')');
			return { kind: 'quantile', quantile, of };
		}
		return name === 'increase' || name === 'rate' || name === 'min_over_time' ? this.#over(name) : this.#series(name);
	}

	#inParentheses(): Expression {
		this.#expect('(');
		const of = this.#operand();
		this.#expect(')');
		return of;
	}

	#over(how: 'increase' | 'rate' | 'min_over_time'): Expression {
		this.#expect('(');
		const of = this.#series(this.#next());
		this.#expect('[');
		const windowMs = durationMs(this.#next());
		this.#expect(']');
		this.#expect(')');
		return { kind: 'over', how, of, windowMs };
	}

	#series(metric: string): Series {
		const matchers: Matcher[] = [];
		if (this.#takes('{')) {
			do {
				const [label, operator, value] = [this.#next(), this.#next(), this.#next()];
				if (operator !== '=' && operator !== '!=' && operator !== '=~') throw new Error(`'${operator}' is no match`);
				matchers.push({ label, operator, value: value.slice(1, -1) });
			} while (this.#takes(','));
			this.#expect('}');
		}
		return { kind: 'series', metric, matchers };
	}

	#labels(): string[] {
		const labels: string[] = [];
		do labels.push(this.#next());
		while (this.#takes(','));
		this.#expect(')');
		return labels;
	}
}

/** Returns the names of the series that an expression reads. */
export function metricsOf(expression: Expression): string[] {
	if (expression.kind === 'series') return [expression.metric];
	return expression.kind === 'ratio' ? [...metricsOf(expression.of), ...metricsOf(expression.to)] : metricsOf(expression.of);
}

/** Returns the series of an expression. A comparison returns the series for which it holds. */
export function evaluate(expression: Expression, history: History): Sample[] {
	switch (expression.kind) {
		case 'series':
			return [...history.values(expression.metric)].filter((sample) => matches(sample, expression.matchers));
		case 'over':
			return over(expression, history);
		case 'by':
			return grouped(evaluate(expression.of, history), expression.labels, expression.how);
		case 'quantile':
			return quantiles(evaluate(expression.of, history), expression.quantile);
		case 'ratio': {
			const totals = new Map(evaluate(expression.to, history).map((sample) => [keyOf(sample.labels), sample.value]));
			return evaluate(expression.of, history).map(({ labels, value }) => ({ labels, value: value / (totals.get(keyOf(labels)) ?? 0) }));
		}
		case 'compare': {
			const { operator, than } = expression;
			return evaluate(expression.of, history).filter(({ value }) => comparisons[operator](value, than));
		}
	}
}

/** A scraper adds these labels; within one node every series has them. */
const ofTheScraper = new Set(['job', 'instance']);

function matches({ labels }: Sample, matchers: readonly Matcher[]): boolean {
	return matchers.every(({ label, operator, value }) => {
		if (ofTheScraper.has(label)) return true;
		const held = labels[label] ?? '';
		if (operator === '=~') return new RegExp(`^(?:${value})$`).test(held);
		return (held === value) === (operator === '=');
	});
}

function over({ how, of, windowMs }: Extract<Expression, { kind: 'over' }>, history: History): Sample[] {
	const samples = how === 'min_over_time' ? history.minima(of.metric, windowMs) : history.increases(of.metric, windowMs);
	const seconds = how === 'rate' ? windowMs / 1000 : 1;
	return [...samples].filter((sample) => matches(sample, of.matchers)).map(({ labels, value }) => ({ labels, value: value / seconds }));
}

function grouped(samples: readonly Sample[], by: readonly string[], how: 'sum' | 'max'): Sample[] {
	const groups = new Map<string, Sample>();
	for (const { labels, value } of samples) {
		const kept = Object.fromEntries(by.filter((label) => labels[label] !== undefined).map((label) => [label, labels[label] as string]));
		const key = keyOf(kept);
		const held = groups.get(key)?.value;
		groups.set(key, { labels: kept, value: held === undefined ? value : how === 'sum' ? held + value : Math.max(held, value) });
	}
	return [...groups.values()];
}

/**
 * Computes a quantile for each group of buckets. `le` is the upper bound of a cumulative bucket; values are interpolated as in Prometheus.
 */
export function quantiles(buckets: readonly Sample[], quantile: number): Sample[] {
	const groups = new Map<string, { labels: Record<string, string>; bounds: [number, number][] }>();
	for (const { labels, value } of buckets) {
		const { le = '+Inf', ...others } = labels;
		const key = keyOf(others);
		const group = groups.get(key) ?? { labels: others, bounds: [] };
		groups.set(key, group);
		group.bounds.push([le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), value]);
	}
	return [...groups.values()].flatMap(({ labels, bounds }) => {
		const value = quantileOf(bounds, quantile);
		return value === undefined ? [] : [{ labels, value }];
	});
}

function quantileOf(bounds: [number, number][], quantile: number): number | undefined {
	bounds.sort(([left], [right]) => left - right);
	const rank = quantile * (bounds.at(-1)?.[1] ?? 0);
	if (rank === 0) return undefined;
	let [lower, below] = [0, 0];
	for (const [upper, count] of bounds) {
		if (count >= rank) return upper === Number.POSITIVE_INFINITY ? lower : lower + ((upper - lower) * (rank - below)) / (count - below);
		[lower, below] = [upper, count];
	}
	return undefined;
}

function keyOf(labels: Readonly<Record<string, string>>): string {
	return Object.keys(labels)
		.sort()
		.map((label) => `${label}=${labels[label]}`)
		.join(',');
}

const comparisons: Readonly<Record<Extract<Expression, { kind: 'compare' }>['operator'], (value: number, than: number) => boolean>> = {
	'>': (value, than) => value > than,
	'<': (value, than) => value < than,
	'==': (value, than) => value === than,
};

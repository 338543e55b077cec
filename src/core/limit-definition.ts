/**
 * A limit: its default, the environment variable that changes it, and what the sender is answered at the limit.
 * A room declares its own in its `limits.ts`; `src/limits.ts` collects them.
 */
export interface LimitDefinition {
	variable: string;
	default: number;
	min: number;
	max: number;
	answer: string;
	/**
	 * Says how the processes of a node keep to it. `divided`: each has its part. `shared`: the parent counts for all. Otherwise it bounds one thing, or
	 * holds for each process.
	 */
	ofNode?: 'divided' | 'shared';
}

export type LimitDefinitions = Readonly<Record<string, LimitDefinition>>;

export type LimitsOf<D> = Readonly<Record<keyof D, number>>;

function limitsFrom<D extends LimitDefinitions>(definitions: D, read: (definition: LimitDefinition) => number): LimitsOf<D> {
	const values = Object.entries(definitions).map(([name, definition]) => [name, read(definition)]);
	return Object.freeze(Object.fromEntries(values)) as LimitsOf<D>;
}

export function defaultsOf<D extends LimitDefinitions>(definitions: D): LimitsOf<D> {
	return limitsFrom(definitions, ({ default: value }) => value);
}

/** Reads the variables; calls `refuse` for the first one whose value is not permitted. */
export function readLimits<D extends LimitDefinitions>(
	definitions: D,
	environment: Readonly<Record<string, string | undefined>>,
	refuse: (variable: string, reason: string) => never,
): LimitsOf<D> {
	return limitsFrom(definitions, ({ variable, default: fallback, min, max }) => {
		const text = environment[variable];
		if (text === undefined || text === '') return fallback;
		const value = Number(text);
		if (!Number.isInteger(value) || value < min || value > max) refuse(variable, `expected a whole number from ${min} to ${max}`);
		return value;
	});
}

/**
 * Returns the limits of one of `count` processes: a divided limit is at least `atLeast`, where it is not less as a whole.
 * @param parts into how many parts those are divided that are not divided into `count`
 */
export function dividedLimits<D extends LimitDefinitions>(
	definitions: D,
	limits: LimitsOf<D>,
	count: number,
	{ atLeast = {}, parts = {} }: { atLeast?: Partial<LimitsOf<D>>; parts?: Partial<LimitsOf<D>> } = {},
): LimitsOf<D> {
	const values = Object.entries(limits).map(([name, value]) => {
		const least = Math.min(value, atLeast[name] ?? definitions[name]?.min ?? 1);
		return [name, definitions[name]?.ofNode === 'divided' ? Math.max(least, Math.floor(value / (parts[name] ?? count))) : value];
	});
	return Object.freeze(Object.fromEntries(values)) as LimitsOf<D>;
}

import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

/** The result of a run of benches. Tables, the report and docs/performance.md are made from this alone. */

const usage = z.object({
	driver: z.number(),
	main: z.number(),
	others: z.number(),
	database: z.number(),
	machine: z.number(),
});

const line = z.object({
	section: z.string(),
	work: z.string(),
	/** Tributary, a peer with its version, or a limit of the machine. */
	subject: z.string(),
	kind: z.enum(['product', 'peer', 'limit']),
	connections: z.number().optional(),
	/** An open loop: so many fell due each second. */
	duePerSecond: z.number().optional(),
	perSecond: z.number(),
	/** The slowest and the fastest round, where there were several. */
	lowest: z.number().optional(),
	highest: z.number().optional(),
	p50Ms: z.number().nullable(),
	p99Ms: z.number().nullable(),
	maxMs: z.number().nullable().optional(),
	failed: z.number(),
	driver: z.string(),
	/** These had no time left. */
	saturated: z.string().optional(),
	/** The unit is a core. */
	usage: usage.optional(),
	/** The cost of each piece of work. */
	walBytes: z.number().optional(),
	/** Compares the stored rows with the acknowledgements: it gives the number of both, or says what is wrong. */
	ledger: z.string().optional(),
});

const comparison = z.object({
	work: z.string(),
	subject: z.string(),
	base: z.string(),
	/** Medians of the rates of both. */
	perSecond: z.number(),
	basePerSecond: z.number(),
	ratio: z.object({ median: z.number(), low: z.number(), high: z.number() }),
	pairs: z.number(),
	driver: z.string(),
	ledger: z.string(),
});

const curve = z.object({
	section: z.string(),
	title: z.string(),
	x: z.string(),
	y: z.string(),
	logarithmic: z.boolean().optional(),
	series: z.array(z.object({ name: z.string(), points: z.array(z.tuple([z.number(), z.number()])) })),
});

/** The cost of one piece of work, measured at the load of that line. */
const unitCost = z.object({
	work: z.string(),
	serviceMs: z.number(),
	databaseMs: z.number(),
	walBytes: z.number(),
	/** Rows, indexes and files, in bytes. */
	storedBytes: z.number(),
});

const result = z.object({
	format: z.literal(1),
	startedAt: z.string(),
	minutes: z.number(),
	command: z.string(),
	commit: z.string(),
	machine: z.string(),
	node: z.string(),
	database: z.string(),
	/** Load average of the machine when the run began: above 0.5 somebody else was at work. */
	loadBefore: z.number(),
	lines: z.array(line),
	comparisons: z.array(comparison),
	curves: z.array(curve),
	unitCosts: z.array(unitCost),
	notes: z.array(z.string()),
	faults: z.array(z.string()),
});

export type Line = z.infer<typeof line>;
export type Comparison = z.infer<typeof comparison>;
export type Curve = z.infer<typeof curve>;
export type UnitCost = z.infer<typeof unitCost>;
export type Result = z.infer<typeof result>;

export function readResult(path: string): Result {
	return result.parse(JSON.parse(readFileSync(path, 'utf8')));
}

/** Figures keep four digits: more would differ in each run and say nothing. */
export function writeResult(path: string, given: Result): void {
	const rounded = (_key: string, value: unknown) =>
		typeof value === 'number' && Number.isFinite(value) ? Number(value.toPrecision(4)) : value;
	writeFileSync(path, `${JSON.stringify(result.parse(given), rounded, '\t')}\n`);
}

/** The folder keeps the figures on which the documentation stands. */
export const keptResults = new URL('../results/', import.meta.url);

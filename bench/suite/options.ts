/** These say how long and how much is measured. */
export interface SuiteOptions {
	/** Answers and stored rows are what counts, not times: each load is as short as can be. */
	isQuick: boolean;
	/** The time of each load. */
	seconds: number;
	/** After one that warms up. */
	rounds: number;
}

export const quickOptions: SuiteOptions = { isQuick: true, seconds: 0.5, rounds: 1 };

/** BENCH_SECONDS (4) and BENCH_ROUNDS (3). */
export function fullOptions(environment: Readonly<Record<string, string | undefined>>): SuiteOptions {
	return { isQuick: false, seconds: Number(environment['BENCH_SECONDS'] ?? 4), rounds: Number(environment['BENCH_ROUNDS'] ?? 3) };
}

export function middle<T>(values: readonly T[], of: (value: T) => number): { median: T; lowest: number; highest: number } {
	const sorted = values.toSorted((one, other) => of(one) - of(other));
	const [median, first, last] = [sorted[sorted.length >> 1], sorted[0], sorted.at(-1)];
	if (median === undefined || first === undefined || last === undefined) throw new Error('nothing was measured');
	return { median, lowest: of(first), highest: of(last) };
}

export function median(values: readonly number[]): number {
	return middle(values, (value) => value).median;
}

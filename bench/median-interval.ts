/** The median, and the interval that holds the true one with at least 95 % (order statistics of a binomial distribution). */
export function medianInterval(values: readonly number[]): { median: number; low: number; high: number } {
	const sorted = values.toSorted((one, other) => one - other);
	const at = (index: number) => sorted[Math.min(Math.max(index, 0), sorted.length - 1)] ?? Number.NaN;
	const median = (at((sorted.length - 1) >> 1) + at(sorted.length >> 1)) / 2;
	let beyond = 0.5 ** sorted.length;
	let term = beyond;
	let cut = 0;
	while (2 * (beyond + (term * (sorted.length - cut)) / (cut + 1)) <= 0.05) {
		term = (term * (sorted.length - cut)) / (cut + 1);
		beyond += term;
		cut++;
	}
	return { median, low: at(cut), high: at(sorted.length - 1 - cut) };
}

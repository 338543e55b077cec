import { namedDigits } from '#record/search-entry.ts';

/**
 * Returns the names of ranges of numbers, as few as there can be, that together hold all from the first to the last: a sign and a power of
 * ten, with up to three digits. Powers beyond the named ones share one name each.
 */
export function numberNames(from: number, to: number, powers: { first: number; last: number }): string[] {
	// A decimal that a binary number cannot hold lies within this of it.
	const slack = 1e-9;
	const [low, high] = [from - Math.abs(from) * slack, to + Math.abs(to) * slack];
	const names = low <= 0 && high >= 0 ? ['0'] : [];
	if (high > 0) names.push(...positive('+', Math.max(low, 0), high, powers));
	if (low < 0) names.push(...positive('-', Math.max(-high, 0), -low, powers));
	return names;
}

function positive(sign: string, from: number, to: number, powers: { first: number; last: number }): string[] {
	const names: string[] = [];
	for (let power = powers.first; power <= powers.last; power++) {
		const unit = 10 ** power;
		const start = power === powers.first ? 0 : unit * (1 - 1e-9);
		const end = power === powers.last ? Number.POSITIVE_INFINITY : unit * 10;
		if (end <= from || start > to) continue;
		if ((from <= start && end <= to) || power === powers.first || power === powers.last) names.push(`${sign}${power}`);
		else names.push(...digits(`${sign}${power}`, unit, from, to));
	}
	return names;
}

/** The first digits of the numbers from the first to the last, as few as there can be. */
function digits(name: string, unit: number, from: number, to: number, before = 0, count = 1): string[] {
	const names: string[] = [];
	const step = unit / 10 ** (count - 1);
	for (let first = before * 10 + (count === 1 ? 1 : 0); first < before * 10 + 10; first++) {
		const [start, end] = [first * step, (first + 1) * step];
		if (end < from || start > to) continue;
		if (count === namedDigits || (from <= start && end <= to)) names.push(`${name}:${first}`);
		else names.push(...digits(name, unit, from, to, first, count + 1));
	}
	return names;
}

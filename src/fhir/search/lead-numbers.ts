/**
 * Returns the names of ranges of numbers, as few as there can be, that together hold all from the first to the last: a sign and a power of
 * ten, with one digit or two. Powers beyond the named ones share one name each.
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

function digits(name: string, unit: number, from: number, to: number): string[] {
	const names: string[] = [];
	for (let first = 1; first <= 9; first++) {
		const [start, end] = [first * unit, (first + 1) * unit];
		if (end < from || start > to) continue;
		if (from <= start && end <= to) {
			names.push(`${name}:${first}`);
			continue;
		}
		for (let second = first * 10; second < first * 10 + 10; second++) {
			if (((second + 1) * unit) / 10 >= from && (second * unit) / 10 <= to) names.push(`${name}:${second}`);
		}
	}
	return names;
}

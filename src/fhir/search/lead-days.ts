import { utc } from '#core/date-range.ts';
import { rangeNames } from '#record/search-entry.ts';

/**
 * Returns the names of decades, years, months and days, as few as there can be, that together hold all moments from the first up to the last; open
 * where one is undefined. Moments outside of the named years have names of their own, which the caller adds.
 */
export function dayNames(
	of: 'start' | 'end',
	firstMs: number | undefined,
	lastMs: number | undefined,
	years: { first: number; last: number },
): string[] {
	const [from, to] = [firstMs ?? Number.NEGATIVE_INFINITY, lastMs ?? Number.POSITIVE_INFINITY];
	const names: string[] = [];
	const letters = rangeNames[of];
	const two = (number: number) => String(number).padStart(2, '0');
	// The last moment itself is taken in: a range may end where another begins.
	const isWithin = (start: number, end: number) => from <= start && end <= to;
	const isBeyond = (start: number, end: number) => end <= from || start > to;
	for (let year = years.first; year < years.last; year++) {
		const [decadeStart, decadeEnd] = [utc(year, 1, 1), utc(year + 10, 1, 1)];
		if (year % 10 === 0 && (isBeyond(decadeStart, decadeEnd) || isWithin(decadeStart, decadeEnd))) {
			if (isWithin(decadeStart, decadeEnd)) names.push(`${letters.decade}${year / 10}`);
			year += 9;
			continue;
		}
		const [yearStart, yearEnd] = [utc(year, 1, 1), utc(year + 1, 1, 1)];
		if (isBeyond(yearStart, yearEnd)) continue;
		if (isWithin(yearStart, yearEnd)) {
			names.push(`${letters.year}${year}`);
			continue;
		}
		for (let month = 1; month <= 12; month++) {
			const [monthStart, monthEnd] = [utc(year, month, 1), utc(year, month + 1, 1)];
			if (isBeyond(monthStart, monthEnd)) continue;
			if (isWithin(monthStart, monthEnd)) {
				names.push(`${letters.month}${year}-${two(month)}`);
				continue;
			}
			for (let day = 1; utc(year, month, day) < monthEnd; day++) {
				if (!isBeyond(utc(year, month, day), utc(year, month, day + 1))) names.push(`${letters.day}${year}-${two(month)}-${two(day)}`);
			}
		}
	}
	return names;
}

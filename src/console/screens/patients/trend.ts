import { statedAt } from '../../format.ts';
import type { PatientResult } from './calls.ts';

/** The results with one code, latest first. */
export interface ResultGroup {
	key: string;
	name: string;
	code: string;
	latest: PatientResult;
	rows: readonly PatientResult[];
}

export interface TrendPoint {
	/** Milliseconds since 1970. */
	at: number;
	value: number;
	low: number | null;
	high: number | null;
	result: PatientResult;
}

/** A point as it is drawn. */
export interface DrawnPoint extends TrendPoint {
	/** The place of its series in the trend. */
	index: number;
	name: string;
}

/** The values of one code in one unit, in order of time. */
export interface TrendSeries {
	name: string;
	unit: string;
	/** The place of its unit among those of the chart: 0 is the axis on the left, 1 the one on the right. */
	axis: number;
	points: readonly TrendPoint[];
}

export interface Trend {
	series: readonly TrendSeries[];
	/** A reader of the chart has to know these: units that differ, values that are not drawn. */
	doubts: readonly string[];
}

/** A chart has a left and a right axis. */
const unitsMax = 2;

/** These statuses say that the value does not hold. */
const unheld: readonly string[] = ['entered-in-error', 'cancelled'];

export function groupsOf(results: readonly PatientResult[]): ResultGroup[] {
	const groups = new Map<string, PatientResult[]>();
	for (const result of results) {
		// A component has the code of what it observes, and says in its text what it is a part of.
		const key = result.code === '' ? result.text : `${result.system}|${result.code}`;
		groups.set(key, [...(groups.get(key) ?? []), result]);
	}
	return [...groups].flatMap(([key, found]) => {
		const rows = found.toSorted(newestFirst);
		const [latest] = rows;
		return latest === undefined ? [] : [{ key, name: latest.text || latest.code, code: latest.code, latest, rows }];
	});
}

/** Results without a time are older than all others. */
function placeOf({ at }: PatientResult): number {
	const found = at === null ? Number.NaN : statedAt(at);
	return Number.isFinite(found) ? found : Number.NEGATIVE_INFINITY;
}

export function newestFirst(one: PatientResult, other: PatientResult): number {
	const [left, right] = [placeOf(one), placeOf(other)];
	return left === right ? 0 : right - left;
}

const numberOf = (digits: string | null) => (digits === null ? null : Number(digits));

export function pointsOf(rows: readonly PatientResult[]): TrendPoint[] {
	return rows
		.flatMap((result) => {
			const [at, value] = [placeOf(result), numberOf(result.digits)];
			if (value === null || !Number.isFinite(at) || unheld.includes(result.status)) return [];
			return [{ at, value, low: numberOf(result.low), high: numberOf(result.high), result }];
		})
		.toSorted((left, right) => left.at - right.at);
}

/** `in mmol/L`, `without a unit` */
export function inUnit(unit: string): string {
	return unit === '' ? 'without a unit' : `in ${unit}`;
}

/** Arranges codes on one chart. Values in one unit share an axis; nothing is converted, and a third unit is not drawn. */
export function trendOf(groups: readonly ResultGroup[]): Trend {
	const units: string[] = [];
	const series: TrendSeries[] = [];
	const doubts: string[] = [];
	for (const { name, rows } of groups) {
		const points = pointsOf(rows);
		const own = [...new Set(points.toReversed().map(({ result }) => result.unit))];
		if (own.length > 1)
			doubts.push(
				`${name} has values in ${own.map((unit) => unit || 'no unit').join(' and ')}. They are separate lines and are not converted.`,
			);
		for (const unit of own) {
			if (!units.includes(unit)) units.push(unit);
			const axis = units.indexOf(unit);
			if (axis < unitsMax) series.push({ name, unit, axis, points: points.filter(({ result }) => result.unit === unit) });
			else doubts.push(`${name} ${inUnit(unit)} is not drawn: a chart has two axes. The table has its values.`);
		}
		const others = rows.length - points.length;
		if (others > 0)
			doubts.push(`${name}: ${others === 1 ? '1 result is' : `${others} results are`} only in the table, without a number or a time.`);
	}
	return { series, doubts };
}

export interface Band {
	from: number;
	to: number;
	low: number | null;
	high: number | null;
}

/**
 * The reference range over time. A range holds for its result, so it reaches half way to the results beside it, and as far at either end. That
 * of a single result is drawn over the whole axis, from `from` to `to`.
 */
export function bandsOf(points: readonly TrendPoint[], from: number, to: number): Band[] {
	const bands: Band[] = [];
	for (const [index, { at, low, high }] of points.entries()) {
		const [before, after] = [points[index - 1]?.at, points[index + 1]?.at];
		const half = ((after ?? at) - (before ?? at)) / 2;
		const isOnly = before === undefined && after === undefined;
		const begins = before === undefined ? at - half : (before + at) / 2;
		const ends = after === undefined ? at + half : (at + after) / 2;
		const band = { ...(isOnly ? { from, to } : { from: begins, to: ends }), low, high };
		const last = bands.at(-1);
		if (last !== undefined && last.low === low && last.high === high) last.to = band.to;
		else bands.push(band);
	}
	return bands.filter(({ low, high }) => low !== null || high !== null);
}

export type Mark = 'high' | 'low' | 'abnormal';

/** The mark of a result, and who says it: its sender, or only its reference range. */
export function markOf({ flag, derived }: Pick<PatientResult, 'flag' | 'derived'>): { mark: Mark; by: 'sender' | 'range' } | undefined {
	if (flag !== null && flag !== 'normal') return { mark: flag, by: 'sender' };
	return derived === null ? undefined : { mark: derived, by: 'range' };
}

import type { Point } from '../../components/chart.tsx';
import type { OverviewPoint } from './calls.ts';

export const hourMs = 3_600_000;
/** The interval between two points. */
const pointMs = 10_000;

/** Merges points of the last hour, in order and without duplicates. */
export function merged(before: readonly OverviewPoint[], more: readonly OverviewPoint[]): OverviewPoint[] {
	const byTime = new Map([...before, ...more].map((point) => [point.at, point]));
	const points = [...byTime.values()].sort((left, right) => Date.parse(left.at) - Date.parse(right.at));
	const last = points.at(-1);
	return last === undefined ? [] : points.filter(({ at }) => Date.parse(at) > Date.parse(last.at) - hourMs);
}

/** Reduces the points that share one dot of a line to a value. */
type Fold = (values: readonly number[]) => number;
export const highest: Fold = (values) => Math.max(...values);
export const mean: Fold = (values) => values.reduce((total, value) => total + value, 0) / values.length;

/** An hour has 120 dots. More would be noise at the size of the charts. */
const dotMs = 30_000;

/** Draws one figure over time. Missing points break the line. */
export function line(points: readonly OverviewPoint[], value: (point: OverviewPoint) => number | null, fold: Fold): Point[] {
	const dots = Map.groupBy(points, ({ at }) => Math.floor(Date.parse(at) / dotMs));
	const drawn: Point[] = [];
	let before: number | undefined;
	for (const [dot, held] of dots) {
		const values = held.map(value).filter((one) => one !== null);
		if (before !== undefined && dot > before + 1) drawn.push({ at: (before + 1) * dotMs, value: null });
		drawn.push({ at: Date.parse(held.at(-1)?.at ?? ''), value: values.length === 0 ? null : fold(values) });
		before = dot;
	}
	return drawn;
}

/** The sum of the last minute. */
export function lastMinute(points: readonly OverviewPoint[], value: (point: OverviewPoint) => number): number {
	return points.slice(-6).reduce((total, point) => total + value(point), 0);
}

export const perSecond = (count: number) => count / (pointMs / 1000);

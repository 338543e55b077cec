import type { Point } from '../../components/chart.tsx';
import type { Alert, OverviewPoint } from './calls.ts';

export const hourMs = 3_600_000;
/** Between two points. */
const pointMs = 10_000;

/** The points of the last hour, each time once, in order. */
export function merged(before: readonly OverviewPoint[], more: readonly OverviewPoint[]): OverviewPoint[] {
	const byTime = new Map([...before, ...more].map((point) => [point.at, point]));
	const points = [...byTime.values()].sort((left, right) => Date.parse(left.at) - Date.parse(right.at));
	const last = points.at(-1);
	return last === undefined ? [] : points.filter(({ at }) => Date.parse(at) > Date.parse(last.at) - hourMs);
}

/** One figure over time; where points are missing, the line is broken. */
export function line(points: readonly OverviewPoint[], value: (point: OverviewPoint) => number | null): Point[] {
	return points.flatMap((point, index) => {
		const at = Date.parse(point.at);
		const before = points[index - 1];
		const gap = before !== undefined && at - Date.parse(before.at) > 3 * pointMs;
		return [...(gap ? [{ at: at - pointMs, value: null }] : []), { at, value: value(point) }];
	});
}

export const perSecond = (count: number) => count / (pointMs / 1000);

/** The figures of the overview, and the alerts that speak of each. */
const alertsOf = {
	rate: ['ConnectionsRefused', 'FrameErrors', 'KeysRefused', 'SendersDropped', 'HttpErrors', 'ShardDown', 'WorkerRestarts', 'DatabaseDown'],
	refused: ['RefusalsHigh', 'UnmatchedMessages', 'UnmatchedDropped'],
	latency: ['AcknowledgementSlow', 'EventLoopLag', 'BatchRetries'],
	waiting: ['MailboxBacklog', 'MailboxFull'],
	associations: ['InstancesRefused', 'AssociationsRejected', 'CommitmentGivenUp'],
	storage: ['InstancesDamaged', 'ConflictsOpen'],
} as const;

export type Figure = keyof typeof alertsOf;

export function toneOf(figure: Figure, alerts: readonly Alert[]): 'danger' | 'warning' | undefined {
	const names: readonly string[] = alertsOf[figure];
	const firing = alerts.filter(({ name }) => names.includes(name.replace(/^Tributary/, '')));
	if (firing.length === 0) return undefined;
	return firing.every(({ severity }) => severity === 'info') ? 'warning' : 'danger';
}

import { useEffect, useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { byteCeiling } from '../../components/chart.tsx';
import { Loading } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { bytes, count, figure, milliseconds } from '../../format.ts';
import { follow, type LiveState } from '../../live.ts';
import { Alerts } from './alerts.tsx';
import { livePath, type OverviewPoint, type OverviewState, readOverview } from './calls.ts';
import { type Figure, highest, lastMinute, line, mean, merged, perSecond, toneOf } from './figures.ts';
import { Mailboxes } from './mailboxes.tsx';
import { Tile, type TileProps } from './tile.tsx';

export function Overview() {
	const answer = useAnswer((signal) => readOverview({}, signal), []);
	const [live, setLive] = useState<OverviewPoint[]>([]);
	const [now, setNow] = useState<OverviewState>();
	const [state, setState] = useState<LiveState>('connecting');
	useEffect(() => {
		const point = (more: OverviewPoint) => setLive((before) => merged(before, [more]));
		return follow(livePath, { point, state: (holds: OverviewState) => setNow(holds) }, setState);
	}, []);
	useEffect(() => {
		// The answer has the points missed in the meantime, and shows if the sign-in session has ended.
		if (state === 'lost' || (state === 'open' && answer.data !== undefined)) answer.reload();
	}, [state]);
	const marks = <Connection state={state} />;
	if (answer.data === undefined) {
		return (
			<Page title="Overview" marks={marks}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading lines={8} />}
			</Page>
		);
	}
	return (
		<Page title="Overview" marks={marks}>
			{answer.failure && <Problem failure={answer.failure} onRetry={answer.reload} />}
			<Figures overview={now ?? answer.data} points={merged(answer.data.points, live)} />
		</Page>
	);
}

function Connection({ state }: { state: LiveState }) {
	if (state === 'open') return <Badge tone="good">Live</Badge>;
	return <Badge tone={state === 'lost' ? 'warning' : 'neutral'}>{state === 'lost' ? 'Connection lost, reconnecting' : 'Connecting'}</Badge>;
}

type Described = Omit<TileProps, 'tone'> & { name: Figure };

function Figures({ overview, points }: { overview: OverviewState; points: readonly OverviewPoint[] }) {
	const { alerts, mailboxes, storage_bytes } = overview;
	/** Figures that cannot be split by site are shown only to users with access to all sites. */
	const whole = points.at(-1)?.associations !== null;
	const storage: Described = {
		name: 'storage',
		title: 'Storage',
		value: storage_bytes === null ? '–' : bytes(storage_bytes),
		unit: 'used',
		note: whole ? 'Database and images' : 'Images of your sites',
		chart: 'Storage used',
		series: [{ name: 'used', points: line(points, (point) => point.storage_bytes, highest) }],
		format: bytes,
		top: byteCeiling,
	};
	const tiles = [...traffic(points, mailboxes.length), ...(whole ? ofTheNode(points) : []), storage];
	return (
		<>
			<Alerts alerts={alerts} />
			<div class="tiles">
				{tiles.map(({ name, ...tile }) => (
					<Tile key={name} {...tile} tone={toneOf(name, alerts)} />
				))}
			</div>
			<Mailboxes mailboxes={mailboxes} />
		</>
	);
}

function traffic(points: readonly OverviewPoint[], waitingSites: number): Described[] {
	const last = points.at(-1);
	const sum = (value: (point: OverviewPoint) => number) => points.reduce((total, point) => total + value(point), 0);
	return [
		{
			name: 'rate',
			title: 'Messages received',
			value: figure(perSecond(last?.received ?? 0)),
			unit: 'per second',
			note: `${count(
				sum(({ received }) => received),
				'message',
			)} in the last hour`,
			chart: 'Messages received per second',
			series: [{ name: 'received', points: line(points, ({ received }) => perSecond(received), mean) }],
		},
		{
			name: 'refused',
			title: 'Refused',
			value: figure(lastMinute(points, ({ refused }) => refused)),
			unit: 'in the last minute',
			note: `${count(
				sum(({ refused }) => refused),
				'message',
			)} in the last hour`,
			chart: 'Messages refused per ten seconds',
			series: [{ name: 'refused', points: line(points, ({ refused }) => refused, highest) }],
		},
		{
			name: 'waiting',
			title: 'Waiting in mailboxes',
			value: figure(last?.waiting ?? 0),
			unit: last?.waiting === 1 ? 'message' : 'messages',
			note: waitingSites === 0 ? 'No messages waiting' : `In ${count(waitingSites, 'site')}`,
			chart: 'Messages waiting',
			series: [{ name: 'waiting', points: line(points, ({ waiting }) => waiting, highest) }],
		},
	];
}

function ofTheNode(points: readonly OverviewPoint[]): Described[] {
	const measured = points.findLast((point) => point.latency_p99_ms !== null);
	const shown = (value: number | null | undefined) => (value === null || value === undefined ? '–' : milliseconds(value));
	return [
		{
			name: 'latency',
			title: 'Time to acknowledgement',
			value: shown(measured?.latency_p99_ms),
			unit: 'p99',
			note: `Half within ${shown(measured?.latency_p50_ms)}`,
			chart: 'Time to acknowledgement',
			series: [
				{ name: 'p99', points: line(points, (point) => point.latency_p99_ms, highest) },
				{ name: 'p50', points: line(points, (point) => point.latency_p50_ms, mean) },
			],
			format: milliseconds,
		},
		{
			name: 'associations',
			title: 'DICOM associations',
			value: figure(points.at(-1)?.associations ?? 0),
			unit: 'open',
			note: 'With modalities and archives',
			chart: 'Open associations',
			series: [{ name: 'open', points: line(points, ({ associations }) => associations, highest) }],
		},
	];
}

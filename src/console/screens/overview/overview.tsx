import { useEffect, useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { byteCeiling } from '../../components/chart.tsx';
import { Loading } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { bytes, clockTime, count, figure, milliseconds, rate } from '../../format.ts';
import { follow, type LiveState } from '../../live.ts';
import { Alerts } from './alerts.tsx';
import { type LastHour, livePath, type OverviewPoint, type OverviewState, readOverview } from './calls.ts';
import { highest, lastMinute, line, mean, merged, perSecond } from './figures.ts';
import { Mailboxes } from './mailboxes.tsx';
import { Tile, type TileProps } from './tile.tsx';
import { type Figure, toneOf } from './tones.ts';

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
	const points = merged(answer.data.points, live);
	return (
		<Page title="Overview" marks={marks}>
			{answer.failure && <Problem failure={answer.failure} onRetry={answer.reload} />}
			<Figures overview={now ?? answer.data} points={points} unknownSince={state === 'lost' ? points.at(-1)?.at : undefined} />
		</Page>
	);
}

function Connection({ state }: { state: LiveState }) {
	if (state === 'open') return <Badge tone="good">Live</Badge>;
	return <Badge tone={state === 'lost' ? 'warning' : 'neutral'}>{state === 'lost' ? 'Connection lost, reconnecting' : 'Connecting'}</Badge>;
}

type Described = Omit<TileProps, 'tone' | 'unknownSince'> & { name: Figure };

interface FiguresProps {
	overview: OverviewState;
	points: readonly OverviewPoint[];
	/** While the service does not answer, what is shown was true then. */
	unknownSince: string | undefined;
}

function Figures({ overview, points, unknownSince }: FiguresProps) {
	const { alerts, mailboxes, storage_bytes } = overview;
	/** Figures that cannot be split by site are shown only to users with access to all sites. */
	const whole = points.at(-1)?.associations !== null;
	const storage: Described = {
		name: 'storage',
		href: '/studies',
		title: 'Storage',
		value: storage_bytes === null ? '–' : bytes(storage_bytes),
		unit: 'used',
		note: whole ? 'Database and images' : 'Images of your sites',
		chart: 'Storage used',
		series: [{ name: 'used', points: line(points, (point) => point.storage_bytes, highest) }],
		format: bytes,
		top: byteCeiling,
	};
	const tiles = [...traffic(points, overview), ...(whole ? ofTheNode(points) : []), storage];
	return (
		<>
			<Alerts alerts={alerts} unknownSince={unknownSince} />
			<div class="tiles">
				{tiles.map(({ name, ...tile }) => (
					<Tile key={name} {...tile} tone={toneOf(name, alerts)} unknownSince={unknownSince} />
				))}
			</div>
			<Mailboxes mailboxes={mailboxes} unknownSince={unknownSince} />
		</>
	);
}

/** Tells the number of the last hour over all nodes, and since when it is counted if that is not the whole hour. */
function noteOf(last_hour: OverviewState['last_hour'], number: (hour: LastHour) => number): string {
	if (last_hour === null) return 'The last hour is not known yet';
	const { since, minutes } = last_hour;
	const isWhole = since === minutes[0]?.at;
	return `${count(number(last_hour), 'message')} ${isWhole ? 'in the last hour' : `since ${clockTime(new Date(since))}`}, all nodes`;
}

/** A line of the minutes of the last hour but the present one, which has not ended. */
function byMinute(last_hour: OverviewState['last_hour'], value: (minute: LastHour['minutes'][number]) => number) {
	const { minutes = [], since = '' } = last_hour ?? {};
	return minutes.slice(0, -1).map((minute) => ({ at: Date.parse(minute.at), value: minute.at < since ? null : value(minute) }));
}

function traffic(points: readonly OverviewPoint[], { mailboxes, last_hour }: OverviewState): Described[] {
	const last = points.at(-1);
	const waitingSites = mailboxes.length;
	return [
		{
			name: 'rate',
			href: '/messages',
			title: 'Messages received',
			value: rate(perSecond(last?.received ?? 0)),
			unit: 'per second',
			note: noteOf(last_hour, ({ received }) => received),
			chart: 'Messages received per second, all nodes',
			series: [{ name: 'received', points: byMinute(last_hour, ({ received }) => received / 60) }],
			format: rate,
		},
		{
			name: 'refused',
			href: '/failures',
			title: 'Refused',
			value: figure(lastMinute(points, ({ refused }) => refused)),
			unit: 'in the last minute',
			note: noteOf(last_hour, ({ refused }) => refused),
			chart: 'Messages refused per minute, all nodes',
			series: [{ name: 'refused', points: byMinute(last_hour, ({ refused }) => refused) }],
		},
		{
			name: 'waiting',
			href: '/sites',
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
			href: '/messages',
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
			href: '/associations',
			title: 'DICOM associations',
			value: figure(points.at(-1)?.associations ?? 0),
			unit: 'open',
			note: 'With modalities and archives',
			chart: 'Open associations',
			series: [{ name: 'open', points: line(points, ({ associations }) => associations, highest) }],
		},
	];
}

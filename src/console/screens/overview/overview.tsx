import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { AreaChart, type Point, type Series } from '../../components/chart.tsx';
import { Loading } from '../../components/empty.tsx';
import { Icon } from '../../components/icon.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Table } from '../../components/table.tsx';
import { Ago } from '../../components/time.tsx';
import { announce } from '../../components/toast.tsx';
import { bytes, count, figure, milliseconds } from '../../format.ts';
import { follow, type LiveState } from '../../live.ts';
import { useSites } from '../../scope.ts';
import { useKept } from '../../store.ts';
import { type Alert, livePath, type OverviewAnswer, type OverviewPoint, readOverview } from './calls.ts';
import { type Figure, hourMs, line, merged, perSecond, toneOf } from './figures.ts';

/** What is not in the points: alerts, mailboxes and storage. */
const againMs = 20_000;

export function Overview() {
	const answer = useAnswer((signal) => readOverview({}, signal), []);
	const [live, setLive] = useState<OverviewPoint[]>([]);
	const [state, setState] = useState<LiveState>('connecting');
	useEffect(() => {
		const end = follow<OverviewPoint>(livePath, 'point', (point) => setLive((before) => merged(before, [point])), setState);
		const timer = setInterval(answer.reload, againMs);
		return () => {
			end();
			clearInterval(timer);
		};
	}, []);
	useEffect(() => {
		// What happened meanwhile is in the answer, not in the events.
		if (state === 'open') answer.reload();
	}, [state]);
	return (
		<Page title="Overview" marks={<Connection state={state} />}>
			{answer.data === undefined ? (
				answer.failure ? (
					<Problem failure={answer.failure} onRetry={answer.reload} />
				) : (
					<Loading lines={8} />
				)
			) : (
				<Figures overview={answer.data} points={merged(answer.data.points, live)} />
			)}
		</Page>
	);
}

function Connection({ state }: { state: LiveState }) {
	if (state === 'open') return <Badge tone="good">Live</Badge>;
	return <Badge tone={state === 'lost' ? 'warning' : 'neutral'}>{state === 'lost' ? 'Connection lost, trying again' : 'Connecting'}</Badge>;
}

function Figures({ overview, points }: { overview: OverviewAnswer; points: readonly OverviewPoint[] }) {
	const { alerts, mailboxes, storage_bytes } = overview;
	const last = points.at(-1);
	const sum = (value: (point: OverviewPoint) => number) => points.reduce((total, point) => total + value(point), 0);
	const latency = (value: number | null | undefined) => (value === null || value === undefined ? '–' : milliseconds(value));
	const chart = (title: string, figureName: Figure, series: Series[], format?: (value: number) => string) => (
		<Chart title={title} series={series} tone={toneOf(figureName, alerts)} {...(format === undefined ? {} : { format })} />
	);
	const hidden = last?.associations === null;
	const storage = useStorage(storage_bytes);
	return (
		<>
			<Alerts alerts={alerts} />
			<div class="tiles">
				<Tile title="Messages received" value={figure(perSecond(last?.received ?? 0))} unit="a second" note={`${count(sum((point) => point.received), 'message')} in the last hour`} tone={toneOf('rate', alerts)}>
					{chart('Messages received a second', 'rate', [{ name: 'received', points: line(points, ({ received }) => perSecond(received)) }])}
				</Tile>
				{!hidden && (
					<Tile title="Acknowledgement" value={latency(last?.latency_p99_ms)} unit="p99" note={`Half within ${latency(last?.latency_p50_ms)}`} tone={toneOf('latency', alerts)}>
						{chart(
							'Time to acknowledgement',
							'latency',
							[
								{ name: 'p99', points: line(points, (point) => point.latency_p99_ms) },
								{ name: 'p50', points: line(points, (point) => point.latency_p50_ms) },
							],
							milliseconds,
						)}
					</Tile>
				)}
				<Tile title="Refused" value={figure(last?.refused ?? 0)} unit="in 10 s" note={`${count(sum((point) => point.refused), 'message')} in the last hour`} tone={toneOf('refused', alerts)}>
					{chart('Messages refused in ten seconds', 'refused', [{ name: 'refused', points: line(points, ({ refused }) => refused) }])}
				</Tile>
				<Tile title="Waiting in mailboxes" value={figure(last?.waiting ?? 0)} unit={last?.waiting === 1 ? 'message' : 'messages'} note={mailboxes.length === 0 ? 'No site has to wait' : `Of ${count(mailboxes.length, 'site')}`} tone={toneOf('waiting', alerts)}>
					{chart('Messages waiting', 'waiting', [{ name: 'waiting', points: line(points, ({ waiting }) => waiting) }])}
				</Tile>
				{!hidden && (
					<Tile title="DICOM associations" value={figure(last?.associations ?? 0)} unit="open" note="Inbound, of this node" tone={toneOf('associations', alerts)}>
						{chart('Associations open', 'associations', [{ name: 'open', points: line(points, ({ associations }) => associations) }])}
					</Tile>
				)}
				<Tile title="Storage" value={storage_bytes === null ? '–' : bytes(storage_bytes)} unit="used" note={hidden ? 'Images of your sites' : 'Database and images'} tone={toneOf('storage', alerts)}>
					<Chart title="Storage used" series={[{ name: 'used', points: storage }]} tone={toneOf('storage', alerts)} format={bytes} />
				</Tile>
			</div>
			<Mailboxes mailboxes={mailboxes} />
		</>
	);
}

function Chart({ title, series, ...rest }: { title: string; series: Series[]; tone: 'danger' | 'warning' | undefined; format?: (value: number) => string }) {
	const to = series[0]?.points.at(-1)?.at ?? Date.now();
	return <AreaChart title={title} series={series} from={to - hourMs} to={to} {...rest} />;
}

interface TileProps {
	title: string;
	value: string;
	unit: string;
	note: string;
	tone: 'danger' | 'warning' | undefined;
	children: ComponentChildren;
}

function Tile({ title, value, unit, note, tone, children }: TileProps) {
	return (
		<section class={`tile ${tone ?? ''}`} aria-label={title}>
			<h2>
				{title}
				{tone && <Badge tone={tone}>Alert</Badge>}
			</h2>
			<p class="tile-value">
				<b>{value}</b> {unit}
			</p>
			<p class="tile-note">{note}</p>
			{children}
		</section>
	);
}

/** The service tells what is used now; what it told while this page has been open makes the line. */
function useStorage(used: number | null): Point[] {
	const [readings, setReadings] = useKept<Point[]>('overview storage', []);
	useEffect(() => {
		const at = Date.now();
		if (used !== null) setReadings([...readings.filter((reading) => reading.at > at - hourMs), { at, value: used }]);
	}, [used]);
	return used === null ? [] : [...readings, { at: Date.now(), value: used }];
}

function Mailboxes({ mailboxes }: Pick<OverviewAnswer, 'mailboxes'>) {
	const sites = useSites();
	const rows = [...mailboxes].filter(({ waiting }) => waiting > 0).sort((left, right) => right.waiting - left.waiting);
	const most = Math.max(1, ...rows.map(({ waiting }) => waiting));
	return (
		<Panel title="Mailboxes by site">
			{rows.length === 0 ? (
				<p class="muted">Nothing waits: every message is written as it comes.</p>
			) : (
				<Table
					caption="Messages that wait, by site"
					rows={rows}
					identify={({ site }) => site}
					href={({ site }) => `/sites/${site}`}
					columns={[
						{ name: 'site', title: 'Site', cell: ({ site }) => sites.find(({ slug }) => slug === site)?.name ?? site },
						{
							name: 'depth',
							title: 'Depth',
							cell: ({ waiting }) => <progress class="depth" aria-label={`${waiting} of ${most}`} value={waiting} max={most} />,
						},
						{ name: 'waiting', title: 'Waiting', align: 'end', tight: true, cell: ({ waiting }) => count(waiting, 'message') },
					]}
				/>
			)}
		</Panel>
	);
}

function Alerts({ alerts }: { alerts: readonly Alert[] }) {
	const names = alerts.map(({ name }) => name).join();
	useEffect(() => {
		if (alerts.length > 0) announce(`${count(alerts.length, 'alert')}: ${alerts.map(({ summary }) => summary).join('; ')}`);
	}, [names]);
	if (alerts.length === 0) {
		return (
			<p class="all-well">
				<Icon name="check" /> No alerts
			</p>
		);
	}
	return (
		<ul class="alerts" aria-label="Alerts">
			{alerts.map(({ name, since, summary, severity }) => (
				<li key={`${name} ${summary}`} class={severity}>
					<Icon name="failures" />
					<div>
						<strong>{`${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}`}</strong>
						<span class="sub">
							{severity} · since <Ago at={since} /> · <code>{name}</code>
						</span>
					</div>
				</li>
			))}
		</ul>
	);
}

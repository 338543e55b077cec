import { useEffect, useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { LinkButton } from '../../components/button.tsx';
import { Sparkline } from '../../components/chart.tsx';
import { CsvButton } from '../../components/csv-button.tsx';
import { Empty, Loading } from '../../components/empty.tsx';
import { useOrder } from '../../components/order.ts';
import { Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Ago } from '../../components/time.tsx';
import { count, figure, milliseconds } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import { setQuery, usePlace } from '../../router.ts';
import { useSiteScope, useSites } from '../../scope.ts';
import { may } from '../../session.ts';
import { type FeedRecord, listFeeds } from './calls.ts';
import { Network } from './network.tsx';
import { kindOf, placeOf, State, states } from './states.tsx';

/** Figures are written every five seconds; a person who looks for a change does not wait long. */
const refreshMs = 10_000;

const pathOf = ({ id, kind }: FeedRecord) => (kind === 'unmatched' ? '/unmatched' : pageOf('feed', { id }));

const columns: readonly Column<FeedRecord>[] = [
	{
		name: 'name',
		title: 'Feed',
		by: ({ name }) => name,
		cell: (feed) => (
			<span class="feed-name">
				{feed.name} <span class="sub">{kindOf(feed)}</span>
			</span>
		),
	},
	{ name: 'state', title: 'State', by: placeOf, tight: true, cell: ({ state }) => <State state={state} /> },
	{ name: 'heard', title: 'Last heard', by: ({ last_heard: at }) => at, tight: true, cell: ({ last_heard: at }) => <Ago at={at} /> },
	{
		name: 'hours',
		title: 'Last 24 hours',
		tight: true,
		cell: ({ name, hours }) => (
			<Sparkline
				label={`Messages an hour from ${name}`}
				points={hours.map(({ at, received }) => ({ at: Date.parse(at), value: received }))}
			/>
		),
	},
	{ name: 'rate', title: 'Last hour', by: ({ received }) => received, align: 'end', tight: true, cell: ({ received }) => figure(received) },
	{
		name: 'refused',
		title: 'Refused',
		by: ({ refused }) => refused,
		align: 'end',
		tight: true,
		cell: ({ refused }) => (refused > 0 ? <b class="danger-text">{figure(refused)}</b> : '0'),
	},
	{
		name: 'queued',
		title: 'Queued',
		by: ({ queued }) => queued,
		align: 'end',
		tight: true,
		spare: true,
		cell: ({ queued }) => figure(queued),
	},
	{
		name: 'p99',
		title: 'p99',
		by: ({ p99_ms: ms }) => ms,
		align: 'end',
		tight: true,
		spare: true,
		cell: ({ p99_ms: ms }) => (ms === null ? <span class="muted">–</span> : `≤ ${milliseconds(ms)}`),
	},
	{
		name: 'alert',
		title: 'Alert',
		tight: true,
		spare: true,
		cell: ({ alert, site }) =>
			alert === null ? <span class="muted">–</span> : <a href={`/alerts?${new URLSearchParams({ site: site ?? '' })}`}>Silent</a>,
	},
];

/** Every sender with its state: the screen that people have open. */
export function Feeds() {
	const site = useSiteScope();
	const wanted = usePlace().query.get('state') ?? '';
	const [turn, setTurn] = useState(0);
	const answer = useAnswer((signal) => listFeeds({ site }, signal), [site]);
	useEffect(() => {
		const timer = setInterval(() => {
			if (document.hidden) return;
			answer.reload();
			setTurn((before) => before + 1);
		}, refreshMs);
		return () => clearInterval(timer);
	}, [answer.reload]);
	const feeds = answer.data ?? [];
	const shown = feeds.filter(({ state }) => wanted === '' || state === wanted);
	return (
		<Page
			title="Feeds"
			lead="This page shows every sender, and the traffic that matches none of them. The figures are those of all nodes."
			actions={shown.length > 0 && <CsvButton name="feeds" rows={shown} />}
		>
			{answer.failure && <Problem failure={answer.failure} onRetry={answer.reload} />}
			{answer.data === undefined ? (
				!answer.failure && <Loading lines={8} />
			) : feeds.length === 0 ? (
				<NoFeeds />
			) : (
				<>
					<Network turn={turn} />
					<States feeds={feeds} wanted={wanted} />
					<Groups feeds={shown} />
				</>
			)}
		</Page>
	);
}

/** Counts the feeds in each state; a press shows only these. */
function States({ feeds, wanted }: { feeds: readonly FeedRecord[]; wanted: string }) {
	const held = states.map(({ state, title, tone }) => ({
		...{ state, title, tone },
		held: feeds.filter((feed) => feed.state === state).length,
	}));
	return (
		<p class="state-filter">
			{held
				.filter(({ held: number, state }) => number > 0 || state === wanted)
				.map(({ state, title, tone, held: number }) => (
					<button
						key={state}
						type="button"
						class="state-choice"
						aria-pressed={state === wanted}
						onClick={() => setQuery({ state: state === wanted ? '' : state })}
					>
						<Badge tone={tone}>{`${number} ${title.toLowerCase()}`}</Badge>
					</button>
				))}
			<span class="muted">{count(feeds.length, 'feed')}</span>
		</p>
	);
}

/** Groups the feeds by site; those that need somebody come first. */
function Groups({ feeds }: { feeds: readonly FeedRecord[] }) {
	const sites = useSites();
	const { columns: heads, ordered } = useOrder('feeds', columns, true);
	if (feeds.length === 0) return <Empty icon="check" title="No feed has this state" />;
	return (
		<>
			{[...Map.groupBy(feeds, ({ site }) => site)].map(([site, rows]) => {
				const title = site === null ? 'No site' : (sites.find(({ slug }) => slug === site)?.name ?? site);
				return (
					<Panel key={site ?? ''} title={title}>
						<Table
							caption={`Feeds of ${title}`}
							columns={heads}
							rows={ordered(rows.toSorted((left, right) => placeOf(left) - placeOf(right)))}
							identify={({ id }) => id}
							href={pathOf}
							faded={({ state }) => state === 'disabled'}
							tone={({ state }) => (state === 'failing' || state === 'silent' ? 'danger' : undefined)}
						/>
					</Panel>
				);
			})}
		</>
	);
}

function NoFeeds() {
	const hasSites = useSites().length > 0;
	return (
		<Empty icon="clients" title="No senders yet">
			<p>A hospital information system, a laboratory or a modality becomes an integration client of its site; others get an API key.</p>
			{may('manager') && (
				<p>
					{hasSites ? (
						<LinkButton href="/clients" icon="plus" kind="primary">
							Add an integration client
						</LinkButton>
					) : (
						<LinkButton href="/sites" icon="plus" kind="primary">
							Create the first site
						</LinkButton>
					)}
				</p>
			)}
		</Empty>
	);
}

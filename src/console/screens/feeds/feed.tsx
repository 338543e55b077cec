import { useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { useAct } from '../../components/act.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, LinkButton } from '../../components/button.tsx';
import { AreaChart } from '../../components/chart.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Loading } from '../../components/empty.tsx';
import { InForce } from '../../components/in-force.tsx';
import { Facts, Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Table } from '../../components/table.tsx';
import { Ago, Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { figure, milliseconds } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import type { ScreenProps } from '../../screen.ts';
import { may } from '../../session.ts';
import { protocolNames } from '../clients/fields.ts';
import { Outcome } from '../messages/outcome.tsx';
import { pauseFeed, resumeFeed, type ShownFeed, showFeed } from './calls.ts';
import { kindOf, State, silenceOf } from './states.tsx';
import { TestMessage } from './test-message.tsx';

const up = { href: '/', title: 'Feeds' };

export function Feed({ parameters: { id = '' } }: ScreenProps) {
	const answer = useAnswer((signal) => showFeed({ id }, signal), [id]);
	if (answer.data === undefined) {
		return (
			<Page title="Feed" up={up}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading lines={8} />}
			</Page>
		);
	}
	return <Shown feed={answer.data} reload={answer.reload} />;
}

function Shown({ feed, reload }: { feed: ShownFeed; reload(): void }) {
	const [asking, setAsking] = useState<'pause' | 'test'>();
	const close = () => setAsking(undefined);
	const isSender = feed.kind === 'client' || feed.kind === 'key';
	const isPaused = feed.state === 'paused';
	const [, act] = useAct();
	const resume = async () => {
		await resumeFeed({ id: feed.id });
		say(`${feed.name} is resumed.`);
		reload();
	};
	const actions = (
		<>
			<Button onClick={reload}>Refresh</Button>
			{isSender && may('manager') && (
				<>
					<Button onClick={() => setAsking('test')}>Send a test message…</Button>
					{isPaused ? (
						<Button kind="primary" onClick={() => act(resume)}>
							Resume
						</Button>
					) : (
						<Button onClick={() => setAsking('pause')}>Pause…</Button>
					)}
				</>
			)}
			{feed.kind === 'client' && <LinkButton href={pageOf('client', { id: feed.id })}>Settings</LinkButton>}
			{feed.kind === 'key' && <LinkButton href={`/keys?${new URLSearchParams({ site: feed.site ?? '' })}`}>Settings</LinkButton>}
		</>
	);
	const marks = (
		<>
			<State state={feed.state} />
			{feed.site !== null && <Badge>{feed.site}</Badge>}
		</>
	);
	return (
		<Page title={feed.name} up={up} marks={marks} actions={actions}>
			<div class="columns wide-first">
				<div>
					<Traffic feed={feed} />
					<Failures feed={feed} />
					<Messages feed={feed} />
				</div>
				<div>
					<Panel title="Now">
						<Facts facts={factsOf(feed)} />
					</Panel>
					<InForceHere feed={feed} />
					<Changes feed={feed} />
				</div>
			</div>
			{asking === 'pause' && <Pause feed={feed} onClose={close} reload={reload} />}
			{asking === 'test' && <TestMessage feed={feed} onClose={close} />}
		</Page>
	);
}

function factsOf(feed: ShownFeed) {
	const { last_heard, received, refused, queued, p99_ms, protocols, called_ae, since } = feed;
	return [
		['Kind', kindOf(feed)],
		['By', protocols.map((protocol) => protocolNames[protocol] ?? protocol.toUpperCase()).join(', ')],
		['Last heard', <Ago key="heard" at={last_heard} />],
		['Silent', silenceOf(feed)],
		['Last hour', `${figure(received)} received, ${figure(refused)} refused`],
		['Queued', figure(queued)],
		['Acknowledged', p99_ms === null ? 'nothing in the last hours' : `99 of 100 within ${milliseconds(p99_ms)}`],
		['AE title of the site', called_ae],
		['Figures since', since === null ? null : <Time key="since" at={since} />],
	] as const;
}

/** Which settings hold for what this feed sends, and where each comes from. */
function InForceHere({ feed: { kind, settings } }: { feed: ShownFeed }) {
	if (settings === null) return null;
	const holder = kind === 'client' || kind === 'key' ? kind : undefined;
	return (
		<Panel title="Settings in force">
			{holder !== undefined && <InForce holder={holder} settings={settings} here="set for this feed" />}
			<details class="runbook" open={holder === undefined}>
				<summary>Settings of its site</summary>
				<InForce holder="site" without={holder} settings={settings} here="set for the site" />
			</details>
		</Panel>
	);
}

function Traffic({ feed: { hours } }: { feed: ShownFeed }) {
	const times = hours.map(({ at }) => Date.parse(at));
	const points = (of: (hour: ShownFeed['hours'][number]) => number) => hours.map((hour) => ({ at: Date.parse(hour.at), value: of(hour) }));
	const series = [
		{ name: 'received', points: points(({ received }) => received) },
		{ name: 'refused', points: points(({ refused }) => refused) },
	];
	return (
		<Panel title="Last 24 hours">
			<AreaChart title="Messages an hour" series={series} from={times[0] ?? 0} to={times.at(-1) ?? 1} height={180} />
		</Panel>
	);
}

function Failures({ feed: { failures, site } }: { feed: ShownFeed }) {
	return (
		<Panel title="Failures by cause">
			{failures.length === 0 ? (
				<p class="muted">Nothing was refused.</p>
			) : (
				<Table
					caption="Failures by cause"
					rows={failures}
					identify={({ cause }) => cause}
					href={({ cause }) => `/messages?${new URLSearchParams({ site: site ?? '', cause })}`}
					columns={[
						{ name: 'failure', title: 'Cause', cell: ({ failure }) => failure },
						{ name: 'type', title: 'Type', tight: true, cell: ({ message_type: type }) => <code>{type || '–'}</code> },
						{ name: 'messages', title: 'Messages', align: 'end', tight: true, cell: ({ messages }) => figure(messages) },
						{ name: 'last', title: 'Last', tight: true, cell: ({ last_at }) => <Ago at={last_at} /> },
					]}
				/>
			)}
		</Panel>
	);
}

function Messages({ feed: { messages } }: { feed: ShownFeed }) {
	return (
		<Panel title="Latest messages">
			{messages.length === 0 ? (
				<p class="muted">The message log has no message from this sender. Images and accepted FHIR requests are counted but not logged.</p>
			) : (
				<Table
					caption="Latest messages"
					rows={messages}
					identify={({ id }) => id}
					href={({ id }) => pageOf('message', { id })}
					columns={[
						{ name: 'at', title: 'Received', tight: true, cell: ({ received_at: at }) => <Time at={at} /> },
						{ name: 'type', title: 'Type', cell: ({ message_type: type }) => <code>{type || '–'}</code> },
						{ name: 'control', title: 'Control id', spare: true, cell: ({ control_id: control }) => <code>{control || '–'}</code> },
						{ name: 'outcome', title: 'Outcome', tight: true, cell: ({ outcome }) => <Outcome outcome={outcome} /> },
					]}
				/>
			)}
		</Panel>
	);
}

function Changes({ feed: { changes, site } }: { feed: ShownFeed }) {
	return (
		<Panel title="Who changed what">
			{changes.length === 0 ? (
				<p class="muted">None of the latest events of the site changed this feed.</p>
			) : (
				<ul class="plain-list">
					{changes.map(({ id, at, actor, action }) => (
						<li key={id}>
							<code>{action}</code> {actor}{' '}
							<span class="sub">
								<Ago at={at} />
							</span>
						</li>
					))}
				</ul>
			)}
			<p>
				<a href={`/audit?${new URLSearchParams({ site: site ?? '' })}`}>The audit trail of the site</a>
			</p>
		</Panel>
	);
}

function Pause({ feed, onClose, reload }: { feed: ShownFeed; onClose(): void; reload(): void }) {
	const [reason, setReason] = useState('');
	const act = async () => {
		await pauseFeed({ id: feed.id, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) });
		say(`${feed.name} is paused.`);
		onClose();
		reload();
	};
	return (
		<Confirm title={`Pause ${feed.name}?`} action="Pause" onConfirm={act} onClose={onClose}>
			<p>
				Nothing is taken from this sender until you resume it. Messages over MLLP wait, HTTP requests are answered with 503, and C-STORE
				with 0xA700. The sender keeps what it has not delivered, and stored data stays readable.
			</p>
			<div class="field">
				<label for="pause-reason">Reason, for the audit trail</label>
				<input
					id="pause-reason"
					value={reason}
					maxLength={200}
					onInput={(event) => setReason(event.currentTarget.value)}
					autocomplete="off"
				/>
			</div>
		</Confirm>
	);
}

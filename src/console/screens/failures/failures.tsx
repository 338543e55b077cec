import { useState } from 'preact/hooks';
import { useAnswer, wholeList } from '../../answers.ts';
import { queryOf } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, LinkButton } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Empty, Loading } from '../../components/empty.tsx';
import { Histogram } from '../../components/histogram.tsx';
import { Page } from '../../components/page.tsx';
import { noPeriod } from '../../components/period.tsx';
import { Problem } from '../../components/problem.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Ago, Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { count } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import { navigate } from '../../router.ts';
import { useSiteScope } from '../../scope.ts';
import { may } from '../../session.ts';
import { useKept } from '../../store.ts';
import { countMessages, previewRemedy } from '../messages/calls.ts';
import { surfaceNames } from '../messages/outcome.tsx';
import { Trial, Unchanged } from '../messages/remedy.tsx';
import { SetAside } from '../messages/set-aside.tsx';
import { type FailureRecord, listFailures, listReplays, startReplay } from './calls.ts';
import { Run } from './run.tsx';

const windows: readonly (readonly [days: string, label: string])[] = [
	['1', 'the last day'],
	['7', 'the last week'],
	['30', 'the last 30 days'],
	['', 'all time'],
];

/** All time would be a long count. */
const lastMonth = () => new Date(Date.now() - 30 * 86_400_000).toISOString();

type Ask = (what: 'replay' | 'set-aside', group: FailureRecord) => void;

function columns(onAsk: Ask): readonly Column<FailureRecord>[] {
	return [
		{
			name: 'cause',
			title: 'Cause',
			by: ({ failure, failure_code: code }) => failure || code,
			cell: ({ failure, failure_code }) => (
				<>
					{failure || failure_code}
					<span class="sub">{failure_code}</span>
				</>
			),
		},
		{
			name: 'type',
			title: 'Type',
			by: ({ message_type: type }) => type || null,
			cell: ({ message_type, surface }) => (
				<>
					<code>{message_type || '–'}</code>
					<span class="sub">{surfaceNames[surface] ?? surface}</span>
				</>
			),
		},
		{ name: 'site', title: 'Site', by: ({ site }) => site, tight: true, cell: ({ site }) => <code>{site}</code> },
		{
			name: 'open',
			title: 'Open',
			by: ({ open }) => open,
			align: 'end',
			tight: true,
			cell: ({ open, messages, set_aside: aside }) => (
				<>
					{open > 0 ? <Badge tone="danger">{open}</Badge> : aside > 0 ? <Badge>set aside</Badge> : <Badge tone="good">resolved</Badge>}
					<span class="sub">
						of {messages}
						{aside > 0 && `, ${aside} set aside`}
					</span>
				</>
			),
		},
		{
			name: 'first',
			title: 'First',
			by: ({ first_at: at }) => at,
			spare: true,
			tight: true,
			cell: ({ first_at }) => <Time at={first_at} />,
		},
		{ name: 'last', title: 'Last', by: ({ last_at: at }) => at, tight: true, cell: ({ last_at }) => <Ago at={last_at} /> },
		{
			name: 'actions',
			title: '',
			tight: true,
			cell: (group) => (
				<span class="row-actions">
					<LinkButton href={pageOf('message', { id: group.open_id ?? group.last_id })}>
						{group.open_id && may('manager') ? 'Mend' : 'Latest'}
					</LinkButton>
					{group.open > 0 && may('manager') && (
						<>
							{group.replayable && (
								<Button icon="replay" onClick={() => onAsk('replay', group)}>
									Replay…
								</Button>
							)}
							<Button kind="quiet" onClick={() => onAsk('set-aside', group)}>
								Set aside…
							</Button>
						</>
					)}
				</span>
			),
		},
	];
}

/** Refused messages by cause. The user resolves a cause once and replays its messages together. */
export function Failures() {
	const site = useSiteScope();
	const [days, setDays] = useKept('failure window', '7');
	const [asked, setAsked] = useState<{ what: Parameters<Ask>[0]; group: FailureRecord }>();
	const since = () => (days === '' ? undefined : new Date(Date.now() - Number(days) * 86_400_000).toISOString());
	const groups = useAnswer((signal) => listFailures({ site, since: since() }, signal), [site, days]);
	const runs = useAnswer((signal) => listReplays({ site, limit: 5 }, signal), [site]);
	const reload = () => {
		groups.reload();
		runs.reload();
	};
	const cut = groups.data?.find(({ looked_back_to: back }) => back !== null)?.looked_back_to;
	return (
		<Page
			title="Failures"
			lead="Refused messages are grouped by cause. Resolve a cause, then replay its messages."
			actions={
				<>
					<LinkButton href="/set-aside">Set aside</LinkButton>
					<Button icon="refresh" onClick={reload}>
						Refresh
					</Button>
				</>
			}
		>
			<div class="filters">
				<label>
					Received in
					<select value={days} onChange={(event) => setDays(event.currentTarget.value)}>
						{windows.map(([value, label]) => (
							<option key={value} value={value}>
								{label}
							</option>
						))}
					</select>
				</label>
			</div>
			<Histogram
				ask={(_, signal) => countMessages({ site, outcome: 'refused', since: since() ?? lastMonth() }, signal)}
				dependencies={[site, days]}
				period={noPeriod}
				onPeriod={(period) => navigate(`/messages${queryOf(Object.entries({ site, outcome: 'refused', ...period }))}`)}
				noun="refused message"
				does="shows these messages"
			/>
			{(runs.data ?? []).map((run) => (
				<Run key={run.id} run={run} onEnd={reload} />
			))}
			<ListTable
				list={wholeList(groups)}
				caption="Causes of failures, causes with open messages first"
				noun="cause"
				columns={columns((what, group) => setAsked({ what, group }))}
				identify={({ site: of, id }) => `${of} ${id}`}
				href={({ site: of, id }) => `/messages?${new URLSearchParams({ site: of, cause: id })}`}
				faded={({ open }) => open === 0}
				empty={
					<Empty icon="check" title="No refused messages">
						<p>No message was refused in this period.</p>
					</Empty>
				}
			/>
			{cut && (
				<p class="note">
					There are more refused messages than were looked at. These causes are those of the messages since <Time at={cut} />.
				</p>
			)}
			{asked?.what === 'replay' && (
				<ReplayCause
					group={asked.group}
					since={since()}
					onClose={() => setAsked(undefined)}
					onStarted={() => {
						setAsked(undefined);
						reload();
					}}
				/>
			)}
			{asked?.what === 'set-aside' && (
				<SetAside
					what={{ site: asked.group.site, cause: asked.group.id }}
					title={`Set ${count(asked.group.open, 'message')} aside?`}
					onClose={() => setAsked(undefined)}
					onDone={reload}
				/>
			)}
		</Page>
	);
}

interface ReplayCauseProps {
	group: FailureRecord;
	since: string | undefined;
	onClose(): void;
	onStarted(): void;
}

/** Tries the messages before they are replayed, so that nobody replays what is refused again. */
function ReplayCause({ group, since, onClose, onStarted }: ReplayCauseProps) {
	const trial = useAnswer((signal) => previewRemedy({ id: group.open_id ?? group.last_id }, signal), [group.id]);
	const { data: preview } = trial;
	const isVain = preview !== undefined && preview.tried > 0 && preview.refused === preview.tried;
	const start = async () => {
		const run = await startReplay({ site: group.site, cause: group.id, since });
		say(`The replay of ${count(run.total, 'message')} has started.`);
		onStarted();
	};
	return (
		<Confirm
			title={`Replay ${count(group.open, 'message')}?`}
			action={isVain ? 'Replay anyway' : 'Replay'}
			danger={isVain}
			onConfirm={start}
			onClose={onClose}
		>
			<p>{group.failure}</p>
			{trial.loading && <Loading lines={1} label="Trying the messages" />}
			{trial.failure && <Problem failure={trial.failure} onRetry={trial.reload} />}
			{preview?.unchanged && <Unchanged />}
			{preview && <Trial preview={preview} isNow />}
			<p>
				They go through the site’s queue one after the other, oldest first. Where a message was sent again under the same control id, only
				the last one is replayed. The replay goes on when you leave this page.
			</p>
		</Confirm>
	);
}

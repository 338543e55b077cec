import { useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, LinkButton } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Ago, Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { count } from '../../format.ts';
import { useSiteScope } from '../../scope.ts';
import { may } from '../../session.ts';
import { useKept } from '../../store.ts';
import { surfaceNames } from '../messages/outcome.tsx';
import { type FailureRecord, listFailures, listReplays, startReplay } from './calls.ts';
import { Run } from './run.tsx';

const windows: readonly (readonly [days: string, label: string])[] = [
	['1', 'the last day'],
	['7', 'the last week'],
	['30', 'the last 30 days'],
	['', 'all time'],
];

function columns(onReplay: (group: FailureRecord) => void): readonly Column<FailureRecord>[] {
	return [
		{
			name: 'cause',
			title: 'Cause',
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
			cell: ({ message_type, surface }) => (
				<>
					<code>{message_type || '–'}</code>
					<span class="sub">{surfaceNames[surface] ?? surface}</span>
				</>
			),
		},
		{ name: 'site', title: 'Site', tight: true, cell: ({ site }) => <code>{site}</code> },
		{
			name: 'open',
			title: 'Open',
			align: 'end',
			tight: true,
			cell: ({ open, messages }) => (
				<>
					{open > 0 ? <Badge tone="danger">{open}</Badge> : <Badge tone="good">resolved</Badge>}
					<span class="sub">of {messages}</span>
				</>
			),
		},
		{ name: 'first', title: 'First', spare: true, tight: true, cell: ({ first_at }) => <Time at={first_at} /> },
		{ name: 'last', title: 'Last', tight: true, cell: ({ last_at }) => <Ago at={last_at} /> },
		{
			name: 'actions',
			title: '',
			tight: true,
			cell: (group) => (
				<span class="row-actions">
					<LinkButton href={`/messages/${group.last_id}`}>Latest</LinkButton>
					{group.replayable && group.open > 0 && may('manager') && (
						<Button icon="replay" onClick={() => onReplay(group)}>
							Replay…
						</Button>
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
	const [asked, setAsked] = useState<FailureRecord>();
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
			lead="Refused messages, grouped by cause. Resolve the cause, then replay them."
			actions={
				<Button icon="refresh" onClick={reload}>
					Refresh
				</Button>
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
			{(runs.data ?? []).map((run) => (
				<Run key={run.id} run={run} onEnd={reload} />
			))}
			<ListTable
				list={{ ...groups, rows: groups.data ?? [], complete: true, more: () => {} }}
				caption="Causes of failures, causes with open messages first"
				noun="cause"
				columns={columns(setAsked)}
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
					There are more refused messages than were looked at; these are of those since <Time at={cut} />.
				</p>
			)}
			{asked && (
				<Confirm
					title={`Replay ${count(asked.open, 'message')}?`}
					action="Replay"
					onConfirm={async () => {
						const run = await startReplay({ site: asked.site, cause: asked.id, since: since() });
						say(`The replay of ${count(run.total, 'message')} has started.`);
						setAsked(undefined);
						reload();
					}}
					onClose={() => setAsked(undefined)}
				>
					<p>{asked.failure}</p>
					<p>
						They go through the site’s queue one after the other, oldest first; of messages that were sent again under one control id, the
						last. The replay goes on when you leave this page.
					</p>
				</Confirm>
			)}
		</Page>
	);
}

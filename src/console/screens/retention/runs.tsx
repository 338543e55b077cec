import { useState } from 'preact/hooks';
import { useList } from '../../answers.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Empty } from '../../components/empty.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { may } from '../../session.ts';
import { listRuns, type RetentionRun, runRetention } from './calls.ts';
import { removedRows } from './words.ts';

const tones: Readonly<Record<RetentionRun['state'], Tone>> = { running: 'info', done: 'good', failed: 'danger', interrupted: 'warning' };

const columns: readonly Column<RetentionRun>[] = [
	{ name: 'started', title: 'Began', tight: true, cell: ({ started_at: at }) => <Time at={at} /> },
	{
		name: 'by',
		title: 'Asked by',
		tight: true,
		spare: true,
		cell: ({ asked_by: by }) => (by === 'retention' ? 'the service' : by),
	},
	{
		name: 'state',
		title: 'State',
		cell: ({ state, failure }) => (
			<>
				<Badge tone={tones[state]}>{state}</Badge>
				{failure !== null && <span class="sub">{failure}</span>}
			</>
		),
	},
	{
		name: 'removed',
		title: 'Removed',
		cell: ({ removed }) => (removed.length === 0 ? <span class="muted">nothing</span> : <Removed removed={removed} />),
	},
	{
		name: 'finished',
		title: 'Ended',
		tight: true,
		cell: ({ finished_at: at }) => (at === null ? <span class="muted">–</span> : <Time at={at} />),
	},
];

function Removed({ removed }: Pick<RetentionRun, 'removed'>) {
	return (
		<ul class="links">
			{removed.map(({ kept, site, month, rows }) => (
				<li key={`${kept} ${site} ${month}`}>
					{removedRows(kept, rows)} {site === null ? month === null ? 'of no site' : 'of all sites' : <code>{site}</code>}
					{month !== null && <span class="sub">the whole month {month}</span>}
				</li>
			))}
		</ul>
	);
}

/** Lists the runs of retention, which are those of the whole network. */
export function Runs() {
	const found = useList<RetentionRun>(
		(page, signal) => listRuns(page, signal),
		({ id }) => id,
		[],
		'runs',
	);
	const [asking, setAsking] = useState(false);
	const begin = may('administrator') && (
		<Button icon="refresh" onClick={() => setAsking(true)}>
			Run now…
		</Button>
	);
	if (found.failure?.status === 403)
		return <p class="note">A run is about all sites of the network. Only people who may see all of them can see the runs.</p>;
	const run = async () => {
		const { removed } = await runRetention();
		const rows = removed.reduce((sum, one) => sum + one.rows, 0);
		say(rows === 0 ? 'The run has ended. There was nothing to remove.' : 'The run has ended. The list says what it removed.');
		setAsking(false);
		found.reload();
	};
	return (
		<>
			{found.rows.length > 0 && begin && <div class="filters">{begin}</div>}
			<ListTable
				list={found}
				caption="Runs of retention, newest first"
				noun="run"
				columns={columns}
				identify={({ id }) => id}
				tone={({ state }) => (state === 'failed' ? 'danger' : undefined)}
				empty={
					<Empty icon="retention" title="No run yet">
						<p>The first run begins ten minutes after a node has started, and then there is one each day.</p>
						{begin}
					</Empty>
				}
			/>
			{asking && (
				<Confirm title="Run retention now?" action="Remove what is too old" danger onConfirm={run} onClose={() => setAsking(false)}>
					<p>
						This removes what is too old at all sites, and it cannot be undone. To see first what would be removed, count it under “How long
						data is kept”. Keep this dialog open until the run has ended.
					</p>
				</Confirm>
			)}
		</>
	);
}

import { useAnswer, wholeList } from '../../answers.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { EmptyList } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useFilters } from '../../filters.ts';
import { count } from '../../format.ts';
import { useSiteScope } from '../../scope.ts';
import { type CommitmentRecord, listCommitments } from './calls.ts';

type State = CommitmentRecord['state'];

const tones: Readonly<Record<State, Tone>> = { waiting: 'info', reported: 'good', failed: 'danger' };
const meanings: Readonly<Record<State, string>> = {
	waiting: 'The report has not been delivered yet.',
	reported: 'The modality has the report.',
	failed: 'The report could not be delivered.',
};
const states = ['waiting', 'reported', 'failed'] as const;

const columns: readonly Column<CommitmentRecord>[] = [
	{ name: 'received', title: 'Asked', tight: true, cell: ({ received_at: at }) => <Time at={at} /> },
	{
		name: 'sender',
		title: 'Asked by',
		cell: ({ calling_ae: title, source }) => (
			<>
				<code>{title}</code>
				<span class="sub">{source}</span>
			</>
		),
	},
	{ name: 'site', title: 'Site', tight: true, spare: true, cell: ({ site }) => <code>{site}</code> },
	{ name: 'instances', title: 'Images', align: 'end', tight: true, cell: ({ instances }) => instances },
	{ name: 'committed', title: 'Safe', align: 'end', tight: true, cell: ({ committed }) => committed ?? '–' },
	{
		name: 'refused',
		title: 'Not here',
		align: 'end',
		tight: true,
		cell: ({ refused }) => (refused === null ? '–' : refused > 0 ? <Badge tone="danger">{refused}</Badge> : 0),
	},
	{
		name: 'state',
		title: 'Report',
		cell: ({ state, failure, attempts }) => (
			<>
				<span title={meanings[state]}>
					<Badge tone={tones[state]}>{state}</Badge>
				</span>
				{failure !== null && <span class="sub">{failure}</span>}
				{state === 'waiting' && attempts > 0 && <span class="sub">tried {count(attempts, 'time')}</span>}
			</>
		),
	},
	{
		name: 'settled',
		title: 'Delivered',
		tight: true,
		spare: true,
		cell: ({ settled_at: at }) => (at === null ? <span class="muted">–</span> : <Time at={at} />),
	},
];

const limit = 200;

/** Lists the requests by which modalities asked whether they may delete their images. */
export function Commitments() {
	const site = useSiteScope();
	const [{ state }, setFilters, clear] = useFilters({ state: '' });
	const query = { site, state: states.find((each) => each === state), limit };
	const answer = useAnswer((signal) => listCommitments(query, signal), [query]);
	const rows = answer.data ?? [];
	return (
		<Page
			title="Storage commitment"
			lead="Modalities ask whether their images are safe here, so that they can delete their copies. The service answers with a report."
			actions={
				<Button icon="refresh" onClick={answer.reload}>
					Refresh
				</Button>
			}
		>
			<div class="filters">
				<Choice
					label="Report"
					value={state}
					options={states.map((each) => [each, each])}
					onValue={(value) => setFilters({ state: value })}
				/>
			</div>
			<ListTable
				list={wholeList(answer)}
				caption="Storage commitment requests, newest first"
				noun="request"
				columns={columns}
				identify={({ id }) => id}
				tone={({ state: is, refused }) => (is === 'failed' || (refused ?? 0) > 0 ? 'danger' : undefined)}
				empty={
					<EmptyList icon="commitments" title="No requests yet" filtered="No requests with this state" clear={clear}>
						<p>
							Turn on storage commitment on the modality, and add the modality under <a href="/remote-aes">Remote AEs</a>, so that the
							report can reach it.
						</p>
					</EmptyList>
				}
			/>
			{rows.length === limit && <p class="note">These are the newest {limit}. Choose a site or a state to see others.</p>}
		</Page>
	);
}

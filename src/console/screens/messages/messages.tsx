import { useList } from '../../answers.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { milliseconds } from '../../format.ts';
import { usePlace } from '../../router.ts';
import { useSiteScope } from '../../scope.ts';
import { may } from '../../session.ts';
import { useKept } from '../../store.ts';
import { type MessageRecord, searchMessages } from './calls.ts';
import { Filters, type MessageFilters, noFilters, queryOf } from './filters.tsx';
import { Outcome, surfaceNames } from './outcome.tsx';

export const messageColumns: readonly Column<MessageRecord>[] = [
	{ name: 'at', title: 'Received', tight: true, cell: ({ received_at }) => <Time at={received_at} /> },
	{ name: 'type', title: 'Type', tight: true, cell: ({ message_type }) => <code>{message_type || '–'}</code> },
	{ name: 'outcome', title: 'Outcome', tight: true, cell: ({ outcome }) => <Outcome outcome={outcome} /> },
	{ name: 'site', title: 'Site', tight: true, cell: ({ site }) => <code>{site}</code> },
	{
		name: 'sender',
		title: 'Sender',
		cell: ({ client, surface, source }) => (
			<>
				{client ?? <code>{source}</code>}
				<span class="sub">{surfaceNames[surface] ?? surface}</span>
			</>
		),
	},
	{ name: 'control', title: 'Control id', spare: true, cell: ({ control_id }) => <code>{control_id || '–'}</code> },
	{
		name: 'failure',
		title: 'Remarks',
		spare: true,
		cell: ({ failure, flags }) => failure ?? flags.map(({ text }) => text).join('; '),
	},
	{ name: 'latency', title: 'Latency', align: 'end', tight: true, spare: true, cell: ({ latency_ms }) => milliseconds(latency_ms) },
];

/** The message log. Search texts may be a patient's data, so they never enter a URL. */
export function Messages() {
	const site = useSiteScope();
	const cause = usePlace().query.get('cause') ?? undefined;
	const [filters, setFilters] = useKept<MessageFilters>('message filters', noFilters);
	const query = { site, cause, ...queryOf(filters) };
	const found = useList<MessageRecord>(
		(page, signal) => searchMessages({ ...query, ...page }, signal),
		(message) => message.id,
		[query],
	);
	const filtered = Object.values(filters).some((value) => value !== '');
	return (
		<Page
			title="Messages"
			lead={
				cause === undefined ? 'Every message that was received, with its outcome and the reason.' : 'The refused messages of one cause.'
			}
			{...(cause === undefined ? {} : { up: { href: '/failures', title: 'Failures' } })}
			actions={
				<>
					{may('administrator') && <LinkButton href="/unmatched">Unmatched messages</LinkButton>}
					<Button icon="refresh" onClick={found.reload}>
						Refresh
					</Button>
				</>
			}
		>
			<Filters site={site} filters={filters} onFilters={setFilters} onClear={filtered ? () => setFilters(noFilters) : undefined} />
			<ListTable
				list={found}
				caption="Messages, newest first"
				noun="message"
				columns={messageColumns}
				identify={({ id }) => id}
				href={({ id }) => `/messages/${id}`}
				tone={({ outcome, flags }) => (outcome === 'refused' ? 'danger' : flags.length > 0 ? 'warning' : undefined)}
				empty={
					<Empty icon="messages" title={filtered ? 'No messages match the filters' : 'No messages yet'}>
						{filtered ? (
							<Button onClick={() => setFilters(noFilters)}>Clear the filters</Button>
						) : (
							<p>Messages appear here with their answers as soon as a system sends to a site.</p>
						)}
					</Empty>
				}
			/>
		</Page>
	);
}

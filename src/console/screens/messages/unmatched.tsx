import { useList } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { LinkButton } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { listUnmatched, type UnmatchedRecord } from './calls.ts';
import { surfaceNames } from './outcome.tsx';

const reasons: Readonly<Record<string, string>> = {
	'no-sender': 'MSH-3 and MSH-4 match no client with this address',
	tie: 'clients of several sites match equally well',
};

const columns: readonly Column<UnmatchedRecord>[] = [
	{ name: 'at', title: 'Received', tight: true, cell: ({ received_at: at }) => <Time at={at} /> },
	{ name: 'source', title: 'From', tight: true, cell: ({ source }) => <code>{source}</code> },
	{ name: 'reason', title: 'Why', cell: ({ reason }) => reasons[reason] ?? reason },
	{ name: 'type', title: 'Type', tight: true, cell: ({ message_type: type }) => <code>{type || '–'}</code> },
	{ name: 'control', title: 'Control id', spare: true, cell: ({ control_id: id }) => <code>{id || '–'}</code> },
	{ name: 'surface', title: 'Surface', tight: true, spare: true, cell: ({ surface }) => <Badge>{surfaceNames[surface] ?? surface}</Badge> },
];

/** Messages that came from a client's address but matched no site. Their senders got AE. */
export function Unmatched() {
	const found = useList<UnmatchedRecord>(
		(page, signal) => listUnmatched({ ...page }, signal),
		({ id }) => id,
		[],
	);
	return (
		<Page
			title="Unmatched messages"
			up={{ href: '/messages', title: 'Messages' }}
			lead="Messages that came from the address of a client but matched no site. Their senders received AE and keep them."
			actions={
				<LinkButton href="/clients" icon="clients">
					Integration clients
				</LinkButton>
			}
		>
			<ListTable
				list={found}
				caption="Unmatched messages, newest first"
				noun="message"
				columns={columns}
				identify={({ id }) => id}
				empty={
					<Empty icon="check" title="No unmatched messages">
						<p>To test a sender in advance, use “Would this sender match?” under Integration clients.</p>
					</Empty>
				}
			/>
		</Page>
	);
}

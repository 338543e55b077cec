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
	'no-sender': 'MSH-3 and MSH-4 fit no client of the address',
	tie: 'clients of several sites fit alike',
};

const columns: readonly Column<UnmatchedRecord>[] = [
	{ name: 'at', title: 'Received', tight: true, cell: ({ received_at: at }) => <Time at={at} /> },
	{ name: 'source', title: 'From', tight: true, cell: ({ source }) => <code>{source}</code> },
	{ name: 'reason', title: 'Why', cell: ({ reason }) => reasons[reason] ?? reason },
	{ name: 'type', title: 'Type', tight: true, cell: ({ message_type: type }) => <code>{type || '–'}</code> },
	{ name: 'control', title: 'Control id', spare: true, cell: ({ control_id: id }) => <code>{id || '–'}</code> },
	{ name: 'surface', title: 'By', tight: true, spare: true, cell: ({ surface }) => <Badge>{surfaceNames[surface] ?? surface}</Badge> },
];

/** What came from an address of a client and belongs to no site; its sender was answered AE. */
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
			lead="They came from the address of a client, and belong to no site. Their senders were answered AE and keep them."
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
					<Empty icon="check" title="Every message has found its site">
						<p>“Would this sender match?” at the integration clients tells beforehand whose a sender would be.</p>
					</Empty>
				}
			/>
		</Page>
	);
}

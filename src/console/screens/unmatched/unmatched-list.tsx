import { useList } from '../../answers.ts';
import { LinkButton } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Histogram } from '../../components/histogram.tsx';
import { Page } from '../../components/page.tsx';
import { instantsOf, noPeriod, type Period, PeriodFilter } from '../../components/period.tsx';
import { SavedFilters } from '../../components/saved-filters.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useFilters } from '../../filters.ts';
import { pageOf } from '../../pages.ts';
import { useSiteScope } from '../../scope.ts';
import { may } from '../../session.ts';
import { countUnmatched, listUnmatched, type UnmatchedRecord } from './calls.ts';

export const reasons: Readonly<Record<UnmatchedRecord['reason'], string>> = {
	'no-sender': 'MSH-3 and MSH-4 match no client with this address',
	tie: 'Clients of several sites match equally well',
	called: 'No site has the called AE title',
	calling: 'No client of the site has this AE title and address',
};

/** The names that the sender stated, in the terms of its protocol. */
export function Names({ of }: { of: UnmatchedRecord }) {
	const names = [
		['MSH-3', of.sending_application],
		['MSH-4', of.sending_facility],
		['Calling AE', of.calling_ae],
		['Called AE', of.called_ae],
	].filter(([, name]) => name !== null);
	return (
		<>
			{names.map(([title, name]) => (
				<span key={title} class="pair">
					<span class="muted">{title}</span> <code>{name || 'empty'}</code>{' '}
				</span>
			))}
		</>
	);
}

const columns: readonly Column<UnmatchedRecord>[] = [
	{ name: 'at', title: 'Received', tight: true, cell: ({ received_at: at }) => <Time at={at} /> },
	{ name: 'source', title: 'From', tight: true, cell: ({ source }) => <code>{source}</code> },
	{ name: 'names', title: 'Sender', cell: (row) => <Names of={row} /> },
	{ name: 'reason', title: 'Why', cell: ({ reason }) => reasons[reason] },
	{ name: 'type', title: 'Type', tight: true, spare: true, cell: ({ message_type: type }) => <code>{type || '–'}</code> },
	{
		name: 'site',
		title: 'Site',
		tight: true,
		spare: true,
		cell: ({ site }) => (site === null ? <span class="muted">none</span> : <code>{site}</code>),
	},
	{
		name: 'replayed',
		title: 'Replayed',
		tight: true,
		cell: ({ replayed_as: id }) => (id === null ? <span class="muted">no</span> : <a href={pageOf('message', { id })}>yes</a>),
	},
];

/** Lists traffic that matched nobody: messages whose senders got AE, and associations that were rejected. */
export function UnmatchedList() {
	const site = useSiteScope();
	const [period, setPeriod, clear] = useFilters<Period>(noPeriod);
	const found = useList<UnmatchedRecord>(
		(page, signal) => listUnmatched({ ...page, ...instantsOf(period), site }, signal),
		({ id }) => id,
		[site, period],
		'unmatched',
	);
	return (
		<Page
			title="Unmatched traffic"
			up={{ href: '/', title: 'Feeds' }}
			lead="These messages and associations matched no client. Their senders were refused and still have the data."
			actions={
				<LinkButton href="/clients" icon="clients">
					Integration clients
				</LinkButton>
			}
		>
			<div class="filters">
				<PeriodFilter period={period} onPeriod={setPeriod} onClear={clear} />
				<SavedFilters />
			</div>
			{may('administrator') && site === undefined && (
				<Histogram ask={countUnmatched} dependencies={[]} period={period} onPeriod={setPeriod} noun="unmatched message" />
			)}
			<ListTable
				list={found}
				caption="Unmatched traffic, newest first"
				noun="row"
				columns={columns}
				identify={({ id }) => id}
				href={({ id }) => pageOf('unmatched', { id })}
				faded={({ replayed_as: id }) => id !== null}
				empty={
					<Empty icon="check" title={clear ? 'No unmatched traffic in this period' : 'No unmatched traffic'}>
						<p>To test a sender in advance, use “Would this sender match?” under Integration clients.</p>
					</Empty>
				}
			/>
		</Page>
	);
}

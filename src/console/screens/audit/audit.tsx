import { useState } from 'preact/hooks';
import { useList } from '../../answers.ts';
import { queryOf as queryText } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, LinkButton } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useSiteScope } from '../../scope.ts';
import { useKept } from '../../store.ts';
import { type AuditRecord, listAudit } from './calls.ts';
import { Event } from './event.tsx';
import { type AuditFilters, Filters, queryOf } from './filters.tsx';
import { toneOf } from './tone.ts';

const columns: readonly Column<AuditRecord>[] = [
	{ name: 'at', title: 'Time', tight: true, cell: ({ recorded_at }) => <Time at={recorded_at} /> },
	{ name: 'action', title: 'Action', tight: true, cell: ({ action }) => <Badge tone={toneOf(action)}>{action}</Badge> },
	{ name: 'subject', title: 'Subject', cell: ({ subject }) => <code>{subject}</code> },
	{ name: 'actor', title: 'Who', cell: ({ actor }) => actor },
	{ name: 'site', title: 'Site', cell: ({ site }) => (site === null ? <span class="muted">–</span> : <code>{site}</code>) },
	{
		name: 'source',
		title: 'From',
		spare: true,
		cell: ({ source }) => (source === null ? <span class="muted">command line</span> : <code>{source}</code>),
	},
];

const nothing: AuditFilters = { action: '', actor: '', since: '', until: '' };

export function Audit() {
	const site = useSiteScope();
	const [filters, setFilters] = useKept<AuditFilters>('audit filters', nothing);
	const [opened, setOpened] = useState<AuditRecord>();
	const query = { site, ...queryOf(filters) };
	const found = useList<AuditRecord>(
		(page, signal) => listAudit({ ...query, ...page }, signal),
		(event) => event.id,
		[query],
	);
	const filtered = Object.values(filters).some((value) => value !== '');
	return (
		<Page
			title="Audit"
			lead="Every change with the values before and after, access to patient data and images, and refused callers."
			actions={
				<LinkButton href={`/api/v1/audit.csv${queryText(Object.entries(query))}`} icon="download" download>
					Export CSV
				</LinkButton>
			}
		>
			<Filters filters={filters} onFilters={setFilters} onClear={filtered ? () => setFilters(nothing) : undefined} />
			<ListTable
				list={found}
				caption="Audit events, newest first"
				noun="event"
				columns={columns}
				identify={({ id }) => id}
				open={(event) => setOpened(event)}
				empty={
					<Empty icon="audit" title={filtered ? 'No events match the filters' : 'No events yet'}>
						{filtered && <Button onClick={() => setFilters(nothing)}>Clear the filters</Button>}
					</Empty>
				}
			/>
			{opened && <Event event={opened} onClose={() => setOpened(undefined)} />}
		</Page>
	);
}

import { useState } from 'preact/hooks';
import { useList } from '../../answers.ts';
import { queryOf as queryText } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { LinkButton } from '../../components/button.tsx';
import { EmptyList } from '../../components/empty.tsx';
import { Histogram } from '../../components/histogram.tsx';
import { Page } from '../../components/page.tsx';
import { noPeriod } from '../../components/period.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useFilters } from '../../filters.ts';
import { useSiteScope } from '../../scope.ts';
import { type AuditRecord, countAudit, listAudit } from './calls.ts';
import { Event } from './event.tsx';
import { type AuditFilters, Filters, queryOf } from './filters.tsx';
import { toneOf } from './tone.ts';
import { whoOf } from './who.ts';

export const auditColumns: readonly Column<AuditRecord>[] = [
	{ name: 'at', title: 'Time', tight: true, cell: ({ recorded_at }) => <Time at={recorded_at} /> },
	{ name: 'action', title: 'Action', tight: true, cell: ({ action }) => <Badge tone={toneOf(action)}>{action}</Badge> },
	{
		name: 'subject',
		title: 'Of what',
		cell: ({ subject, subject_name: name }) => (name === null ? <code>{subject}</code> : <span title={subject}>{name}</span>),
	},
	{ name: 'actor', title: 'Who', cell: whoOf },
	{ name: 'site', title: 'Site', cell: ({ site }) => (site === null ? <span class="muted">–</span> : <code>{site}</code>) },
	{
		name: 'source',
		title: 'From',
		spare: true,
		cell: ({ source }) => (source === null ? <span class="muted">command line</span> : <code>{source}</code>),
	},
];

const nothing: AuditFilters = { action: '', actor: '', patient: '', changes: '', ...noPeriod };

export function Audit() {
	const site = useSiteScope();
	const [filters, setFilters, clear] = useFilters<AuditFilters>(nothing, ['patient']);
	const [opened, setOpened] = useState<AuditRecord>();
	const query = { site, ...queryOf(filters) };
	const found = useList<AuditRecord>(
		(page, signal) => listAudit({ site, ...queryOf(filters), ...page }, signal),
		(event) => event.id,
		[site, filters],
		'audit',
	);
	return (
		<Page
			title="Audit"
			lead="The trail records every change with the values before and after, access to patient data and images, and refused callers."
			actions={
				<LinkButton href={`/api/v1/audit.csv${queryText(Object.entries(query))}`} icon="download" download>
					Export CSV
				</LinkButton>
			}
		>
			<Filters filters={filters} onFilters={setFilters} onClear={clear} />
			<Histogram
				ask={(span, signal) => countAudit({ site, ...queryOf(filters), ...span }, signal)}
				dependencies={[site, filters]}
				period={filters}
				onPeriod={(period) => setFilters({ ...filters, ...period })}
				noun="event"
			/>
			<ListTable
				list={found}
				withoutFile
				caption="Audit events, newest first"
				noun="event"
				columns={auditColumns}
				identify={({ id }) => id}
				open={(event) => setOpened(event)}
				empty={
					<EmptyList icon="audit" title="No events yet" filtered="No events match the filters" clear={clear} action="Clear the filters" />
				}
			/>
			{opened && <Event event={opened} onClose={() => setOpened(undefined)} />}
		</Page>
	);
}

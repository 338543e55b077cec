import type { ComponentChildren } from 'preact';
import { type List, useList } from '../../answers.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Ago } from '../../components/time.tsx';
import { useSiteScope } from '../../scope.ts';
import { useKept } from '../../store.ts';
import { listReports, type ReportRecord } from './calls.ts';

const tones: Readonly<Record<ReportRecord['status'], Tone>> = {
	draft: 'warning',
	completed: 'good',
	amended: 'info',
	withdrawn: 'neutral',
};

export function ReportState({ report }: { report: ReportRecord }) {
	return <Badge tone={tones[report.status]}>{report.status}</Badge>;
}

const columns: readonly Column<ReportRecord>[] = [
	{ name: 'title', title: 'Report', cell: ({ title }) => title ?? 'Report' },
	{ name: 'status', title: 'Status', tight: true, cell: (report) => <ReportState report={report} /> },
	{ name: 'author', title: 'Author', cell: ({ author }) => author ?? <span class="muted">–</span> },
	{ name: 'site', title: 'Site', tight: true, spare: true, cell: ({ site }) => <code>{site}</code> },
	{ name: 'accession', title: 'Accession number', spare: true, cell: ({ accession_number: number }) => <code>{number ?? '–'}</code> },
	{ name: 'version', title: 'Version', align: 'end', tight: true, spare: true, cell: ({ version }) => version },
	{ name: 'updated', title: 'Changed', tight: true, cell: ({ updated_at: at }) => <Ago at={at} /> },
];

export function ReportTable({ list, empty }: { list: List<ReportRecord>; empty: ComponentChildren }) {
	return (
		<ListTable
			list={list}
			caption="Reports, newest first"
			noun="report"
			columns={columns}
			identify={({ site, id }) => `${site} ${id}`}
			href={({ site, id }) => `/reports/${id}?${new URLSearchParams({ site })}`}
			faded={({ status }) => status === 'withdrawn'}
			empty={empty}
		/>
	);
}

export function Reports() {
	const site = useSiteScope();
	const [status, setStatus] = useKept<'' | 'draft' | 'completed'>('report status', '');
	const query = { site, status: status === '' ? undefined : status };
	const found = useList<ReportRecord>(
		(page, signal) => listReports({ ...query, ...page }, signal),
		({ id }) => id,
		[query],
	);
	return (
		<Page title="Reports" lead="Diagnostic reports on studies, from messages and from people. To write a new report, open its study.">
			<div class="filters">
				<label>
					Status
					<select value={status} onChange={(event) => setStatus(event.currentTarget.value as typeof status)}>
						<option value="">Any</option>
						<option value="draft">Drafts</option>
						<option value="completed">Completed and amended</option>
					</select>
				</label>
			</div>
			<ReportTable
				list={found}
				empty={
					<Empty icon="reports" title={status === '' ? 'No reports yet' : 'No reports with this status'}>
						{status === '' ? (
							<p>Reports arrive by ORU^R01, or are written on the page of a study.</p>
						) : (
							<Button onClick={() => setStatus('')}>Show all</Button>
						)}
					</Empty>
				}
			/>
		</Page>
	);
}

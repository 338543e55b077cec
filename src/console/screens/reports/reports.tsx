import type { ComponentChildren } from 'preact';
import { type List, useList } from '../../answers.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Choice } from '../../components/choice.tsx';
import { EmptyList } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { SavedFilters } from '../../components/saved-filters.tsx';
import { SearchInput } from '../../components/search.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Ago } from '../../components/time.tsx';
import { useFilters } from '../../filters.ts';
import { pageOf } from '../../pages.ts';
import { useSiteScope } from '../../scope.ts';
import { type ReportRecord, searchReports } from './calls.ts';

const tones: Readonly<Record<ReportRecord['status'], Tone>> = {
	draft: 'warning',
	completed: 'good',
	amended: 'info',
	withdrawn: 'neutral',
};

export function ReportState({ report: { status } }: { report: Pick<ReportRecord, 'status'> }) {
	return <Badge tone={tones[status]}>{status}</Badge>;
}

const columns: readonly Column<ReportRecord>[] = [
	{
		name: 'title',
		title: 'Report',
		cell: ({ title, category }) => (
			<>
				{title ?? 'Report'}
				{category !== '' && <span class="sub">{category}</span>}
			</>
		),
	},
	{ name: 'patient', title: 'Patient', cell: ({ patient_name: name }) => name ?? <span class="muted">–</span> },
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
			href={({ site, id }) => pageOf('report', { id }, { site })}
			faded={({ status }) => status === 'withdrawn'}
			empty={empty}
		/>
	);
}

const noFilters = { status: '', category: '', about: '', text: '' };

/** The sections of HL7 table 0074 (OBR-24) that send most reports. */
const categories = [
	['RAD', 'Radiology'],
	['CT', 'CAT scan'],
	['MRI', 'Magnetic resonance'],
	['RUS', 'Ultrasound'],
	['NMS', 'Nuclear medicine'],
	['LAB', 'Laboratory'],
	['CH', 'Chemistry'],
	['HM', 'Hematology'],
	['MB', 'Microbiology'],
	['SP', 'Surgical pathology'],
] as const;

const statuses = [
	['draft', 'Drafts'],
	['completed', 'Completed and amended'],
] as const;

export function Reports() {
	const site = useSiteScope();
	// The text that is searched for may name a patient, so no address has it.
	const [filters, setFilters, clear] = useFilters(noFilters, ['text']);
	const { status, category, about, text } = filters;
	const set = (name: keyof typeof noFilters) => (value: string) => setFilters({ ...filters, [name]: value });
	const narrowed = { site, category: category || undefined, images: about === 'images', text: text || undefined };
	const query = { ...narrowed, status: status === 'draft' || status === 'completed' ? (status as 'draft' | 'completed') : undefined };
	const found = useList<ReportRecord>(
		(page, signal) => searchReports({ ...query, ...page }, signal),
		({ id }) => id,
		[query],
		'reports',
	);
	return (
		<Page title="Reports" lead="Diagnostic reports come from messages, or people write them here. To write a report, open its study.">
			<div class="filters">
				<SearchInput label="Search reports" value={text} onValue={set('text')} placeholder="Patient, accession or order number" />
				<Choice label="About" value={about} any="Everything" options={[['images', 'Images only']]} onValue={set('about')} />
				<Choice label="Category" value={category} options={categories} onValue={set('category')} />
				<Choice label="Status" value={status} options={statuses} onValue={set('status')} />
				<SavedFilters />
			</div>
			<ReportTable
				list={found}
				empty={
					<EmptyList icon="reports" title="No reports yet" filtered="No reports match" clear={clear}>
						<p>Reports arrive by ORU^R01, or are written on the page of a study.</p>
					</EmptyList>
				}
			/>
		</Page>
	);
}

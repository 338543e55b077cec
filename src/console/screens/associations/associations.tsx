import { useState } from 'preact/hooks';
import { useList } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { Empty } from '../../components/empty.tsx';
import { Histogram } from '../../components/histogram.tsx';
import { Page } from '../../components/page.tsx';
import { instantsOf, noPeriod, type Period, PeriodFilter } from '../../components/period.tsx';
import { SavedFilters } from '../../components/saved-filters.tsx';
import { SearchInput } from '../../components/search.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useFilters } from '../../filters.ts';
import { bytes, milliseconds } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import { useSiteScope } from '../../scope.ts';
import { Association } from './association.tsx';
import { type AssociationRecord, countAssociations, listAssociations } from './calls.ts';
import { endWords } from './end-words.ts';
import { StudyLinks } from './study-links.tsx';

const columns: readonly Column<AssociationRecord>[] = [
	{ name: 'started', title: 'Started', tight: true, cell: ({ started_at: at }) => <Time at={at} /> },
	{
		name: 'sender',
		title: 'Sender',
		cell: ({ calling_ae: title, source, client_id: client }) => (
			<>
				{client === null ? <code>{title}</code> : <a href={pageOf('client', { id: client })}>{title}</a>}
				<span class="sub">{source}</span>
			</>
		),
	},
	{ name: 'called', title: 'Called', tight: true, spare: true, cell: ({ called_ae: title }) => <code>{title}</code> },
	{ name: 'site', title: 'Site', tight: true, cell: ({ site }) => <code>{site}</code> },
	{ name: 'studies', title: 'Study', tight: true, cell: (row) => <StudyLinks of={row} most={1} /> },
	{ name: 'instances', title: 'Stored', align: 'end', tight: true, cell: ({ instances }) => instances },
	{
		name: 'failed',
		title: 'Failed',
		align: 'end',
		tight: true,
		cell: ({ failed, warnings }) => (
			<>
				{failed > 0 ? <Badge tone="danger">{failed}</Badge> : 0}
				{warnings > 0 && <span class="sub">{warnings} warned</span>}
			</>
		),
	},
	{ name: 'bytes', title: 'Received', align: 'end', tight: true, spare: true, cell: ({ bytes: size }) => bytes(size) },
	{
		name: 'duration',
		title: 'Duration',
		align: 'end',
		tight: true,
		spare: true,
		cell: ({ started_at: from, ended_at: to }) => milliseconds(Math.max(0, Date.parse(to) - Date.parse(from))),
	},
	{ name: 'requests', title: 'Requests', spare: true, cell: ({ requests }) => requests || <span class="muted">none</span> },
	{
		name: 'end',
		title: 'Ended',
		tight: true,
		cell: ({ end }) => <Badge tone={end === 'released' ? 'good' : 'warning'}>{endWords[end] ?? end}</Badge>,
	},
];

interface Filters extends Period {
	ae: string;
	outcome: string;
}

const noFilters: Filters = { ae: '', outcome: '', ...noPeriod };

type Outcome = NonNullable<Parameters<typeof listAssociations>[0]>['outcome'];

const outcomes = [
	['complete', 'Complete'],
	['failed', 'With failed requests'],
	['broken-off', 'Broken off'],
] as const;

/** Converts to the API's form, instants in UTC. */
function queryOf({ ae, outcome, ...period }: Filters) {
	return { ae: ae.trim() || undefined, outcome: (outcome || undefined) as Outcome, ...instantsOf(period) };
}

/** DICOM associations that sent or retrieved images. Single images that were refused are listed under Messages. */
export function Associations() {
	const site = useSiteScope();
	const [opened, setOpened] = useState<AssociationRecord>();
	const [filters, setFilters, clear] = useFilters(noFilters);
	const setPeriod = (period: Period) => setFilters({ ...filters, ...period });
	const found = useList<AssociationRecord>(
		(page, signal) => listAssociations({ site, ...queryOf(filters), ...page }, signal),
		({ id }) => id,
		[site, filters],
		'associations',
	);
	return (
		<Page
			title="Associations"
			lead="This list has the DICOM associations that were accepted and have ended. Connection tests (C-ECHO) are not listed. Rejected associations are in the audit trail."
			actions={
				<Button icon="refresh" onClick={found.reload}>
					Refresh
				</Button>
			}
		>
			<div class="filters">
				<SearchInput label="AE title" placeholder="Calling or called" value={filters.ae} onValue={(ae) => setFilters({ ...filters, ae })} />
				<Choice label="Outcome" value={filters.outcome} options={outcomes} onValue={(outcome) => setFilters({ ...filters, outcome })} />
				<PeriodFilter period={filters} onPeriod={setPeriod} onClear={clear} />
				<SavedFilters />
			</div>
			<Histogram
				ask={(span, signal) => countAssociations({ site, ...queryOf(filters), ...span }, signal)}
				dependencies={[site, filters]}
				period={filters}
				onPeriod={setPeriod}
				noun="association"
			/>
			<ListTable
				list={found}
				caption="Associations, newest first"
				noun="association"
				columns={columns}
				identify={({ id }) => id}
				open={(association) => setOpened(association)}
				tone={({ failed, end }) => (failed > 0 ? 'danger' : end === 'released' ? undefined : 'warning')}
				empty={
					<Empty icon="remotes" title={clear ? 'No associations match the filters' : 'No associations yet'}>
						<p>When a modality has sent or retrieved images, its association appears here with the outcome.</p>
					</Empty>
				}
			/>
			{opened && <Association association={opened} onClose={() => setOpened(undefined)} />}
		</Page>
	);
}

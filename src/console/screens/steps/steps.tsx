import { useList } from '../../answers.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { EmptyList } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { SavedFilters } from '../../components/saved-filters.tsx';
import { SearchInput } from '../../components/search.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time, When } from '../../components/time.tsx';
import { useFilters } from '../../filters.ts';
import { pageOf } from '../../pages.ts';
import { useSiteScope } from '../../scope.ts';
import { listSteps, type StepRecord } from './calls.ts';

const tones: Readonly<Record<string, Tone>> = { 'IN PROGRESS': 'info', COMPLETED: 'good', DISCONTINUED: 'warning' };

export function StepState({ step: { status, late } }: { step: Pick<StepRecord, 'status' | 'late'> }) {
	return (
		<>
			<Badge tone={tones[status] ?? 'neutral'}>{status.toLowerCase()}</Badge>
			{late && <span class="sub">first report was final</span>}
		</>
	);
}

/** The study of a step; a link once the service has an image of it. */
export function StepStudy({ step }: { step: StepRecord }) {
	const { site, study_uid: uid, imaging_study_id: id, study_instances: instances } = step;
	if (id === null) return <span class="muted">no image yet</span>;
	return (
		<a href={pageOf('study', { site, id: uid })}>
			{instances} {instances === 1 ? 'image' : 'images'}
		</a>
	);
}

const statuses = [
	['in-progress', 'In progress'],
	['completed', 'Completed'],
	['discontinued', 'Discontinued'],
] as const;

const columns: readonly Column<StepRecord>[] = [
	{ name: 'station', title: 'Station', cell: ({ station_name: name, station_ae: ae }) => name ?? ae ?? 'unnamed' },
	{ name: 'status', title: 'Status', tight: true, cell: (step) => <StepState step={step} /> },
	{
		name: 'patient',
		title: 'Patient',
		cell: ({ site, patient_name: name, patient_id: number, patient_record_id: record }) => {
			const called = name ?? number ?? 'unknown';
			return record === null ? called : <a href={pageOf('patient', { site, id: record })}>{called}</a>;
		},
	},
	{ name: 'study', title: 'Study', tight: true, cell: (step) => <StepStudy step={step} /> },
	{ name: 'modality', title: 'Modality', tight: true, spare: true, cell: ({ modality }) => modality ?? <span class="muted">–</span> },
	{ name: 'started', title: 'Started', tight: true, spare: true, cell: ({ started }) => <When stated={started} /> },
	{ name: 'site', title: 'Site', tight: true, spare: true, cell: ({ site }) => <code>{site}</code> },
	{ name: 'updated', title: 'Last report', tight: true, cell: ({ updated_at: at }) => <Time at={at} /> },
];

/** The texts that are searched for name a patient or an order, so the address has only the status. */
const noFilters = { status: '', patient: '', accession: '' };

/** The procedure steps that modalities and bridges have reported (MPPS). */
export function Steps() {
	const site = useSiteScope();
	const [filters, setFilters, clear] = useFilters(noFilters, ['patient', 'accession']);
	const set = (name: keyof typeof noFilters) => (value: string) => setFilters({ ...filters, [name]: value });
	const query = {
		site,
		status: filters.status || undefined,
		patient: filters.patient.trim() || undefined,
		accession: filters.accession.trim() || undefined,
	};
	const found = useList<StepRecord>(
		(page, signal) => listSteps({ ...query, ...page }, signal),
		({ id }) => id,
		[query],
		'procedure steps',
	);
	return (
		<Page
			title="Procedure steps"
			lead="Modalities report their work by MPPS: who is examined, since when, and whether all images have arrived."
			actions={
				<Button icon="refresh" onClick={found.reload}>
					Refresh
				</Button>
			}
		>
			<div class="filters">
				<SearchInput label="Patient identifier" placeholder="Its beginning" value={filters.patient} onValue={set('patient')} />
				<SearchInput
					first={false}
					label="Accession number"
					placeholder="Its beginning"
					value={filters.accession}
					onValue={set('accession')}
				/>
				<Choice label="Status" value={filters.status} options={statuses} onValue={set('status')} />
				<SavedFilters />
			</div>
			<ListTable
				list={found}
				caption="Procedure steps, newest first"
				noun="procedure step"
				columns={columns}
				identify={({ id }) => id}
				href={({ id }) => pageOf('step', { id })}
				empty={
					<EmptyList icon="steps" title="No procedure steps yet" filtered="No procedure steps match" clear={clear}>
						<p>
							A modality reports its steps by DICOM MPPS, and a bridge reports them over HTTP. Set up MPPS on the modality with the AE title
							of the site, as for storing images.
						</p>
					</EmptyList>
				}
			/>
		</Page>
	);
}

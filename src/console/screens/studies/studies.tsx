import { useAnswer, wholeList } from '../../answers.ts';
import { Choice } from '../../components/choice.tsx';
import { Empty } from '../../components/empty.tsx';
import { Histogram } from '../../components/histogram.tsx';
import type { Order } from '../../components/order.ts';
import { Page } from '../../components/page.tsx';
import { instantsOf, noPeriod, PeriodFilter } from '../../components/period.tsx';
import { SavedFilters } from '../../components/saved-filters.tsx';
import { SearchInput } from '../../components/search.tsx';
import { SiteNeeded } from '../../components/site-needed.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { TakenInput } from '../../components/taken-input.tsx';
import { useFilters } from '../../filters.ts';
import { pageOf } from '../../pages.ts';
import { may } from '../../session.ts';
import { studyColumns } from '../patients/sections.tsx';
import { countStudies, type StudyRecord, searchStudies } from './calls.ts';
import { Upload } from './upload.tsx';

function columns(order: Order | undefined): readonly Column<StudyRecord>[] {
	return [
		studyColumns.study,
		{ name: 'patient', title: 'Patient', cell: ({ patient_name: name }) => name || <span class="muted">–</span> },
		studyColumns.modalities,
		{ ...studyColumns.started, ...(order && { order }) },
		studyColumns.accession,
		{ ...studyColumns.amount, spare: true },
	];
}

export function Studies() {
	return (
		<Page
			title="Studies"
			lead="Search by accession number, by patient, or by the UID of a study, series or instance. The audit trail records when you open a study."
		>
			<SiteNeeded icon="studies">
				{(site) => (
					<>
						{may('manager') && <Upload key={`upload ${site}`} site={site} />}
						<Found key={site} site={site} />
					</>
				)}
			</SiteNeeded>
		</Page>
	);
}

const limit = 100;

/** The text may name a patient, so no address has it. `of` is the id of a patient, as the address of that patient's page has it. */
const noFilters = { text: '', patient: '', of: '', modality: '', sort: '', ...noPeriod };

const sorts = [
	['oldest', 'Oldest first'],
	['changed', 'Last changed first'],
] as const;

function Found({ site }: { site: string }) {
	const [filters, setFilters, clear] = useFilters(noFilters, ['text', 'patient']);
	const { text, patient, of, modality, last, since, until } = filters;
	const period = { last, since, until };
	const sort = sorts.find(([name]) => name === filters.sort)?.[0];
	const set = (name: keyof typeof noFilters) => (value: string) => setFilters({ ...filters, [name]: value });
	const narrowed = { patient: patient.trim() || of || undefined, modality: modality.trim().toUpperCase() || undefined };
	// The instants of a period that ends now differ with every rendering, so they are no part of it.
	const asked = { site, text, ...narrowed, sort, limit };
	const found = useAnswer((signal) => searchStudies({ ...asked, ...instantsOf(period) }, signal), [asked, period]);
	const isNarrowed = [text, patient, of, modality].some((value) => value !== '');
	const rows = found.data ?? [];
	// A search by number or UID has an order of its own.
	const order: Order | undefined =
		text === ''
			? {
					direction: sort === 'changed' ? undefined : sort === 'oldest' ? 'ascending' : 'descending',
					turn: () => set('sort')(sort === undefined ? 'oldest' : ''),
				}
			: undefined;
	return (
		<>
			<div class="filters">
				<SearchInput label="Search studies" value={text} onValue={set('text')} placeholder="Accession number or UID" />
				<SearchInput first={false} label="Patient" value={patient} onValue={set('patient')} placeholder="Number of the patient" />
				<TakenInput label="Modality" value={modality} placeholder="CT" size={6} onValue={set('modality')} />
				<Choice label="Order" value={filters.sort} options={sorts} any="Newest first" onValue={set('sort')} />
				<PeriodFilter period={period} onPeriod={(next) => setFilters({ ...filters, ...next })} onClear={clear} />
				{of === '' && <SavedFilters />}
			</div>
			{!isNarrowed && (
				<Histogram
					ask={(span, signal) => countStudies({ site, ...span }, signal)}
					dependencies={[site]}
					period={period}
					onPeriod={(next) => setFilters({ ...filters, ...next })}
					noun="study"
					nouns="studies"
				/>
			)}
			{of !== '' && patient === '' && (
				<p class="note">
					These are the studies of <a href={pageOf('patient', { site, id: of })}>one patient</a>.
				</p>
			)}
			<ListTable
				list={wholeList(found)}
				caption="Studies"
				noun="study"
				nouns="studies"
				columns={columns(order)}
				identify={({ id }) => id}
				href={({ id }) => pageOf('study', { site, id })}
				empty={
					<Empty icon="studies" title={clear ? 'No studies match' : 'No studies yet'}>
						<p>
							{clear
								? 'Enter the beginning of an accession number, of a study UID or of a patient number, or the whole UID of a series or instance.'
								: 'Images that arrive over DICOM or DICOMweb appear here by study.'}
						</p>
					</Empty>
				}
			/>
			{rows.length === limit && <p class="note">These are the first {limit}. Narrow the search to see others.</p>}
		</>
	);
}

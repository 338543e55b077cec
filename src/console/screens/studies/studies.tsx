import { useAnswer } from '../../answers.ts';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { SearchInput } from '../../components/search.tsx';
import { SiteNeeded } from '../../components/site-needed.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { useKept } from '../../store.ts';
import { studyColumns } from '../patients/sections.tsx';
import { type StudyRecord, searchStudies } from './calls.ts';

const columns: readonly Column<StudyRecord>[] = [
	studyColumns.study,
	{ name: 'patient', title: 'Patient', cell: ({ patient_name: name }) => name || <span class="muted">–</span> },
	studyColumns.modalities,
	studyColumns.started,
	studyColumns.accession,
	{ ...studyColumns.amount, spare: true },
];

export function Studies() {
	return (
		<Page
			title="Studies"
			lead="Search by accession number, or by the UID of a study, series or instance. The audit trail records when you open a study."
		>
			<SiteNeeded icon="studies">{(site) => <Found key={site} site={site} />}</SiteNeeded>
		</Page>
	);
}

const limit = 100;

function Found({ site }: { site: string }) {
	const [search, setSearch] = useKept('study search', '');
	const [modality, setModality] = useKept('study modality', '');
	const [started, setStarted] = useKept('study day', '');
	const query = { site, text: search, modality: modality.trim().toUpperCase() || undefined, started: started || undefined, limit };
	const found = useAnswer((signal) => searchStudies(query, signal), [query]);
	const rows = found.data ?? [];
	const filtered = search !== '' || modality !== '' || started !== '';
	return (
		<>
			<div class="filters">
				<SearchInput label="Search studies" value={search} onValue={setSearch} placeholder="Accession number or UID" />
				<label>
					Modality
					<input value={modality} placeholder="CT" size={6} onChange={(event) => setModality(event.currentTarget.value)} />
				</label>
				<label>
					Day
					<input type="date" value={started} onChange={(event) => setStarted(event.currentTarget.value)} />
				</label>
			</div>
			<ListTable
				list={{ ...found, rows, complete: true, more: () => {} }}
				caption="Studies, newest first"
				noun="study"
				nouns="studies"
				columns={columns}
				identify={({ id }) => id}
				href={({ id }) => `/studies/${site}/${id}`}
				empty={
					<Empty icon="studies" title={filtered ? 'No studies match' : 'No studies yet'}>
						<p>
							{filtered ? 'Enter a complete accession number or UID.' : 'Images that arrive over DICOM or DICOMweb appear here by study.'}
						</p>
					</Empty>
				}
			/>
			{rows.length === limit && <p class="note">These are the newest {limit}. Narrow the search to see others.</p>}
		</>
	);
}

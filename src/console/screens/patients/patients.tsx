import { useList } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { SearchField } from '../../components/search.tsx';
import { SiteNeeded } from '../../components/site-needed.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Ago } from '../../components/time.tsx';
import { useEntryState } from '../../entries.ts';
import { pageOf } from '../../pages.ts';
import { type PatientRecord, searchPatients } from './calls.ts';

/** Identifiers, most useful first. Those of merged patients are greyed. */
export function Identifiers({ patient, most = 3 }: { patient: PatientRecord; most?: number }) {
	const current = patient.identifiers.filter(({ old }) => !old);
	const shown = (current.length > 0 ? current : patient.identifiers).slice(0, most);
	return (
		<span class="chips">
			{shown.map(({ value, system }) => (
				<code key={`${system} ${value}`} class="chip" title={system}>
					{value}
				</code>
			))}
		</span>
	);
}

export function PatientMarks({ patient }: { patient: PatientRecord }) {
	return (
		<>
			{patient.replaced_by !== null && <Badge tone="warning">merged</Badge>}
			{patient.deceased && <Badge>deceased</Badge>}
			{!patient.active && patient.replaced_by === null && <Badge>inactive</Badge>}
		</>
	);
}

const columns: readonly Column<PatientRecord>[] = [
	{ name: 'name', title: 'Name', cell: ({ name }) => name || 'no name' },
	{ name: 'born', title: 'Born', tight: true, cell: ({ birth_date }) => birth_date ?? <span class="muted">–</span> },
	{ name: 'gender', title: 'Gender', tight: true, cell: ({ gender }) => gender ?? <span class="muted">–</span> },
	{ name: 'identifiers', title: 'Identifiers', cell: (patient) => <Identifiers patient={patient} /> },
	{ name: 'marks', title: 'State', tight: true, cell: (patient) => <PatientMarks patient={patient} /> },
	{ name: 'updated', title: 'Changed', tight: true, spare: true, cell: ({ updated_at }) => <Ago at={updated_at} /> },
];

export function Patients() {
	return (
		<Page
			title="Patients"
			lead="Search by identifier, name, birth date, or several of them. The audit trail records when you open a patient."
		>
			<SiteNeeded icon="patients">{(site) => <Found key={site} site={site} />}</SiteNeeded>
		</Page>
	);
}

function Found({ site }: { site: string }) {
	const [search, setSearch] = useEntryState('patient search', '');
	const found = useList<PatientRecord>(
		(page, signal) => searchPatients({ site, text: search, ...page }, signal),
		({ id }) => id,
		[site, search],
		'patients',
	);
	return (
		<>
			<SearchField label="Search patients" value={search} onValue={setSearch} placeholder="4711, Doe Jane, 1970-01-31" />
			<ListTable
				list={found}
				caption="Patients"
				noun="patient"
				columns={columns}
				identify={({ id }) => id}
				href={({ id }) => pageOf('patient', { site, id })}
				faded={({ replaced_by, active }) => replaced_by !== null || !active}
				empty={
					<Empty icon="patients" title={search.trim() === '' ? 'No patients yet' : 'No patients match'}>
						<p>
							{search.trim() === ''
								? 'Patients appear here with their first message or image.'
								: 'Enter the beginning of an identifier, any part of a name, or a birth date such as 1970-01-31.'}
						</p>
					</Empty>
				}
			/>
		</>
	);
}

import { useAnswer } from '../../answers.ts';
import { LinkButton } from '../../components/button.tsx';
import { Loading } from '../../components/empty.tsx';
import { Facts, Page, Panel } from '../../components/page.tsx';
import { PrintButton, PrintHead } from '../../components/print.tsx';
import { Problem } from '../../components/problem.tsx';
import { Table } from '../../components/table.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { Time } from '../../components/time.tsx';
import { useEntryState } from '../../entries.ts';
import { useFilters } from '../../filters.ts';
import { pageOf } from '../../pages.ts';
import type { ScreenProps } from '../../screen.ts';
import { may } from '../../session.ts';
import { Unmerge } from '../identity/merge.tsx';
import { HoldButton } from '../retention/place-hold.tsx';
import { type PatientChart, showPatient, statedRows } from './calls.ts';
import { Messages } from './messages.tsx';
import { PatientMarks } from './patients.tsx';
import { Readers } from './readers.tsx';
import { allResults, periodText, Results } from './results.tsx';
import { Origin, Reports, Stated, Studies } from './sections.tsx';
import { Timeline } from './timeline.tsx';

export function Patient({ parameters: { site = '', id = '' } }: ScreenProps) {
	const up = { href: `/patients?${new URLSearchParams({ site })}`, title: 'Patients' };
	const answer = useAnswer((signal) => showPatient({ site, id }, signal), [site, id]);
	if (answer.data === undefined) {
		return (
			<Page title="Patient" up={up}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading lines={8} />}
			</Page>
		);
	}
	return <Shown site={site} chart={answer.data} up={up} reload={answer.reload} />;
}

interface Shown {
	site: string;
	chart: PatientChart;
	up: { href: string; title: string };
	reload(): void;
}

function Shown({ site, chart, up, reload }: Shown) {
	const { patient } = chart;
	const [{ tab }, setTab] = useFilters({ tab: 'results' });
	const [period, setPeriod] = useEntryState('period of results', allResults);
	const tabs = [
		{
			name: 'results',
			title: titled(chart, 'observations', 'Results', chart.observations),
			content: () => <Results site={site} id={patient.id} period={period} onPeriod={setPeriod} />,
		},
		{ name: 'timeline', title: 'Timeline', content: () => <Timeline site={site} id={patient.id} /> },
		{
			name: 'studies',
			title: titled(chart, 'studies', 'Studies', chart.studies),
			content: () => <Studies site={site} patient={patient.id} rows={chart.studies} />,
		},
		{
			name: 'reports',
			title: titled(chart, 'reports', 'Reports', chart.reports),
			content: () => <Reports site={site} rows={chart.reports} />,
		},
		...chart.lists.map(({ list, title, noun }) => {
			const rows = statedRows(chart, list);
			return { name: list, title: titled(chart, list, title, rows), content: () => <Stated rows={rows} noun={noun} /> };
		}),
		{ name: 'messages', title: 'Messages', content: () => <Messages site={site} id={patient.id} /> },
		{ name: 'readers', title: 'Who read it', content: () => <Readers site={site} id={patient.id} /> },
	];
	return (
		<Page
			title={patient.name || 'no name'}
			up={up}
			marks={<PatientMarks patient={patient} />}
			lead={[patient.gender, patient.birth_date && `born ${patient.birth_date}`].filter(Boolean).join(', ')}
			actions={
				<>
					<HoldButton site={site} patient={patient.id} />
					<PrintButton />
					<LinkButton href={pageOf('resource', { site, type: 'Patient', id: patient.id })}>JSON</LinkButton>
					{may('manager') && patient.replaced_by === null && (
						<LinkButton href={pageOf('merge', { site, survivor: patient.id })} icon="identity">
							Merge…
						</LinkButton>
					)}
				</>
			}
		>
			<PrintHead site={site} facts={onPaper(patient, tab === 'results' ? periodText(period) : '')} />
			{patient.replaced_by !== null && (
				<p class="note warning">
					This patient was merged into <a href={pageOf('patient', { site, id: patient.replaced_by })}>another patient</a>, who now has all
					records.
				</p>
			)}
			<div class="columns">
				<Panel title="Demographics">
					<Facts
						facts={[
							...chart.demographics
								.filter(({ element }) => element !== 'identifier')
								.map(
									({ element, value, origin }) =>
										[
											titles[element] ?? element,
											<span key={element}>
												{element === 'deceasedBoolean' ? (value === 'true' ? 'yes' : 'no') : value} <Origin origin={origin} />
											</span>,
										] as const,
								),
							['Changed', <Time key="at" at={patient.updated_at} />],
							['Id', <code key="id">{patient.id}</code>],
						]}
					/>
				</Panel>
				<Panel title="Identifiers">
					<Table
						caption="Identifiers"
						columns={[
							{ name: 'value', title: 'Value', cell: ({ value }) => <code>{value}</code> },
							{
								name: 'system',
								title: 'Authority',
								cell: ({ system, type }) => [type, system].filter((part) => part !== '').join(' · ') || '–',
							},
							{
								name: 'old',
								title: 'State',
								tight: true,
								cell: ({ old }) => (old ? <span class="muted">of a merged patient</span> : 'current'),
							},
						]}
						rows={patient.identifiers}
						identify={({ value, system }) => `${system} ${value}`}
						faded={({ old }) => old}
					/>
				</Panel>
			</div>
			{chart.merged.length > 0 && <Merged site={site} chart={chart} reload={reload} />}
			<Panel title="Record">
				<Tabs label="Record" tabs={tabs} chosen={tab} onChoose={(name) => setTab({ tab: name })} />
				{chart.cut.length > 0 && <p class="note">Only the newest are shown for: {chart.cut.join(', ')}.</p>}
			</Panel>
		</Page>
	);
}

/** Names the patient at the head of a printed page. */
function onPaper(patient: PatientChart['patient'], resultsOf: string) {
	const numbers = patient.identifiers.filter(({ old }) => !old).map(({ value }) => value);
	return [
		['Patient', patient.name],
		['Born', patient.birth_date ?? ''],
		['Gender', patient.gender ?? ''],
		['Identifiers', numbers.join(', ')],
		['Period of the results', resultsOf],
	] as const;
}

const titles: Readonly<Record<string, string>> = {
	name: 'Name',
	birthDate: 'Birth date',
	gender: 'Gender',
	address: 'Address',
	telecom: 'Contact',
	maritalStatus: 'Marital status',
	deceasedDateTime: 'Died',
	deceasedBoolean: 'Deceased',
};

/** The title of a list with the number of its rows. */
function titled({ cut }: PatientChart, list: string, title: string, { length }: readonly unknown[]): string {
	return length === 0 ? title : `${title} (${length}${cut.includes(list) ? '+' : ''})`;
}

function Merged({ site, chart, reload }: { site: string; chart: PatientChart; reload(): void }) {
	return (
		<Panel title="Merged into this patient">
			<ul class="links">
				{chart.merged.map((prior) => (
					<li key={prior.id}>
						<a href={pageOf('patient', { site, id: prior.id })}>{prior.name || 'no name'}</a>{' '}
						<span class="muted">
							{prior.birth_date} {prior.identifiers.map(({ value }) => value).join(', ')}
						</span>{' '}
						{may('manager') && <Unmerge site={site} survivor={chart.patient} prior={prior} onDone={reload} />}
					</li>
				))}
			</ul>
		</Panel>
	);
}

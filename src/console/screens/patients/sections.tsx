import { Badge } from '../../components/badge.tsx';
import { Empty } from '../../components/empty.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { When } from '../../components/time.tsx';
import { statedTime, utcTime } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import { ReportState } from '../reports/reports.tsx';
import type { PatientChart, StatedRow } from './calls.ts';

export type OriginRecord = PatientChart['observations'][number]['origin'];

/** Shows the origin of a value: the logged message that stated it, or else `meta.source`. */
export function Origin({ origin }: { origin: OriginRecord }) {
	const title = `version ${origin.version}, ${utcTime(new Date(origin.at))}${origin.source === null ? '' : `, ${origin.source}`}`;
	if (origin.message !== null)
		return (
			<a class="origin" href={pageOf('message', { id: origin.message })} title={title}>
				from a message
			</a>
		);
	return (
		<span class="origin muted" title={title}>
			{cameBy(origin.source)}
		</span>
	);
}

const ways: Readonly<Record<string, string>> = {
	fhir: 'through FHIR',
	dimse: 'with an image',
	dicomweb: 'with an image',
	administration: 'entered by a person',
	mllp: 'from a message',
	'hl7-http': 'from a message',
	replay: 'from a message',
};

/** The way by which a version came, as `meta.source` names it. */
export function cameBy(source: string | null): string {
	const [, , surface = ''] = source?.split(':') ?? [];
	return ways[surface] ?? '';
}

/** Modalities join the region and the organ by `^`: `abdomen^liver`. */
export function readable(description: string | null): string {
	return (description ?? '')
		.split('^')
		.map((part) => part.trim())
		.filter((part) => part !== '')
		.join(', ');
}

const statedColumns: readonly Column<StatedRow>[] = [
	{ name: 'text', title: 'What', cell: ({ text, code }) => <Coded text={text} code={code} /> },
	{
		name: 'status',
		title: 'Status',
		tight: true,
		cell: ({ status }) => (status === '' ? <span class="muted">–</span> : <Badge>{status.replaceAll('-', ' ')}</Badge>),
	},
	{ name: 'at', title: 'When', tight: true, cell: ({ at }) => <When stated={at} /> },
	{ name: 'detail', title: 'Details', spare: true, cell: ({ detail }) => detail },
	{ name: 'origin', title: 'From', tight: true, screenOnly: true, cell: ({ origin }) => <Origin origin={origin} /> },
];

export function Coded({ text, code }: { text: string; code: string }) {
	return (
		<>
			{text || code || '–'}
			{code !== '' && code !== text && <span class="sub">{code}</span>}
		</>
	);
}

export function Stated({ rows, noun }: { rows: readonly StatedRow[]; noun: string }) {
	if (rows.length === 0) return <Empty icon="patients" title={`No ${noun} recorded`} />;
	return <Table caption={`Each recorded ${noun}`} columns={statedColumns} rows={rows} identify={({ id }) => id} />;
}

export function Reports({ site, rows }: { site: string; rows: PatientChart['reports'] }) {
	if (rows.length === 0) return <Empty icon="reports" title="No reports" />;
	return (
		<Table
			caption="Reports"
			columns={[
				{ name: 'text', title: 'Report', cell: ({ text, code }) => text || code || 'Report' },
				{ name: 'status', title: 'Status', tight: true, cell: ({ state }) => <ReportState report={{ status: state }} /> },
				{ name: 'at', title: 'When', tight: true, cell: ({ at }) => <When stated={at} /> },
				{
					name: 'study',
					title: 'Study',
					cell: ({ study }) => (study === null ? <span class="muted">–</span> : <a href={pageOf('study', { site, id: study })}>open</a>),
				},
				{ name: 'origin', title: 'From', tight: true, screenOnly: true, cell: ({ origin }) => <Origin origin={origin} /> },
			]}
			rows={rows}
			identify={({ id }) => id}
			href={({ id }) => pageOf('report', { id }, { site })}
		/>
	);
}

/** A study without a description has its number, or what and when it was. */
export function studyTitle({ description, accession_number: number, modalities, started }: StudyFacts): string {
	return readable(description) || number || `${modalities.join(', ') || 'Study'} of ${statedTime(started)}`;
}

export type StudyFacts = Omit<PatientChart['studies'][number], 'id' | 'origin'>;

/** The columns of every list of studies. */
export const studyColumns = {
	study: { name: 'description', title: 'Study', cell: studyTitle },
	modalities: { name: 'modalities', title: 'Modalities', tight: true, cell: ({ modalities }) => modalities.join(', ') },
	started: { name: 'started', title: 'When', tight: true, cell: ({ started }) => <When stated={started} /> },
	accession: {
		name: 'accession',
		title: 'Accession number',
		spare: true,
		cell: ({ accession_number: number }) => <code>{number || '–'}</code>,
	},
	amount: {
		name: 'amount',
		title: 'Series, instances',
		align: 'end',
		tight: true,
		cell: ({ series, instances }) => `${series}, ${instances}`,
	},
} as const satisfies Record<string, Column<StudyFacts>>;

export function Studies({ site, patient, rows }: { site: string; patient: string; rows: PatientChart['studies'] }) {
	if (rows.length === 0) return <Empty icon="studies" title="No studies" />;
	return (
		<>
			<Table
				caption="Studies, newest first"
				columns={Object.values<Column<PatientChart['studies'][number]>>(studyColumns)}
				rows={rows}
				identify={({ id }) => id}
				href={({ id }) => pageOf('study', { site, id })}
			/>
			<p class="note">
				<a href={`/studies?${new URLSearchParams({ site, of: patient })}`}>Search among the studies of this patient</a>
			</p>
		</>
	);
}

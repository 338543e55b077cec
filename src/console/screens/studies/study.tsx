import { useState } from 'preact/hooks';
import { useAnswer, wholeList } from '../../answers.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { CsvButton } from '../../components/csv-button.tsx';
import { Empty, Loading } from '../../components/empty.tsx';
import { Facts, Page, Panel } from '../../components/page.tsx';
import { PrintButton, PrintHead } from '../../components/print.tsx';
import { Problem } from '../../components/problem.tsx';
import { When } from '../../components/time.tsx';
import { statedTime } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import type { ScreenProps } from '../../screen.ts';
import { may } from '../../session.ts';
import { studyTitle } from '../patients/sections.tsx';
import { listReports } from '../reports/calls.ts';
import { ReportTable } from '../reports/reports.tsx';
import { NewReport } from '../reports/write.tsx';
import { HoldButton } from '../retention/place-hold.tsx';
import { showStudy, type WholeStudy } from './calls.ts';
import { SendStudy } from './send.tsx';
import { SeriesTable, studyArchive } from './series.tsx';
import { Steps } from './steps.tsx';
import { ViewerButton } from './viewer.tsx';
import { Whose } from './whose.tsx';

export function Study({ parameters: { site = '', id = '' } }: ScreenProps) {
	const up = { href: `/studies?${new URLSearchParams({ site })}`, title: 'Studies' };
	const [isSending, setSending] = useState(false);
	const answer = useAnswer((signal) => showStudy({ site, id }, signal), [site, id]);
	if (answer.data === undefined) {
		return (
			<Page title="Study" up={up}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading lines={8} />}
			</Page>
		);
	}
	const study = answer.data;
	return (
		<Page
			title={studyTitle(study)}
			up={up}
			lead={
				<>
					{study.modalities.join(', ')} · <When stated={study.started} />
				</>
			}
			actions={
				<>
					{study.has_viewer && <ViewerButton site={site} study={study.study_uid} />}
					{may('manager') && <Button onClick={() => setSending(true)}>Send…</Button>}
					<LinkButton href={studyArchive(site, study.study_uid)} icon="download" download>
						Download (ZIP)
					</LinkButton>
					<HoldButton site={site} study={study.study_uid} />
					<PrintButton />
					<LinkButton href={pageOf('resource', { site, type: 'ImagingStudy', id: study.id })}>JSON</LinkButton>
				</>
			}
		>
			<PrintHead
				site={site}
				facts={[
					['Patient', study.patient_name],
					['Study', studyTitle(study)],
					['When', statedTime(study.started)],
					['Accession number', study.accession_number],
				]}
			/>
			<Panel title="Study">
				<Facts
					facts={[
						['Patient', study.patient && <a href={pageOf('patient', { site, id: study.patient })}>{study.patient_name || 'no name'}</a>],
						['Stated by its images', study.stated_patient && statedPerson(study.stated_patient)],
						['Accession number', study.accession_number && <code>{study.accession_number}</code>],
						['Series', String(study.series)],
						['Instances', String(study.instances)],
						['Study Instance UID', <code key="uid">{study.study_uid}</code>],
						['Original Study Instance UID', study.split_from && <code>{study.split_from}</code>],
						['Time read in', study.time_zone && <Zone study={study} />],
					]}
				/>
			</Panel>
			{isSending && <SendStudy site={site} study={study} onClose={() => setSending(false)} />}
			<Whose site={site} study={study} reload={answer.reload} />
			<Steps site={site} study={study} />
			<Reported site={site} study={study} />
			<Panel title="Series" actions={study.series_list.length > 0 && <CsvButton name="series" rows={seriesOf(study)} />}>
				{study.series_list.length === 0 ? <Empty icon="studies" title="No series" /> : <SeriesTable site={site} study={study} />}
			</Panel>
		</Page>
	);
}

/** Returns what helps to tell whose a study without a patient is. */
function statedPerson({ id, name, birth_date: born, gender }: NonNullable<WholeStudy['stated_patient']>): string {
	return [name || 'no name', born && `born ${born}`, gender, id ? `Patient ID ${id}` : 'no Patient ID'].filter(Boolean).join(', ');
}

/** The series without their instances, which have a file of their own. */
const seriesOf = ({ series_list: series }: WholeStudy) => series.map(({ instance_list: _, ...rest }) => rest);

function Zone({ study }: { study: WholeStudy }) {
	return (
		<>
			{study.time_zone}
			{study.time_zone_assumed && ' – assumed: neither the sender nor the site has a time zone'}
		</>
	);
}

function Reported({ site, study }: { site: string; study: WholeStudy }) {
	const [writing, setWriting] = useState(false);
	const found = useAnswer((signal) => listReports({ site, study: study.study_uid, limit: 100 }, signal), [site, study.study_uid]);
	const write = may('manager') && (
		<Button icon="plus" onClick={() => setWriting(true)}>
			Write a report
		</Button>
	);
	return (
		<Panel title="Reports" actions={found.data?.length !== 0 && write}>
			<ReportTable
				list={wholeList(found)}
				empty={
					<Empty icon="reports" title="No reports yet">
						{write}
					</Empty>
				}
			/>
			{writing && <NewReport site={site} study={study} onClose={() => setWriting(false)} />}
		</Panel>
	);
}

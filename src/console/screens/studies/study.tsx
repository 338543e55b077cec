import { useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Empty, Loading } from '../../components/empty.tsx';
import { Facts, Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Table } from '../../components/table.tsx';
import type { ScreenProps } from '../../screen.ts';
import { may } from '../../session.ts';
import { moment } from '../patients/sections.tsx';
import { listReports } from '../reports/calls.ts';
import { ReportTable } from '../reports/reports.tsx';
import { NewReport } from '../reports/write.tsx';
import { showStudy, type WholeStudy } from './calls.ts';
import { Steps } from './steps.tsx';
import { Whose } from './whose.tsx';

export function Study({ parameters: { site = '', id = '' } }: ScreenProps) {
	const up = { href: `/studies?${new URLSearchParams({ site })}`, title: 'Studies' };
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
		<Page title={study.description || 'Study'} up={up} lead={[study.modalities.join(', '), moment(study.started)].join(' · ')}>
			<Panel title="Study">
				<Facts
					facts={[
						['Patient', study.patient && <a href={`/patients/${site}/${study.patient}`}>{study.patient_name || study.patient}</a>],
						['Accession number', study.accession_number && <code>{study.accession_number}</code>],
						['Series', String(study.series)],
						['Instances', String(study.instances)],
						['Study Instance UID', <code key="uid">{study.study_uid}</code>],
						['Original Study Instance UID', study.split_from && <code>{study.split_from}</code>],
						['Time read in', study.time_zone && <Zone study={study} />],
					]}
				/>
			</Panel>
			<Whose site={site} study={study} reload={answer.reload} />
			<Steps site={site} study={study} />
			<Reported site={site} study={study} />
			<Panel title="Series">{study.series_list.length === 0 ? <Empty icon="studies" title="No series" /> : <Series study={study} />}</Panel>
		</Page>
	);
}

function Zone({ study }: { study: WholeStudy }) {
	return (
		<>
			{study.time_zone}
			{study.time_zone_assumed && ' – assumed: neither the sender nor the site has a time zone'}
		</>
	);
}

function Series({ study }: { study: WholeStudy }) {
	const [opened, setOpened] = useState<string>();
	const chosen = study.series_list.find(({ series_uid: uid }) => uid === opened);
	return (
		<>
			<Table
				caption="Series"
				columns={[
					{ name: 'number', title: 'No.', tight: true, cell: ({ number }) => number ?? '–' },
					{ name: 'modality', title: 'Modality', tight: true, cell: ({ modality }) => modality },
					{
						name: 'description',
						title: 'Description',
						cell: ({ description, body_part: part }) => [description, part].filter((text) => text !== '').join(', ') || '–',
					},
					{ name: 'started', title: 'When', tight: true, spare: true, cell: ({ started }) => moment(started) },
					{ name: 'uid', title: 'Series Instance UID', spare: true, cell: ({ series_uid: uid }) => <code>{uid}</code> },
					{ name: 'instances', title: 'Instances', align: 'end', tight: true, cell: ({ instances }) => instances },
				]}
				rows={study.series_list}
				identify={({ series_uid: uid }) => uid}
				open={({ series_uid: uid }) => setOpened(uid === opened ? undefined : uid)}
			/>
			{chosen && (
				<>
					<h3 class="sub-title">Instances of series {chosen.number ?? chosen.series_uid}</h3>
					<Table
						caption="Instances"
						columns={[
							{ name: 'number', title: 'No.', tight: true, cell: ({ number }) => number ?? '–' },
							{ name: 'uid', title: 'SOP Instance UID', cell: ({ sop_instance_uid: uid }) => <code>{uid}</code> },
							{ name: 'class', title: 'SOP class', spare: true, cell: ({ sop_class_uid: uid }) => <code>{uid}</code> },
						]}
						rows={chosen.instance_list}
						identify={({ sop_instance_uid: uid }) => uid}
					/>
					{chosen.instances > chosen.instance_list.length && <p class="note">Only the first {chosen.instance_list.length} are shown.</p>}
				</>
			)}
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
				list={{ ...found, rows: found.data ?? [], complete: true, more: () => {} }}
				empty={
					<Empty icon="reports" title="No reports yet">
						{write}
					</Empty>
				}
			/>
			{writing && <NewReport site={site} study={study.study_uid} onClose={() => setWriting(false)} />}
		</Panel>
	);
}

import { useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Loading } from '../../components/empty.tsx';
import { Facts, Page, Panel } from '../../components/page.tsx';
import { PrintButton, PrintHead } from '../../components/print.tsx';
import { Problem } from '../../components/problem.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { bytes } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import { scoped, useSiteScope } from '../../scope.ts';
import type { ScreenProps } from '../../screen.ts';
import { may } from '../../session.ts';
import { MarkText } from '../patients/mark.tsx';
import { cameBy, readable } from '../patients/sections.tsx';
import { completeReport, showReport, type WholeReport } from './calls.ts';
import { ReportState } from './reports.tsx';
import { AmendReport } from './write.tsx';

type Result = WholeReport['results'][number];

const resultColumns: readonly Column<Result>[] = [
	{ name: 'name', title: 'What', cell: ({ name }) => name },
	{
		name: 'value',
		title: 'Value',
		cell: (result) => (
			<>
				{result.value || '–'} <MarkText result={result} />
			</>
		),
	},
	{ name: 'range', title: 'Reference range', cell: ({ range }) => range },
	{ name: 'status', title: 'Status', cell: ({ status }) => status.replaceAll('-', ' ') },
];

export function Report({ parameters: { id = '' } }: ScreenProps) {
	const site = useSiteScope();
	const up = { href: scoped('/reports'), title: 'Reports' };
	const answer = useAnswer((signal) => showReport({ id, site }, signal), [id, site]);
	if (answer.data === undefined) {
		return (
			<Page title="Report" up={up}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading lines={8} />}
			</Page>
		);
	}
	return <Shown report={answer.data} up={up} reload={answer.reload} />;
}

function Shown({ report, up, reload }: { report: WholeReport; up: { href: string; title: string }; reload(): void }) {
	const [doing, setDoing] = useState<'amend' | 'complete'>();
	const isDraft = report.status === 'draft';
	const study = report.study_uid;
	return (
		<Page
			title={report.title ?? 'Report'}
			up={up}
			marks={<ReportState report={report} />}
			actions={
				<>
					<PrintButton />
					<LinkButton href={pageOf('resource', { site: report.site, type: 'DiagnosticReport', id: report.id })}>JSON</LinkButton>
					{may('manager') && report.status !== 'withdrawn' && (
						<>
							<Button onClick={() => setDoing('amend')}>{isDraft ? 'Change…' : 'Amend…'}</Button>
							{isDraft && !report.from_message && (
								<Button kind="primary" icon="check" onClick={() => setDoing('complete')}>
									Complete…
								</Button>
							)}
						</>
					)}
				</>
			}
		>
			<PrintHead
				site={report.site}
				facts={[
					['Patient', report.patient_name ?? ''],
					['Study', readable(report.study_description)],
					['Accession number', report.accession_number ?? ''],
					['Status', report.status],
					['Version', String(report.version)],
				]}
			/>
			<Panel title="Report">
				<Facts
					facts={[
						[
							'Patient',
							report.patient && (
								<a href={pageOf('patient', { site: report.site, id: report.patient })}>{report.patient_name || 'no name'}</a>
							),
						],
						[
							'Study',
							study && <a href={pageOf('study', { site: report.site, id: study })}>{readable(report.study_description) || study}</a>,
						],
						['Accession number', report.accession_number && <code>{report.accession_number}</code>],
						['Author', report.author],
						['Changed', <Time key="at" at={report.updated_at} />],
						['Status in FHIR', <code key="fhir">{report.fhir_status}</code>],
					]}
				/>
			</Panel>
			<Panel title="Text">
				{report.text === null ? <p class="muted">This report has no text.</p> : <p class="report-text">{report.text}</p>}
				{report.conclusion && (
					<>
						<h3 class="sub-title">Conclusion</h3>
						<p class="report-text">{report.conclusion}</p>
					</>
				)}
				{report.attachments.map(({ content_type: type, bytes: size }) => (
					<p key={`${type} ${size}`} class="note">
						A document is attached: {type ?? 'unknown type'}, {bytes(size)}. FHIR clients receive it with the report.
					</p>
				))}
			</Panel>
			{report.results.length > 0 && (
				<Panel title="Results">
					<Table caption="Results of this report" columns={resultColumns} rows={report.results} identify={({ id }) => id} />
				</Panel>
			)}
			<Panel title="Versions">
				{report.history.toReversed().map((version) => (
					<details key={version.version} class="segment">
						<summary>
							Version {version.version} <span class="muted">{version.fhir_status}</span> <Time at={version.updated_at} />{' '}
							<span class="muted">{version.by === null ? cameBy(version.source) : `by ${version.by}`}</span>
						</summary>
						<p class="report-text">{version.text ?? 'no text'}</p>
					</details>
				))}
			</Panel>
			{doing === 'amend' && <AmendReport report={report} onClose={() => setDoing(undefined)} onDone={reload} />}
			{doing === 'complete' && (
				<Confirm
					title="Complete this report?"
					action="Complete"
					onConfirm={async () => {
						await completeReport({ id: report.id, site: report.site });
						say('The report is completed.');
						setDoing(undefined);
						reload();
					}}
					onClose={() => setDoing(undefined)}
				>
					<p>Readers will see it as final. You can amend it later, but it cannot become a draft again.</p>
				</Confirm>
			)}
		</Page>
	);
}

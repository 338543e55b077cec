import { useAnswer } from '../../answers.ts';
import { Loading } from '../../components/empty.tsx';
import { Facts, Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Table } from '../../components/table.tsx';
import { Time, When } from '../../components/time.tsx';
import { pageOf } from '../../pages.ts';
import { scoped } from '../../scope.ts';
import type { ScreenProps } from '../../screen.ts';
import { showStep, type WholeStep } from './calls.ts';
import { StepState, StepStudy } from './steps.tsx';

/** A procedure step with every report about it. */
export function Step({ parameters: { id = '' } }: ScreenProps) {
	const answer = useAnswer((signal) => showStep({ id }, signal), [id]);
	const up = { href: scoped('/steps'), title: 'Procedure steps' };
	const step = answer.data;
	if (step === undefined) {
		return (
			<Page title="Procedure step" up={up}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading lines={6} />}
			</Page>
		);
	}
	return (
		<Page title={step.station_name ?? step.station_ae ?? 'Procedure step'} up={up} marks={<StepState step={step} />}>
			<About step={step} />
			<Reports step={step} />
		</Page>
	);
}

function About({ step }: { step: WholeStep }) {
	const { site, patient_record_id: record, patient_name: name, patient_id: number, missing_series_uids: missing } = step;
	const patient = [name, number].filter((text) => text !== null).join(', ');
	return (
		<Panel title="The step">
			<Facts
				facts={[
					['Patient', record === null ? patient : <a href={pageOf('patient', { site, id: record })}>{patient || 'open'}</a>],
					['Study', <StepStudy key="study" step={step} />],
					['Site', <code key="site">{site}</code>],
					['Modality', step.modality],
					['Accession number', step.accession_number && <code>{step.accession_number}</code>],
					['Station', step.station_ae && <code>{step.station_ae}</code>],
					['Step id', step.step_id && <code>{step.step_id}</code>],
					['Started', <When key="started" stated={step.started} />],
					['Ended', <When key="ended" stated={step.ended} />],
					['Study UID', <code key="uid">{step.study_uid}</code>],
					['SOP Instance UID', <code key="sop">{step.sop_instance_uid}</code>],
					[
						'Series',
						`${step.series_uids.length} reported, ${missing.length === 0 ? 'none missing' : `${missing.length} without an image`}`,
					],
				]}
			/>
			{missing.length > 0 && (
				<div class="note warning">
					<p>The modality reported these series, and no image of them has arrived:</p>
					<ul>
						{missing.map((uid) => (
							<li key={uid}>
								<code>{uid}</code>
							</li>
						))}
					</ul>
				</div>
			)}
		</Panel>
	);
}

function Reports({ step }: { step: WholeStep }) {
	return (
		<Panel title="Reports about the step">
			<Table
				caption="Reports about the step, in their order"
				columns={[
					{
						name: 'number',
						title: 'Report',
						tight: true,
						cell: ({ number, message_id: id }) => <a href={pageOf('message', { id })}>Message {number}</a>,
					},
					{ name: 'status', title: 'Status', tight: true, cell: ({ status }) => <StepState step={{ status, late: false }} /> },
					{ name: 'at', title: 'Received', tight: true, cell: ({ recorded_at: at }) => <Time at={at} /> },
					{ name: 'source', title: 'From', cell: ({ source }) => <code>{source}</code> },
				]}
				rows={step.history}
				identify={({ number }) => String(number)}
			/>
		</Panel>
	);
}

import { useAnswer } from '../../answers.ts';
import { Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Table } from '../../components/table.tsx';
import { When } from '../../components/time.tsx';
import { pageOf } from '../../pages.ts';
import { listSteps, type ProcedureStep, type WholeStudy } from './calls.ts';

/** The procedure steps that modalities reported about a study. In a group case one step is about several studies. */
export function Steps({ site, study }: { site: string; study: WholeStudy }) {
	const answer = useAnswer((signal) => listSteps({ site, study: study.study_uid, limit: 50 }, signal), [site, study.study_uid]);
	if (answer.failure) return <Problem failure={answer.failure} onRetry={answer.reload} />;
	if (answer.data === undefined || answer.data.length === 0) return null;
	const others = (step: ProcedureStep) => [step.study_uid, ...step.other_study_uids].filter((uid) => uid !== study.study_uid);
	return (
		<Panel title="Procedure steps">
			<Table
				caption="Procedure steps, newest first"
				columns={[
					{ name: 'status', title: 'Status', tight: true, cell: ({ status }) => status.toLowerCase() },
					{ name: 'station', title: 'Station', cell: ({ station_ae: ae, station_name: name }) => name ?? ae ?? '–' },
					{ name: 'started', title: 'Started', tight: true, spare: true, cell: ({ started }) => <When stated={started} /> },
					{ name: 'ended', title: 'Ended', tight: true, spare: true, cell: ({ ended }) => <When stated={ended} /> },
					{
						name: 'others',
						title: 'Also about',
						cell: (step) =>
							others(step).length === 0
								? '–'
								: others(step).map((uid) => (
										<a key={uid} href={pageOf('study', { site, id: uid })}>
											{uid}
										</a>
									)),
					},
				]}
				rows={answer.data}
				identify={({ id }) => id}
			/>
		</Panel>
	);
}

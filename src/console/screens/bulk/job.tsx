import { useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Loading } from '../../components/empty.tsx';
import { Facts, Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { ToCopy } from '../../components/to-copy.tsx';
import { say } from '../../components/toast.tsx';
import { pageFact } from '../../page-facts.ts';
import { navigate } from '../../router.ts';
import { scoped } from '../../scope.ts';
import type { ScreenProps } from '../../screen.ts';
import { may } from '../../session.ts';
import { cancelJob, showJob, type WholeBulk } from './calls.ts';
import { isUnderWay, JobState, useProgress } from './jobs.tsx';

/** An export or import with its files. */
export function Job({ parameters: { id = '' } }: ScreenProps) {
	const answer = useAnswer((signal) => showJob({ id }, signal), [id]);
	const [cancelling, setCancelling] = useState(false);
	const job = answer.data;
	useProgress(job !== undefined && isUnderWay(job), answer.reload);
	const up = { href: scoped('/exports'), title: 'Exports and imports' };
	if (job === undefined) {
		return (
			<Page title="Export or import" up={up}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading lines={6} />}
			</Page>
		);
	}
	const underWay = isUnderWay(job);
	return (
		<Page
			title={job.kind === 'export' ? 'Export' : 'Import'}
			up={up}
			marks={<JobState job={job} />}
			actions={
				may('manager') && (
					<Button kind="danger" onClick={() => setCancelling(true)}>
						{underWay ? 'Cancel…' : 'Delete…'}
					</Button>
				)
			}
		>
			<Panel title="The job">
				<Facts
					facts={[
						['Site', <code key="site">{job.site}</code>],
						['Asked by', job.asked_by || job.key_id],
						['Request', <code key="request">{job.request}</code>],
						['Begun', <Time key="begun" at={job.created_at} />],
						['Ended', job.finished_at && <Time at={job.finished_at} />],
						...(job.kind === 'import' ? ([['Lines processed', job.lines]] as const) : []),
						...(job.failure === null ? [] : ([['Failure', job.failure]] as const)),
					]}
				/>
			</Panel>
			{job.files.length > 0 && <Files job={job} />}
			{cancelling && (
				<Confirm
					title={underWay ? `Cancel this ${job.kind}?` : `Delete this ${job.kind}?`}
					action={underWay ? `Cancel the ${job.kind}` : 'Delete it'}
					danger
					onClose={() => setCancelling(false)}
					onConfirm={async () => {
						await cancelJob({ id: job.id });
						say(underWay ? `The ${job.kind} is cancelled.` : `The ${job.kind} and its files are deleted.`);
						navigate(scoped('/exports'));
					}}
				>
					<p>
						{job.kind === 'import'
							? 'What has been imported so far stays in the record.'
							: 'The files are deleted. The record itself does not change.'}{' '}
						This cannot be undone.
					</p>
				</Confirm>
			)}
		</Page>
	);
}

function Files({ job }: { job: WholeBulk }) {
	const base = `${location.protocol}//${location.hostname}:${pageFact('fhir-port')}`;
	const first = job.files.find(({ path }) => path !== null)?.path;
	const curl = `curl -H "X-API-Key: $KEY" -O '${base}${first}'`;
	return (
		<Panel title={job.kind === 'export' ? 'Files' : 'What was imported'}>
			<Table
				caption="Files"
				columns={[
					{ name: 'name', title: 'Content', cell: ({ name }) => name },
					{ name: 'count', title: 'Count', align: 'end', tight: true, cell: ({ count }) => count },
					{
						name: 'path',
						title: 'Address',
						cell: ({ path }) => (path === null ? <span class="muted">in the record</span> : <code>{path}</code>),
					},
				]}
				rows={job.files}
				identify={({ name }) => name}
			/>
			{first !== undefined && (
				<ToCopy title="Download" text={curl} copy="Copy command">
					<p class="hint">
						The files hold records of patients, so you need an API key of the site: set KEY to it. The audit trail records each download.
					</p>
				</ToCopy>
			)}
		</Panel>
	);
}

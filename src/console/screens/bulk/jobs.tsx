import { useEffect } from 'preact/hooks';
import { useList } from '../../answers.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { EmptyList } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useFilters } from '../../filters.ts';
import { pageOf } from '../../pages.ts';
import { useSiteScope } from '../../scope.ts';
import { type BulkRecord, listJobs } from './calls.ts';

const tones: Readonly<Record<BulkRecord['state'], Tone>> = {
	receiving: 'info',
	waiting: 'info',
	running: 'info',
	done: 'good',
	failed: 'danger',
	interrupted: 'warning',
};

export function isUnderWay({ state }: Pick<BulkRecord, 'state'>): boolean {
	return state === 'receiving' || state === 'waiting' || state === 'running';
}

export function JobState({ job }: { job: BulkRecord }) {
	return (
		<>
			<Badge tone={tones[job.state]}>{job.state}</Badge>
			{job.state === 'running' && job.progress !== '' && <span class="sub">{job.progress}</span>}
		</>
	);
}

/** Looks again while something is under way. */
export function useProgress(underWay: boolean, reload: () => void): void {
	useEffect(() => {
		if (!underWay) return;
		const timer = setInterval(reload, 2000);
		return () => clearInterval(timer);
	}, [underWay, reload]);
}

const columns: readonly Column<BulkRecord>[] = [
	{ name: 'kind', title: 'Job', tight: true, cell: ({ kind }) => (kind === 'export' ? 'Export' : 'Import') },
	{ name: 'state', title: 'State', tight: true, cell: (job) => <JobState job={job} /> },
	{ name: 'asked', title: 'Asked by', cell: ({ asked_by: label, key_id: key }) => label || <code>{key}</code> },
	{ name: 'site', title: 'Site', tight: true, cell: ({ site }) => <code>{site}</code> },
	{
		name: 'request',
		title: 'Request',
		spare: true,
		cell: ({ request }) => <code>{request.replace(/^[a-z]+:\/\/[^/]+/, '')}</code>,
	},
	{ name: 'created', title: 'Begun', tight: true, cell: ({ created_at: at }) => <Time at={at} /> },
	{
		name: 'finished',
		title: 'Ended',
		tight: true,
		spare: true,
		cell: ({ finished_at: at }) => (at === null ? <span class="muted">–</span> : <Time at={at} />),
	},
];

const noFilters = { kind: '', state: '' };
const kinds = [
	['export', 'Exports'],
	['import', 'Imports'],
] as const;
const states = ['receiving', 'waiting', 'running', 'done', 'failed', 'interrupted'] as const;

/** Exports and imports of FHIR bulk data, which clients start with their keys. */
export function Jobs() {
	const site = useSiteScope();
	const [filters, setFilters, clear] = useFilters(noFilters);
	const set = (name: keyof typeof noFilters) => (value: string) => setFilters({ ...filters, [name]: value });
	const kind = kinds.map(([each]) => each).find((each) => each === filters.kind);
	const query = { site, kind, state: states.find((each) => each === filters.state) };
	const found = useList<BulkRecord>(
		(page, signal) => listJobs({ ...query, ...page }, signal),
		({ id }) => id,
		[query],
		'exports and imports',
	);
	useProgress(found.rows.some(isUnderWay), found.reload);
	return (
		<Page
			title="Exports and imports"
			lead="Clients start exports and imports of FHIR bulk data with their keys. Finished ones are kept for a day, unless BULK_AGE_MS_MAX says otherwise."
			actions={
				<Button icon="refresh" onClick={found.reload}>
					Refresh
				</Button>
			}
		>
			<div class="filters">
				<Choice label="Job" value={filters.kind} options={kinds} onValue={set('kind')} />
				<Choice label="State" value={filters.state} options={states.map((state) => [state, state])} onValue={set('state')} />
			</div>
			<ListTable
				list={found}
				caption="Exports and imports, newest first"
				noun="job"
				columns={columns}
				identify={({ id }) => id}
				href={({ id }) => pageOf('job', { id })}
				tone={({ state }) => (state === 'failed' ? 'danger' : state === 'interrupted' ? 'warning' : undefined)}
				empty={
					<EmptyList icon="download" title="No exports or imports yet" filtered="No jobs match" clear={clear}>
						<p>
							A client with an API key of the site asks for <code>/fhir/$export</code> or sends to <code>/fhir/$import</code>. Create a key
							under <a href="/keys">API keys</a>.
						</p>
					</EmptyList>
				}
			/>
		</Page>
	);
}

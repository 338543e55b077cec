import { Panel } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { count } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import { useSites } from '../../scope.ts';
import type { OverviewState } from './calls.ts';

/** The mailboxes with waiting messages, fullest first. */
export function Mailboxes({ mailboxes, unknownSince }: Pick<OverviewState, 'mailboxes'> & { unknownSince: string | undefined }) {
	const sites = useSites();
	const rows = mailboxes.filter(({ waiting }) => waiting > 0).sort((left, right) => right.waiting - left.waiting);
	const most = Math.max(1, ...rows.map(({ waiting }) => waiting));
	return (
		<Panel title="Mailboxes by site">
			{unknownSince !== undefined ? (
				<p class="muted">
					Unknown since <Time at={unknownSince} />
				</p>
			) : rows.length === 0 ? (
				<p class="muted">No messages are waiting.</p>
			) : (
				<Table
					caption="Waiting messages by site"
					rows={rows}
					identify={({ site }) => site}
					href={({ site }) => pageOf('site', { slug: site })}
					columns={[
						{ name: 'site', title: 'Site', cell: ({ site }) => sites.find(({ slug }) => slug === site)?.name ?? site },
						{
							name: 'depth',
							title: 'Depth',
							cell: ({ waiting }) => <progress class="depth" aria-label={`${waiting} of ${most}`} value={waiting} max={most} />,
						},
						{ name: 'waiting', title: 'Waiting', align: 'end', tight: true, cell: ({ waiting }) => count(waiting, 'message') },
					]}
				/>
			)}
		</Panel>
	);
}

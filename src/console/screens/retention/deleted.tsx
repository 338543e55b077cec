import { useAnswer, wholeList } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { Empty } from '../../components/empty.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { bytes, count } from '../../format.ts';
import { type DeletedStudy, listDeletedStudies } from './calls.ts';

const limit = 200;

const columns: readonly Column<DeletedStudy>[] = [
	{ name: 'study', title: 'Study Instance UID', cell: ({ study_uid: uid }) => <code>{uid}</code> },
	{ name: 'site', title: 'Site', tight: true, cell: ({ site }) => <code>{site}</code> },
	{
		name: 'amount',
		title: 'Images',
		tight: true,
		cell: ({ instance_count: images, series_count: series, bytes: size }) => (
			<>
				{count(images, 'image')} in {count(series, 'series', 'series')}
				<span class="sub">{bytes(size)}</span>
			</>
		),
	},
	{ name: 'changed', title: 'Last changed', tight: true, spare: true, cell: ({ changed_at: at }) => <Time at={at} /> },
	{
		name: 'deleted',
		title: 'Deleted',
		tight: true,
		cell: ({ deleted_at: at, deleted_by: by }) => (
			<>
				<Time at={at} />
				<span class="sub">{by === 'retention' ? 'by the daily run' : `by ${by}`}</span>
			</>
		),
	},
	{
		name: 'reason',
		title: 'Reason',
		cell: ({ reason, objects_removed: done }) => (
			<>
				{reason}
				{!done && (
					<span class="sub">
						<Badge tone="warning">the next run removes its files</Badge>
					</span>
				)}
			</>
		),
	},
];

/** Lists the studies that retention deleted. */
export function DeletedStudies({ site }: { site: string | undefined }) {
	const answer = useAnswer((signal) => listDeletedStudies({ site, limit }, signal), [site]);
	return (
		<>
			<ListTable
				list={wholeList(answer)}
				caption="Deleted studies, newest first"
				noun="study"
				nouns="studies"
				columns={columns}
				identify={({ id, deleted_at: at }) => `${id} ${at}`}
				empty={
					<Empty icon="studies" title="No study was deleted">
						<p>Studies are deleted only at sites that say for how long they keep them.</p>
					</Empty>
				}
			/>
			{answer.data?.length === limit && <p class="note">These are the newest {limit}. Choose a site to see others.</p>}
		</>
	);
}

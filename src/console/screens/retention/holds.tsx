import { useState } from 'preact/hooks';
import { useAnswer, wholeList } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { EmptyList } from '../../components/empty.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useFilters } from '../../filters.ts';
import { pageOf } from '../../pages.ts';
import { may } from '../../session.ts';
import { type HoldRecord, listHolds } from './calls.ts';
import { PlaceHold } from './place-hold.tsx';
import { RemoveHold } from './remove-hold.tsx';

const what: Column<HoldRecord> = {
	name: 'what',
	title: 'Kept',
	cell: ({ site, patient, study }) =>
		patient === null ? (
			<>
				<a href={pageOf('study', { site, id: study ?? '' })}>Study</a>
				<span class="sub">
					<code>{study}</code>
				</span>
			</>
		) : (
			<>
				<a href={pageOf('patient', { site, id: patient })}>Patient</a>
				<span class="sub">
					<code>{patient}</code>
				</span>
			</>
		),
};

function columns(onRemove: (hold: HoldRecord) => void): readonly Column<HoldRecord>[] {
	return [
		what,
		{ name: 'site', title: 'Site', by: ({ site }) => site, tight: true, cell: ({ site }) => <code>{site}</code> },
		{ name: 'reason', title: 'Reason', cell: ({ reason }) => reason },
		{
			name: 'placed',
			title: 'Placed',
			by: ({ placed_at: at }) => at,
			tight: true,
			cell: ({ placed_at: at, placed_by: by }) => (
				<>
					<Time at={at} />
					<span class="sub">{by}</span>
				</>
			),
		},
		{
			name: 'state',
			title: 'State',
			tight: true,
			cell: ({ lifted_at: at, lifted_by: by }) =>
				at === null ? (
					<Badge tone="warning">in force</Badge>
				) : (
					<>
						Removed <Time at={at} />
						<span class="sub">{by}</span>
					</>
				),
		},
		{
			name: 'actions',
			title: '',
			tight: true,
			cell: (hold) =>
				hold.lifted_at === null &&
				may('manager') && (
					<span class="row-actions">
						<Button onClick={() => onRemove(hold)}>Remove…</Button>
					</span>
				),
		},
	];
}

/** Lists legal holds, places and removes them. */
export function Holds({ site }: { site: string | undefined }) {
	const [{ which }, setFilters] = useFilters({ which: '' });
	const all = which === 'all';
	const answer = useAnswer((signal) => listHolds({ site, all }, signal), [site, all]);
	const [placing, setPlacing] = useState(false);
	const [removing, setRemoving] = useState<HoldRecord>();
	const place = may('manager') && (
		<Button kind="primary" icon="plus" onClick={() => setPlacing(true)}>
			Place a hold
		</Button>
	);
	return (
		<>
			<p class="lead">
				Nothing deletes the studies of a patient, or a study, that is under a legal hold. While a site has any hold, its messages, earlier
				versions of resources and unmatched messages stay too, and so does the audit trail of the network.
			</p>
			<div class="filters">
				<Choice
					label="Which"
					value={which}
					any="In force"
					options={[['all', 'Include removed holds']]}
					onValue={(value) => setFilters({ which: value })}
				/>
				{(answer.data?.length ?? 0) > 0 && place}
			</div>
			<ListTable
				list={wholeList(answer)}
				caption="Legal holds, newest first"
				noun="hold"
				columns={columns(setRemoving)}
				identify={({ id }) => id}
				faded={({ lifted_at: at }) => at !== null}
				empty={
					<EmptyList icon="commitments" title="No legal holds" filtered="No legal holds" clear={undefined}>
						<p>
							Place a hold when the data of a patient or a study may be evidence. The pages of patients and studies have a button for it
							too.
						</p>
						{place}
					</EmptyList>
				}
			/>
			{placing && (
				<PlaceHold
					of={{ site: site ?? '' }}
					onClose={() => setPlacing(false)}
					onDone={() => {
						setPlacing(false);
						answer.reload();
					}}
				/>
			)}
			{removing && (
				<RemoveHold
					hold={removing}
					onClose={() => setRemoving(undefined)}
					onDone={() => {
						setRemoving(undefined);
						answer.reload();
					}}
				/>
			)}
		</>
	);
}

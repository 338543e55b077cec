import { useList } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Ago } from '../../components/time.tsx';
import { useFilters } from '../../filters.ts';
import { bytes } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import { useSiteScope } from '../../scope.ts';
import { type ConflictRecord, listConflicts } from './calls.ts';

export function ConflictState({ conflict }: { conflict: ConflictRecord }) {
	if (conflict.settled_at === null) return <Badge tone="warning">open</Badge>;
	const words: Readonly<Record<string, string>> = { stored: 'kept stored', received: 'used received' };
	return <Badge tone="good">{words[conflict.settlement ?? ''] ?? conflict.settlement ?? 'settled'}</Badge>;
}

const columns: readonly Column<ConflictRecord>[] = [
	{ name: 'at', title: 'Received', tight: true, cell: ({ received_at: at }) => <Ago at={at} /> },
	{ name: 'kind', title: 'Kind', tight: true, cell: ({ kind }) => (kind === 'other-patient' ? 'another patient' : 'other content') },
	{ name: 'patient', title: 'Patient', cell: ({ study_patient_name: name, stated_patient_name: stated }) => name || stated || '–' },
	{ name: 'study', title: 'Study', cell: ({ modality, study_description: text }) => [modality, text].filter(Boolean).join(' · ') || '–' },
	{ name: 'uid', title: 'SOP Instance UID', spare: true, cell: ({ sop_instance_uid: uid }) => <code>{uid}</code> },
	{ name: 'site', title: 'Site', tight: true, cell: ({ site }) => <code>{site}</code> },
	{ name: 'sender', title: 'Sender', cell: ({ calling_ae: title, source }) => title || source },
	{ name: 'bytes', title: 'Size', align: 'end', tight: true, spare: true, cell: ({ bytes: size }) => bytes(size) },
	{ name: 'state', title: 'State', tight: true, cell: (conflict) => <ConflictState conflict={conflict} /> },
];

export function Conflicts() {
	const site = useSiteScope();
	const [filters, setFilters] = useFilters({ all: '' });
	const all = filters.all === 'on';
	const found = useList<ConflictRecord>(
		(page, signal) => listConflicts({ site, all, ...page }, signal),
		({ id }) => id,
		[site, all],
		'conflicts',
	);
	return (
		<Page
			title="Conflicts"
			lead="Some images arrive under a known UID with different content, or name another patient than their study does. They are kept here until somebody decides."
		>
			<div class="filters">
				<label class="check">
					<input type="checkbox" checked={all} onChange={(event) => setFilters({ all: event.currentTarget.checked ? 'on' : '' })} />
					<span>Also show settled conflicts</span>
				</label>
			</div>
			<ListTable
				list={found}
				caption="Conflicts, newest first"
				noun="conflict"
				columns={columns}
				identify={({ id }) => id}
				href={({ id }) => pageOf('conflict', { id })}
				faded={({ settled_at: at }) => at !== null}
				empty={
					<Empty icon="conflicts" title={all ? 'No conflicts yet' : 'No conflicts wait for a decision'}>
						<p>Storage commitment of an instance fails while it has an open conflict.</p>
					</Empty>
				}
			/>
		</Page>
	);
}

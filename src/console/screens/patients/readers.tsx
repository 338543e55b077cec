import { useState } from 'preact/hooks';
import { useList } from '../../answers.ts';
import { Empty } from '../../components/empty.tsx';
import { ListTable } from '../../components/table.tsx';
import { auditColumns } from '../audit/audit.tsx';
import { type AuditRecord, listAudit } from '../audit/calls.ts';
import { Event } from '../audit/event.tsx';

/** Lists who read or changed this patient, or a patient whom a merge has replaced by this one. */
export function Readers({ site, id }: { site: string; id: string }) {
	const [opened, setOpened] = useState<AuditRecord>();
	const found = useList<AuditRecord>(
		(page, signal) => listAudit({ site, patient: id, ...page }, signal),
		(event) => event.id,
		[site, id],
		'readers',
	);
	return (
		<>
			<ListTable
				list={found}
				caption="Who read or changed this patient, newest first"
				noun="event"
				columns={auditColumns.filter(({ name }) => name !== 'site')}
				identify={(event) => event.id}
				open={(event) => setOpened(event)}
				empty={
					<Empty icon="audit" title="Nobody has read this record">
						<p>What a person or a system reads appears here a moment later.</p>
					</Empty>
				}
			/>
			{opened && <Event event={opened} onClose={() => setOpened(undefined)} />}
		</>
	);
}

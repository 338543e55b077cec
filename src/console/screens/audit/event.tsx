import { Badge } from '../../components/badge.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Facts } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { capitalized } from '../../format.ts';
import type { AuditRecord } from './calls.ts';
import { toneOf } from './tone.ts';
import { whoOf } from './who.ts';

type Members = Record<string, unknown>;

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);

function shown(value: unknown): string {
	if (value === undefined || value === null || value === '') return '–';
	if (Array.isArray(value) && value.every((member) => typeof member !== 'object')) return value.length === 0 ? 'none' : value.join(', ');
	if (typeof value === 'boolean') return value ? 'yes' : 'no';
	return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export function Event({ event, onClose }: { event: AuditRecord; onClose(): void }) {
	const { before, after, ...rest } = event.detail;
	return (
		<Dialog title={`${event.action} of ${event.subject_name ?? event.subject}`} onClose={onClose} size="large">
			<Facts
				facts={[
					['Time', <Time key="at" at={event.recorded_at} />],
					[
						'Action',
						<Badge key="action" tone={toneOf(event.action)}>
							{event.action}
						</Badge>,
					],
					['Of what', event.subject_name === null ? event.subject : `${event.subject_name} (${event.subject})`],
					['Who', whoOf(event)],
					['From', event.source ?? 'command line'],
					['Site', event.site],
					...(event.patient_count === 0 ? [] : [[`Patients (${event.patient_count})`, event.patients.join(', ')] as const]),
					...(event.studies.length === 0 ? [] : [['Studies', event.studies.join(', ')] as const]),
					['Event', <code key="id">{event.id}</code>],
					...Object.entries(rest).map(([name, value]) => [capitalized(name.replaceAll('_', ' ')), shown(value)] as const),
				]}
			/>
			{(isMembers(before) || isMembers(after)) && (
				<Difference before={isMembers(before) ? before : undefined} after={isMembers(after) ? after : undefined} />
			)}
		</Dialog>
	);
}

/** Shows the values before and after side by side. Unchanged values are greyed. */
function Difference({ before, after }: { before: Members | undefined; after: Members | undefined }) {
	const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
	return (
		<div class="table-frame">
			<table class="difference">
				<caption class="visually-hidden">Changes</caption>
				<thead>
					<tr>
						<th scope="col">Setting</th>
						{before && <th scope="col">Before</th>}
						{after && <th scope="col">After</th>}
					</tr>
				</thead>
				<tbody>
					{names.map((name) => {
						const [was, is] = [shown(before?.[name]), shown(after?.[name])];
						const differs = was !== is;
						return (
							<tr key={name}>
								<th scope="row">{name.replaceAll('_', ' ')}</th>
								{before && <td class={differs ? 'before' : 'muted'}>{was}</td>}
								{after && <td class={differs ? 'after' : 'muted'}>{is}</td>}
							</tr>
						);
					})}
				</tbody>
			</table>
		</div>
	);
}

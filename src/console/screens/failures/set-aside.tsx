import { useList } from '../../answers.ts';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { pageOf } from '../../pages.ts';
import { useSiteScope } from '../../scope.ts';
import { may } from '../../session.ts';
import { TakeUp } from '../messages/set-aside.tsx';
import { listSetAside, type SetAsideRecord } from './calls.ts';

function columns(onDone: () => void): readonly Column<SetAsideRecord>[] {
	return [
		{ name: 'received', title: 'Received', tight: true, cell: ({ received_at: at }) => <Time at={at} /> },
		{ name: 'type', title: 'Type', tight: true, cell: ({ message_type: type }) => <code>{type || '–'}</code> },
		{ name: 'site', title: 'Site', tight: true, cell: ({ site }) => <code>{site}</code> },
		{
			name: 'reason',
			title: 'Reason',
			cell: ({ reason, failure }) => (
				<>
					{reason}
					<span class="sub">{failure}</span>
				</>
			),
		},
		{
			name: 'by',
			title: 'Set aside',
			tight: true,
			spare: true,
			cell: ({ actor, set_aside_at: at }) => (
				<>
					<Time at={at} />
					<span class="sub">{actor}</span>
				</>
			),
		},
		{
			name: 'actions',
			title: '',
			tight: true,
			cell: ({ id }) =>
				may('manager') && (
					<span class="row-actions">
						<TakeUp id={id} onDone={onDone} />
					</span>
				),
		},
	];
}

/** Refused messages that nobody will mend, and why. */
export function SetAsideMessages() {
	const site = useSiteScope();
	const found = useList<SetAsideRecord>(
		(page, signal) => listSetAside({ site, ...page }, signal),
		({ id }) => id,
		[site],
		'set aside',
	);
	return (
		<Page
			title="Set aside"
			up={{ href: '/failures', title: 'Failures' }}
			lead="These refused messages will not be corrected. The list says why."
		>
			<ListTable
				list={found}
				caption="Messages that were set aside, newest first"
				noun="message"
				columns={columns(found.reload)}
				identify={({ id }) => id}
				href={({ id }) => pageOf('message', { id })}
				empty={
					<Empty icon="check" title="Nothing is set aside">
						<p>The page of a refused message, and each cause of failures, has “Set aside…”.</p>
					</Empty>
				}
			/>
		</Page>
	);
}

import { useState } from 'preact/hooks';
import { useAnswer, wholeList } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Ago } from '../../components/time.tsx';
import { ShownOnce } from '../../components/to-copy.tsx';
import { pageOf } from '../../pages.ts';
import { useSiteScope } from '../../scope.ts';
import { type ListedNotification, listNotifications, type NewNotification } from './calls.ts';
import { NewNotificationDialog } from './new-notification.tsx';

const columns: readonly Column<ListedNotification>[] = [
	{ name: 'to', title: 'Recipient', by: ({ to }) => to, cell: ({ to, by }) => (by === 'webhook' ? <code>{to}</code> : to) },
	{ name: 'by', title: 'By', by: ({ by }) => by, tight: true, cell: ({ by }) => (by === 'email' ? 'E-mail' : 'Webhook') },
	{
		name: 'for',
		title: 'For',
		by: ({ user, site }) => site ?? user,
		tight: true,
		cell: ({ user, site }) => (site === null ? (user ?? 'The network') : <code>{site}</code>),
	},
	{ name: 'severities', title: 'Severities', spare: true, cell: ({ severities }) => severities.join(', ') },
	{ name: 'state', title: 'State', tight: true, cell: (one) => <State of={one} /> },
];

/** Shows whether somebody is told, and what became of the latest notification. */
function State({ of: { active, latest } }: { of: ListedNotification }) {
	if (!active) return <Badge>Quiet</Badge>;
	if (latest === null) return <Badge tone="neutral">Nothing yet</Badge>;
	const [tone, word] = ({ sent: ['good', 'Sent'], waiting: ['warning', 'Waiting'], failed: ['danger', 'Failed'] } as const)[latest.state];
	return (
		<>
			<Badge tone={tone}>{word}</Badge>
			<span class="sub">{latest.reason ?? <Ago at={latest.at} />}</span>
		</>
	);
}

/** Lists who is told of alerts. */
export function Notifications() {
	const site = useSiteScope();
	const answer = useAnswer((signal) => listNotifications({ site }, signal), [site]);
	const [adding, setAdding] = useState(false);
	const [made, setMade] = useState<NewNotification>();
	const add = (
		<Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
			New notification
		</Button>
	);
	return (
		<Page
			title="Notifications"
			lead="These people and systems are notified by e-mail or webhook when an alert starts and when it ends."
			actions={add}
		>
			<ListTable
				list={wholeList(answer)}
				caption="Notifications"
				noun="notification"
				columns={columns}
				identify={({ id }) => id}
				href={({ id }) => pageOf('notification', { id })}
				faded={({ active }) => !active}
				empty={
					<Empty icon="messages" title="No notifications yet">
						<p>You can get the alerts of your sites by e-mail, or let a system know by a signed webhook.</p>
						{add}
					</Empty>
				}
			/>
			{adding && (
				<NewNotificationDialog
					site={site}
					onClose={() => setAdding(false)}
					onAdded={(added) => {
						setAdding(false);
						if (added.secret !== undefined) setMade(added);
						answer.reload();
					}}
				/>
			)}
			{made?.secret !== undefined && (
				<Dialog title="The key of the webhook" onClose={() => setMade(undefined)} size="small">
					<p class="note warning">This key is shown only once. The receiver checks the header Tributary-Signature with it.</p>
					<ShownOnce title={made.to} text={made.secret} />
					<div class="actions">
						<Button kind="primary" onClick={() => setMade(undefined)}>
							Done
						</Button>
					</div>
				</Dialog>
			)}
		</Page>
	);
}

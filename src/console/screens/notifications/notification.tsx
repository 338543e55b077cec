import { useState } from 'preact/hooks';
import { useAnswer, wholeList } from '../../answers.ts';
import { useAct } from '../../components/act.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Empty, Loading } from '../../components/empty.tsx';
import { changed, Form } from '../../components/form.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { navigate } from '../../router.ts';
import { useSites } from '../../scope.ts';
import type { ScreenProps } from '../../screen.ts';
import { currentUser, may } from '../../session.ts';
import {
	type DeliveryRecord,
	listDeliveries,
	type NotificationRecord,
	removeNotification,
	setNotification,
	showNotification,
	testNotification,
} from './calls.ts';
import { alertNames, severityChoices, siteNames } from './fields.ts';

const up = { href: '/notifications', title: 'Notifications' };
const tones = { sent: 'good', waiting: 'warning', failed: 'danger' } as const;

const columns: readonly Column<DeliveryRecord>[] = [
	{ name: 'at', title: 'Since', tight: true, cell: ({ created_at }) => <Time at={created_at} /> },
	{
		name: 'alert',
		title: 'Alert',
		cell: ({ summary, alert }) => (
			<>
				{summary}
				<span class="sub">
					<code>{alert}</code>
				</span>
			</>
		),
	},
	{ name: 'event', title: 'Event', tight: true, cell: ({ event }) => (event === 'start' ? 'Start' : 'End') },
	{ name: 'state', title: 'State', tight: true, cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
	{
		name: 'reason',
		title: 'Attempts',
		cell: ({ attempts, reason, next_at }) => (
			<>
				{attempts}
				{reason !== null && <span class="sub">{reason}</span>}
				{next_at !== null && attempts > 0 && (
					<span class="sub">
						again <Time at={next_at} />
					</span>
				)}
			</>
		),
	},
];

export function Notification({ parameters: { id = '' } }: ScreenProps) {
	const answer = useAnswer((signal) => showNotification({ id }, signal), [id]);
	if (answer.data === undefined) {
		return (
			<Page title="Notification" up={up}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading />}
			</Page>
		);
	}
	return <Shown notification={answer.data} reload={answer.reload} />;
}

function Shown({ notification, reload }: { notification: NotificationRecord; reload(): void }) {
	const { id, to, by, user, site, severities, alerts, sites, active } = notification;
	const deliveries = useAnswer((signal) => listDeliveries({ id }, signal), [id]);
	const [removing, setRemoving] = useState(false);
	const [busy, act] = useAct();
	const own = useSites();
	const mine = may('administrator') || user === currentUser()?.email || (site !== null && may('manager'));
	const initial = { active, severities, alerts, sites };
	const test = async () => {
		const { outcome, reason } = await testNotification({ id });
		say(outcome === 'sent' ? `A test was sent to ${to}.` : `The test could not be sent: ${reason}.`);
	};
	const actions = mine && (
		<>
			<Button busy={busy} onClick={() => act(test)}>
				Send a test
			</Button>
			<Button icon="close" onClick={() => setRemoving(true)}>
				Remove…
			</Button>
		</>
	);
	const marks = <Badge tone={active ? 'good' : 'neutral'}>{active ? 'On' : 'Quiet'}</Badge>;
	const whose = site === null ? (user ?? 'the network') : `the site ${site}`;
	return (
		<Page title={to} up={up} marks={marks} lead={`Alerts by ${by === 'email' ? 'e-mail' : 'webhook'} for ${whose}.`} actions={actions}>
			<Panel title="What is sent">
				<Form
					key={JSON.stringify(initial)}
					groups={[
						{
							fields: [
								{ kind: 'switch', name: 'active', label: 'On', hint: 'If it is off, nothing is sent.' },
								severityChoices,
								alertNames,
							],
						},
						{ fields: [siteNames(own)], when: () => user !== null && own.length > 0 },
					]}
					initial={initial}
					action="Save"
					fixed={!mine}
					onlyChanged
					onSubmit={async (values) => {
						await setNotification({ id, ...changed(initial, values) });
						say('Saved.');
						reload();
					}}
				/>
			</Panel>
			<Panel title="What was sent">
				<ListTable
					list={wholeList(deliveries)}
					caption="What was sent, newest first"
					noun="notification"
					columns={columns}
					identify={(delivery) => delivery.id}
					empty={
						<Empty icon="messages" title="Nothing was sent yet">
							<p>A notification is sent when an alert of these severities starts.</p>
						</Empty>
					}
				/>
			</Panel>
			{removing && (
				<Confirm
					title={`Stop notifying ${to}?`}
					action="Remove"
					danger
					onClose={() => setRemoving(false)}
					onConfirm={async () => {
						await removeNotification({ id });
						say(`${to} no longer gets notifications.`);
						navigate('/notifications');
					}}
				>
					<p>What still waits is not sent, and the list of what was sent is removed.</p>
				</Confirm>
			)}
		</Page>
	);
}

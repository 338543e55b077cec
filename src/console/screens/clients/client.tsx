import { useState } from 'preact/hooks';
import type { ClientRecord, ShownClient } from '#administration/clients.ts';
import { useAnswer } from '../../answers.ts';
import { Activity, Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Loading } from '../../components/empty.tsx';
import { changed, Form } from '../../components/form.tsx';
import { InForce } from '../../components/in-force.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { say } from '../../components/toast.tsx';
import { navigate } from '../../router.ts';
import type { ScreenProps } from '../../screen.ts';
import { may } from '../../session.ts';
import { useSettings } from '../../settings.ts';
import { StoredTimes } from '../sites/stored-times.tsx';
import { disableClient, enableClient, removeClient, setClient, showClient } from './calls.ts';
import { clientGroups, valuesOf } from './fields.ts';
import { useOverlap } from './overlap.tsx';
import { SenderTest } from './sender-test.tsx';

const up = { href: '/clients', title: 'Integration clients' };

export function Client({ parameters: { id = '' } }: ScreenProps) {
	const answer = useAnswer((signal) => showClient({ id }, signal), [id]);
	if (answer.data === undefined) {
		return (
			<Page title="Integration client" up={up}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading />}
			</Page>
		);
	}
	return <Shown client={answer.data} reload={answer.reload} />;
}

function Shown({ client, reload }: { client: ShownClient; reload(): void }) {
	const [asking, setAsking] = useState<'toggle' | 'remove'>();
	const close = () => setAsking(undefined);
	const those = useSettings('client');
	const { carryOut, question } = useOverlap();
	const initial = valuesOf(those, client);
	const actions = may('manager') && (
		<>
			<Button icon={client.active ? 'close' : 'check'} onClick={() => setAsking('toggle')}>
				{client.active ? 'Disable…' : 'Enable…'}
			</Button>
			<Button onClick={() => setAsking('remove')}>Remove…</Button>
		</>
	);
	const marks = (
		<>
			<Activity active={client.active} />
			<Badge>{client.site}</Badge>
		</>
	);
	return (
		<Page title={client.name} up={up} marks={marks} actions={actions}>
			<div class="columns wide-first">
				<Panel title="Settings">
					<Form
						key={JSON.stringify(initial)}
						groups={clientGroups(those, client)}
						initial={initial}
						action="Save"
						fixed={!may('manager')}
						onlyChanged
						onSubmit={(values) =>
							carryOut(async (confirmed) => {
								await setClient({ id: client.id, ...changed(initial, values), ...confirmed });
								say('Settings saved. They take effect within a second.');
								reload();
							})
						}
					/>
				</Panel>
				<div>
					<Panel title="In force">
						<InForce holder="client" settings={client.settings} />
					</Panel>
					<Panel title="Stored times">
						<StoredTimes timeZone={client.time_zone ?? ''} set={(asked) => setClient({ id: client.id, ...asked })} onSet={reload} />
					</Panel>
					<Panel title="Would this sender match?">
						<SenderTest client={client} />
					</Panel>
				</div>
			</div>
			{question}
			{asking === 'toggle' && <Toggle client={client} onClose={close} reload={reload} />}
			{asking === 'remove' && <Remove client={client} onClose={close} />}
		</Page>
	);
}

function Toggle({ client, onClose, reload }: { client: ClientRecord; onClose(): void; reload(): void }) {
	const act = async () => {
		await (client.active ? disableClient : enableClient)({ id: client.id });
		say(client.active ? `${client.name} is disabled.` : `${client.name} is enabled.`);
		onClose();
		reload();
	};
	return (
		<Confirm
			title={`${client.active ? 'Disable' : 'Enable'} ${client.name}?`}
			action={client.active ? 'Disable client' : 'Enable client'}
			danger={client.active}
			onConfirm={act}
			onClose={onClose}
		>
			<p>
				{client.active
					? 'Within a second its messages are refused, on open connections too. You can enable it again.'
					: 'It can send again within a second.'}
			</p>
		</Confirm>
	);
}

function Remove({ client, onClose }: { client: ClientRecord; onClose(): void }) {
	const act = async () => {
		await removeClient({ id: client.id });
		say(`${client.name} is removed.`);
		onClose();
		navigate('/clients');
	};
	return (
		<Confirm title={`Remove ${client.name}?`} action="Remove client" name={client.name} danger onConfirm={act} onClose={onClose}>
			<p>
				Its settings are deleted for good, and its messages are refused from now on. The data it sent and its audit events are kept. To stop
				it for a while, disable it instead.
			</p>
		</Confirm>
	);
}

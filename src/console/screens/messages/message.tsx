import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Loading } from '../../components/empty.tsx';
import { Facts, Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { milliseconds } from '../../format.ts';
import { pageOf, pageOfResource } from '../../pages.ts';
import { navigate } from '../../router.ts';
import type { ScreenProps } from '../../screen.ts';
import { may } from '../../session.ts';
import { type SettingRecord, settingText, useSettingsByName } from '../../settings.ts';
import { explainMessage, type MessageReading, previewRemedy, readMessage, replayMessage } from './calls.ts';
import { Comparison, Edit, TakeAlong } from './edit.tsx';
import { Fault } from './fault.tsx';
import { Neighbours } from './neighbours.tsx';
import { Outcome, surfaceNames } from './outcome.tsx';
import { RawText, ReadingView } from './reading.tsx';
import { Unchanged } from './remedy.tsx';

const up = { href: '/messages', title: 'Messages' };

export function Message({ parameters: { id = '' } }: ScreenProps) {
	const answer = useAnswer((signal) => readMessage({ id }, signal), [id]);
	if (answer.data === undefined) {
		return (
			<Page title="Message" up={up}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading lines={8} />}
			</Page>
		);
	}
	return <Shown key={id} message={answer.data} onChange={answer.reload} />;
}

/** Lists the facts of the receipt, with links to the site and the client of the message. */
function factsOf(message: MessageReading, labels: ReadonlyMap<string, SettingRecord>): [string, ComponentChildren][] {
	const { client, client_id: clientId, key_label: label, site, settings } = message;
	return [
		['Received', <Time key="at" at={message.received_at} />],
		['Latency', milliseconds(message.latency_ms)],
		[
			'Site',
			<a key="site" href={pageOf('site', { slug: site })}>
				<code>{site}</code>
			</a>,
		],
		['Surface', surfaceNames[message.surface] ?? message.surface],
		['Client', clientId === null ? client : <a href={pageOf('client', { id: clientId })}>{client ?? clientId}</a>],
		...(label === null
			? []
			: ([['API key', <a href={`/keys?${new URLSearchParams({ site })}`}>{label}</a>]] as [string, ComponentChildren][])),
		['From', <code key="source">{message.source}</code>],
		['Control id', message.control_id && <code>{message.control_id}</code>],
		['Sequence number in the site', String(message.sequence)],
		...Object.entries(settings ?? {}).map(([name, value]): [string, ComponentChildren] => [
			`Setting: ${labels.get(name)?.label ?? name}`,
			settingText(labels.get(name), value),
		]),
	];
}

function Shown({ message, onChange }: { message: MessageReading; onChange(): void }) {
	const [asking, setAsking] = useState<'replay' | 'edit'>();
	const [tab, setTab] = useState('message');
	const labels = useSettingsByName();
	const explained = useAnswer((signal) => explainMessage({ id: message.id }, signal), [message.id]);
	const { data: explanation } = explained;
	const location = explanation?.fault?.location ?? undefined;
	const refresh = () => {
		explained.reload();
		onChange();
	};
	return (
		<Page
			title={message.message_type || 'Message'}
			up={up}
			marks={<Outcome outcome={message.outcome} />}
			actions={
				<>
					{explanation && <Neighbours cause={explanation.cause} />}
					{message.replayable && may('manager') && (
						<>
							{message.outcome !== 'accepted' && <Button onClick={() => setAsking('edit')}>Edit and send again…</Button>}
							<Button icon="replay" onClick={() => setAsking('replay')}>
								Replay…
							</Button>
						</>
					)}
				</>
			}
		>
			{message.failure && explanation === undefined && (
				<div class="problem">
					<p>
						<strong>{message.failure_code}</strong>: {message.failure}
					</p>
				</div>
			)}
			{explained.failure && <Problem failure={explained.failure} onRetry={explained.reload} />}
			{explanation && <Fault message={message} explanation={explanation} onChange={refresh} />}
			{message.flags.map(({ code, text }) => (
				<p key={code} class="note warning">
					{text}
				</p>
			))}
			<div class="columns message-head">
				<Panel title="Receipt">
					<Facts facts={factsOf(message, labels)} />
				</Panel>
				<Effects message={message} />
			</div>
			<Panel title="Content" actions={<TakeAlong message={message} />}>
				<Tabs
					label="Content"
					chosen={tab}
					onChoose={setTab}
					tabs={[
						{
							name: 'message',
							title: 'Message',
							content: () => <ReadingView reading={message.reading} label="Message" fault={location} />,
						},
						{ name: 'ack', title: 'Acknowledgement', content: () => <ReadingView reading={message.ack_reading} label="Acknowledgement" /> },
						...(explanation?.edit ? [{ name: 'edited', title: 'What was edited', content: () => <Comparison id={message.id} /> }] : []),
						{ name: 'raw', title: 'As received', content: () => <RawText label="As received" text={message.message.join('\n')} /> },
					]}
				/>
			</Panel>
			{asking === 'replay' && <Replay message={message} onClose={() => setAsking(undefined)} />}
			{asking === 'edit' && <Edit id={message.id} onClose={() => setAsking(undefined)} />}
		</Page>
	);
}

/** Links `Patient/1/_history/2` to the page of the patient, or of whatever else has one, and to the version. */
function Effects({ message }: { message: MessageReading }) {
	const [patient] = message.patients;
	return (
		<Panel title="Outcome">
			<ul class="links">
				{message.patients.map(({ id, name }) => (
					<li key={id}>
						{message.changed.length > 0 ? 'Patient' : 'Patient with this identifier:'}{' '}
						<a href={pageOf('patient', { site: message.site, id })}>{name || 'no name'}</a>
					</li>
				))}
				{message.changed.slice(0, 50).map((version) => {
					const [, type = '', id = '', number = ''] = /^(\w+)\/([^/]+)\/(?:_history\/)?(\d+)$/.exec(version) ?? [];
					const href = pageOfResource(message.site, type, id)?.href;
					return (
						<li key={version}>
							{href ? <a href={href}>{type}</a> : type}{' '}
							<a href={pageOf('resource', { site: message.site, type, id }, { version: number })}>version {number}</a>
						</li>
					);
				})}
				{message.changed.length > 50 && <li class="muted">and {message.changed.length - 50} more</li>}
				{message.replay_of && (
					<li>
						{message.outcome === 'duplicate' ? 'Repeats' : 'Replay of'}{' '}
						<a href={pageOf('message', { id: message.replay_of })}>an earlier message</a>
					</li>
				)}
				{message.replays.map(({ id, outcome, received_at: at }) => (
					<li key={id}>
						<a href={pageOf('message', { id })}>Replayed</a> <Time at={at} /> <Outcome outcome={outcome} />
					</li>
				))}
			</ul>
			{message.changed.length === 0 && message.replays.length === 0 && (
				<p class="muted">{message.outcome === 'accepted' ? 'The message contained nothing new.' : 'The message changed nothing.'}</p>
			)}
			{patient && message.changed.length > 0 && (
				<LinkButton href={pageOf('patient', { site: message.site, id: patient.id })} icon="patients">
					Open the patient
				</LinkButton>
			)}
		</Panel>
	);
}

function Replay({ message, onClose }: { message: MessageReading; onClose(): void }) {
	const isRefused = message.outcome === 'refused';
	const trial = useAnswer(isRefused ? (signal) => previewRemedy({ id: message.id }, signal) : undefined, [message.id]);
	const replay = async () => {
		const { id, outcome, failure } = await replayMessage({ id: message.id, accept_older: message.overtaken !== null });
		if (outcome === 'refused') say(`Refused again: ${failure ?? ''}`, 'danger');
		else say('The message was replayed.');
		onClose();
		navigate(pageOf('message', { id }));
	};
	return (
		<Confirm
			title="Replay this message?"
			action={message.overtaken ? 'Replay, and set back' : 'Replay'}
			danger={message.overtaken !== null}
			onConfirm={replay}
			onClose={onClose}
		>
			{trial.data?.unchanged && <Unchanged />}
			<p>The message joins the site’s queue, uses the current settings of its client, and is logged as a new message.</p>
			{message.overtaken && (
				<p class="note warning">
					It was accepted, and it is not the newest. A replay sets the record back
					{message.overtaken.version && (
						<>
							: <code>{message.overtaken.version}</code> is newer
						</>
					)}
					.
					{message.overtaken.message && (
						<>
							{' '}
							<a href={pageOf('message', { id: message.overtaken.message.id })}>{message.overtaken.message.message_type}</a> of{' '}
							<Time at={message.overtaken.message.received_at} /> came later.
						</>
					)}
				</p>
			)}
		</Confirm>
	);
}

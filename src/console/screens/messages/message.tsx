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
import { navigate } from '../../router.ts';
import type { ScreenProps } from '../../screen.ts';
import { may } from '../../session.ts';
import { type MessageReading, readMessage, replayMessage } from './calls.ts';
import { Outcome, surfaceNames } from './outcome.tsx';
import { RawText, ReadingView } from './reading.tsx';

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
	return <Shown message={answer.data} />;
}

function Shown({ message }: { message: MessageReading }) {
	const [asking, setAsking] = useState(false);
	const [tab, setTab] = useState('message');
	return (
		<Page
			title={message.message_type || 'Message'}
			up={up}
			marks={<Outcome outcome={message.outcome} />}
			actions={
				message.replayable &&
				may('manager') && (
					<Button icon="replay" onClick={() => setAsking(true)}>
						Replay…
					</Button>
				)
			}
		>
			{message.failure && (
				<div class="problem">
					<p>
						<strong>{message.failure_code}</strong>: {message.failure}
					</p>
				</div>
			)}
			{message.flags.map(({ code, text }) => (
				<p key={code} class="note warning">
					{text}
				</p>
			))}
			<div class="columns message-head">
				<Panel title="Receipt">
					<Facts
						facts={[
							['Received', <Time key="at" at={message.received_at} />],
							['Latency', milliseconds(message.latency_ms)],
							['Site', <code key="site">{message.site}</code>],
							['Surface', surfaceNames[message.surface] ?? message.surface],
							['Client', message.client],
							['From', <code key="source">{message.source}</code>],
							['Control id', message.control_id && <code>{message.control_id}</code>],
							['Sequence number in the site', String(message.sequence)],
							...Object.entries(message.settings ?? {}).map(([name, value]): [string, string] => [`Read by ${name}`, String(value)]),
						]}
					/>
				</Panel>
				<Effects message={message} />
			</div>
			<Panel title="Content">
				<Tabs
					label="Content"
					chosen={tab}
					onChoose={setTab}
					tabs={[
						{ name: 'message', title: 'Message', content: () => <ReadingView reading={message.reading} label="Message" /> },
						{ name: 'ack', title: 'Acknowledgement', content: () => <ReadingView reading={message.ack_reading} label="Acknowledgement" /> },
						{ name: 'raw', title: 'As received', content: () => <RawText label="As received" text={message.message.join('\n')} /> },
					]}
				/>
			</Panel>
			{asking && <Replay message={message} onClose={() => setAsking(false)} />}
		</Page>
	);
}

/** Links `Patient/1/_history/2` to the patient's page, and other types to the page of their patient if it is known. */
function Effects({ message }: { message: MessageReading }) {
	const [patient] = message.patients;
	return (
		<Panel title="Outcome">
			<ul class="links">
				{message.patients.map(({ id, name }) => (
					<li key={id}>
						{message.changed.length > 0 ? 'Patient' : 'Patient with this identifier:'}{' '}
						<a href={`/patients/${message.site}/${id}`}>{name || id}</a>
					</li>
				))}
				{message.changed.slice(0, 50).map((version) => {
					const [, type = '', id = '', number = ''] = /^(\w+)\/([^/]+)\/(?:_history\/)?(\d+)$/.exec(version) ?? [];
					const href = type === 'Patient' ? `/patients/${message.site}/${id}` : type === 'DiagnosticReport' ? `/reports/${id}` : undefined;
					return (
						<li key={version}>
							{href ? <a href={href}>{type}</a> : type} <span class="muted">version {number}</span>
						</li>
					);
				})}
				{message.changed.length > 50 && <li class="muted">and {message.changed.length - 50} more</li>}
				{message.replay_of && (
					<li>
						{message.outcome === 'duplicate' ? 'Repeats' : 'Replay of'} <a href={`/messages/${message.replay_of}`}>an earlier message</a>
					</li>
				)}
				{message.replays.map(({ id, outcome, received_at: at }) => (
					<li key={id}>
						<a href={`/messages/${id}`}>Replayed</a> <Time at={at} /> <Outcome outcome={outcome} />
					</li>
				))}
			</ul>
			{message.changed.length === 0 && message.replays.length === 0 && (
				<p class="muted">{message.outcome === 'accepted' ? 'The message contained nothing new.' : 'The message changed nothing.'}</p>
			)}
			{patient && message.changed.length > 0 && (
				<LinkButton href={`/patients/${message.site}/${patient.id}`} icon="patients">
					Open the patient
				</LinkButton>
			)}
		</Panel>
	);
}

function Replay({ message, onClose }: { message: MessageReading; onClose(): void }) {
	const replay = async () => {
		const { id, outcome, failure } = await replayMessage({ id: message.id, accept_older: message.overtaken !== null });
		if (outcome === 'refused') say(`Refused again: ${failure ?? ''}`, 'danger');
		else say('The message was replayed.');
		onClose();
		navigate(`/messages/${id}`);
	};
	return (
		<Confirm
			title="Replay this message?"
			action={message.overtaken ? 'Replay, and set back' : 'Replay'}
			danger={message.overtaken !== null}
			onConfirm={replay}
			onClose={onClose}
		>
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
							<a href={`/messages/${message.overtaken.message.id}`}>{message.overtaken.message.message_type}</a> of{' '}
							<Time at={message.overtaken.message.received_at} /> came later.
						</>
					)}
				</p>
			)}
		</Confirm>
	);
}

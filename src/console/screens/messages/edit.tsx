import { useState } from 'preact/hooks';
import { asFailure, useAnswer } from '../../answers.ts';
import type { ApiFailure } from '../../api.ts';
import { useAct } from '../../components/act.ts';
import { Button } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Difference } from '../../components/difference.tsx';
import { Loading } from '../../components/empty.tsx';
import { Problem } from '../../components/problem.tsx';
import { say } from '../../components/toast.tsx';
import { pageOf } from '../../pages.ts';
import { navigate } from '../../router.ts';
import { saveFile } from '../../save-file.ts';
import { useUnsaved } from '../../unsaved.ts';
import { compareMessage, type MessageContent, type MessageReading, resendMessage, showContent } from './calls.ts';

/** Copies the text of the message, and gives its bytes as a file. */
export function TakeAlong({ message }: { message: MessageReading }) {
	const [busy, act] = useAct();
	const download = async () => {
		const { base64 } = await showContent({ id: message.id });
		const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
		saveFile(`message-${message.id}.${endings[message.reading.format]}`, 'application/octet-stream', bytes);
	};
	return (
		<>
			<Copy text={message.message.join('\n')} />
			<Button icon="download" busy={busy} onClick={() => act(download)}>
				Download
			</Button>
		</>
	);
}

const endings = { hl7v2: 'hl7', xml: 'xml', json: 'txt', text: 'txt' } as const;

/** Lets a person send the message again as it should have been. The original stays. */
export function Edit({ id, onClose }: { id: string; onClose(): void }) {
	const answer = useAnswer((signal) => showContent({ id }, signal), [id]);
	return (
		<Dialog title="Edit and send again" onClose={onClose} size="large">
			{answer.loading && <Loading lines={8} />}
			{answer.failure && <Problem failure={answer.failure} onRetry={answer.reload} />}
			{answer.data && (answer.data.editable ? <Editor content={answer.data} onClose={onClose} /> : <NotEditable onClose={onClose} />)}
		</Dialog>
	);
}

function NotEditable({ onClose }: { onClose(): void }) {
	return (
		<div class="confirm">
			<p class="note warning">
				This message has bytes that its character set cannot show, so it cannot be edited here. Its sender has to correct it.
			</p>
			<div class="actions">
				<Button onClick={onClose}>Close</Button>
			</div>
		</div>
	);
}

function Editor({ content, onClose }: { content: MessageContent; onClose(): void }) {
	const [text, setText] = useState(content.text);
	const [busy, setBusy] = useState(false);
	const [failure, setFailure] = useState<ApiFailure>();
	const isEdited = text !== content.text;
	useUnsaved(isEdited && !busy);
	const send = async () => {
		setBusy(true);
		setFailure(undefined);
		try {
			const { id, outcome, failure: why } = await resendMessage({ id: content.id, content: text });
			if (outcome === 'refused') say(`Refused: ${why ?? ''}`, 'danger');
			else say('The edited message was sent.');
			onClose();
			navigate(pageOf('message', { id }));
		} catch (error) {
			setFailure(asFailure(error));
			setBusy(false);
		}
	};
	return (
		<form
			class="confirm"
			onSubmit={(event) => {
				event.preventDefault();
				if (isEdited && !busy) void send();
			}}
		>
			<p class="muted">
				The edited copy is sent as a new message that names the original. The original stays as it was received, and the audit trail says
				who edited it.
			</p>
			<label class="stacked">
				Message
				<textarea
					class="editor"
					rows={16}
					wrap="off"
					spellcheck={false}
					value={text}
					onInput={(event) => setText(event.currentTarget.value)}
				/>
			</label>
			{failure && <Problem failure={failure} />}
			<div class="actions">
				<Button onClick={onClose} disabled={busy}>
					Cancel
				</Button>
				<Button type="submit" kind="primary" disabled={!isEdited} busy={busy}>
					Send the edited message
				</Button>
			</div>
		</form>
	);
}

/** The lines by which an edited message differs from its original. */
export function Comparison({ id }: { id: string }) {
	const answer = useAnswer((signal) => compareMessage({ id }, signal), [id]);
	if (answer.failure) return <Problem failure={answer.failure} onRetry={answer.reload} />;
	if (answer.data === undefined) return <Loading lines={6} />;
	return (
		<section aria-label="What was edited">
			<p class="lead">
				{answer.data.actor} edited <a href={pageOf('message', { id: answer.data.original })}>the original message</a>.
			</p>
			<Difference lines={answer.data.lines} />
		</section>
	);
}

import { useState } from 'preact/hooks';
import { useAct } from '../../components/act.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { say } from '../../components/toast.tsx';
import { count } from '../../format.ts';
import { setCauseAside, setMessageAside, takeMessageUp } from './calls.ts';

export interface SetAsideProps {
	/** One message, or what waits for a cause. */
	what: { id: string } | { site: string; cause: string };
	title: string;
	onClose(): void;
	onDone(): void;
}

export function SetAside({ what, title, onClose, onDone }: SetAsideProps) {
	const [reason, setReason] = useState('');
	const confirm = async () => {
		const { messages } = await ('id' in what ? setMessageAside({ ...what, reason }) : setCauseAside({ ...what, reason }));
		say(`${count(messages, 'message')} set aside.`);
		onClose();
		onDone();
	};
	return (
		<Confirm title={title} action="Set aside" onConfirm={confirm} onClose={onClose}>
			<p>It no longer counts as waiting, and a replay of its cause leaves it out. It stays in the log, and can be taken up again.</p>
			<label class="stacked">
				Reason
				<textarea rows={3} maxLength={500} required value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
			</label>
		</Confirm>
	);
}

/** Undoes that a message was set aside. */
export function TakeUp({ id, onDone }: { id: string; onDone(): void }) {
	const [busy, act] = useAct();
	const undo = async () => {
		await takeMessageUp({ id });
		say('The message waits again.');
		onDone();
	};
	return (
		<Button busy={busy} onClick={() => act(undo)}>
			Take up again
		</Button>
	);
}

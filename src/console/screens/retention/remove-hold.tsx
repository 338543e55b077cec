import { useState } from 'preact/hooks';
import { Confirm } from '../../components/confirm.tsx';
import { say } from '../../components/toast.tsx';
import { type HoldRecord, removeHold } from './calls.ts';

interface RemoveHoldProps {
	hold: HoldRecord;
	onClose(): void;
	onDone(): void;
}

export function RemoveHold({ hold, onClose, onDone }: RemoveHoldProps) {
	const [reason, setReason] = useState('');
	const confirm = async () => {
		await removeHold({ id: hold.id, reason });
		say('The hold is removed.');
		onDone();
	};
	return (
		<Confirm title="Remove this legal hold?" action="Remove the hold" danger onConfirm={confirm} onClose={onClose}>
			<p>
				It was placed by {hold.placed_by}: “{hold.reason}”. From now on the next run of retention may delete what it kept. The record of the
				hold stays.
			</p>
			<label class="stacked">
				Why it no longer holds
				<textarea rows={3} maxLength={500} required value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
			</label>
		</Confirm>
	);
}

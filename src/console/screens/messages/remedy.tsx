import { useState } from 'preact/hooks';
import { asFailure, useAnswer } from '../../answers.ts';
import type { ApiFailure } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Loading } from '../../components/empty.tsx';
import { Problem } from '../../components/problem.tsx';
import { say } from '../../components/toast.tsx';
import { count } from '../../format.ts';
import { applyRemedy, previewRemedy, type Remedy, type RemedyPreview } from './calls.ts';

export interface RemedyDialogProps {
	id: string;
	remedy: Remedy;
	onClose(): void;
	onApplied(): void;
}

/** Tries a remedy on what waits for the cause before it changes anything. */
export function RemedyDialog({ id, remedy, onClose, onApplied }: RemedyDialogProps) {
	const [value, setValue] = useState('');
	const [busy, setBusy] = useState(false);
	const [failure, setFailure] = useState<ApiFailure>();
	const { asks } = remedy;
	// A remedy that needs a value changes no refused message, so there is nothing to try.
	const trial = useAnswer(asks === null ? (signal) => previewRemedy({ id, remedy: remedy.remedy }, signal) : undefined, [
		id,
		remedy.remedy,
	]);
	const waiting = trial.data?.waiting ?? 0;
	const apply = async (replay: boolean) => {
		setBusy(true);
		setFailure(undefined);
		try {
			const { replay: run } = await applyRemedy({ id, remedy: remedy.remedy, replay, ...(asks === null ? {} : { value }) });
			say(run ? `The setting is changed, and the replay of ${count(run.total, 'message')} has started.` : 'The setting is changed.');
			onClose();
			onApplied();
		} catch (error) {
			setFailure(asFailure(error));
			setBusy(false);
		}
	};
	return (
		<Dialog title={`${remedy.title}?`} onClose={busy ? undefined : onClose}>
			<div class="confirm">
				<div class="prose">
					<p>{remedy.effect}</p>
					<p>It changes {remedy.of === 'site' ? 'the settings of the site' : `the settings of the ${remedy.of} that sent the message`}.</p>
				</div>
				{asks !== null && (
					<label class="stacked">
						{asks}
						<input value={value} onInput={(event) => setValue(event.currentTarget.value)} spellcheck={false} autocomplete="off" />
					</label>
				)}
				{trial.loading && <Loading lines={2} label="Trying the messages" />}
				{trial.failure && <Problem failure={trial.failure} onRetry={trial.reload} />}
				{trial.data && <Trial preview={trial.data} />}
				{failure && <Problem failure={failure} />}
				<div class="actions">
					<Button onClick={onClose} disabled={busy}>
						Cancel
					</Button>
					<Button
						kind={waiting > 0 ? 'plain' : 'primary'}
						busy={busy}
						disabled={asks !== null && value.trim() === ''}
						onClick={() => void apply(false)}
					>
						Change the setting
					</Button>
					{waiting > 0 && (
						<Button kind="primary" icon="replay" busy={busy} onClick={() => void apply(true)}>
							Change it and replay {waiting}
						</Button>
					)}
				</div>
			</div>
		</Dialog>
	);
}

/** Says what would become of the messages of a cause. */
export function Trial({ preview, isNow = false }: { preview: RemedyPreview; isNow?: boolean }) {
	const { waiting, tried, accepted, ignored, known, refused, refused_for: reasons } = preview;
	if (waiting === 0) return <p class="note">No message waits because of this cause any more.</p>;
	const parts = [
		[accepted, 'accepted'],
		[ignored, 'ignored'],
		[known, 'known already'],
		[refused, 'refused again'],
	] as const;
	const told = parts.filter(([amount]) => amount > 0).map(([amount, what]) => `${amount} ${what}`);
	return (
		<div class={`note trial ${refused === tried ? 'warning' : ''}`} role="status">
			<p>
				{count(waiting, 'message')} {waiting === 1 ? 'waits' : 'wait'} for this cause.{' '}
				{tried < waiting && `The oldest ${tried} were tried. `}
				{isNow ? 'As everything is now' : 'With the changed setting'}: <strong>{told.join(', ')}</strong>. Nothing was written.
			</p>
			{reasons.map(({ code, failure, messages }) => (
				<p key={`${code} ${failure}`} class="muted">
					{messages}: {failure}
				</p>
			))}
		</div>
	);
}

/** A replay of what was refused seldom helps before somebody has changed something. */
export function Unchanged() {
	return (
		<p class="note warning">
			Nobody has changed a setting, a client, a patient or a study of the site since the newest message of this cause was refused.
		</p>
	);
}

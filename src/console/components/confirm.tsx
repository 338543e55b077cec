import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { asFailure } from '../answers.ts';
import type { ApiFailure } from '../api.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Problem } from './problem.tsx';

export interface ConfirmProps {
	title: string;
	/** Says what will happen and whether it can be undone. */
	children: ComponentChildren;
	/** The text of the confirming button. */
	action: string;
	/** The user has to type this name to confirm. */
	name?: string;
	danger?: boolean;
	/** Carries out the action and closes the dialog. */
	onConfirm(): Promise<void>;
	onClose(): void;
}

/** Asks for confirmation. If the service refuses, the dialog shows why. */
export function Confirm({ title, children, action, name, danger = false, onConfirm, onClose }: ConfirmProps) {
	const [typed, setTyped] = useState('');
	const [busy, setBusy] = useState(false);
	const [failure, setFailure] = useState<ApiFailure>();
	const field = useId();
	const ready = name === undefined || typed.trim() === name;
	const confirm = async () => {
		setBusy(true);
		setFailure(undefined);
		try {
			await onConfirm();
		} catch (error) {
			setFailure(asFailure(error));
			setBusy(false);
		}
	};
	return (
		<Dialog title={title} onClose={busy ? undefined : onClose} size="small">
			<form
				class="confirm"
				onSubmit={(event) => {
					event.preventDefault();
					if (ready && !busy) void confirm();
				}}
			>
				<div class="prose">{children}</div>
				{name !== undefined && (
					<div class="field">
						<label for={field}>
							Type <code>{name}</code> to confirm
						</label>
						<input
							id={field}
							value={typed}
							onInput={(event) => setTyped(event.currentTarget.value)}
							autocomplete="off"
							spellcheck={false}
						/>
					</div>
				)}
				{failure && <Problem failure={failure} />}
				<div class="actions">
					<Button onClick={onClose} disabled={busy}>
						Cancel
					</Button>
					<Button type="submit" kind={danger ? 'danger' : 'primary'} disabled={!ready} busy={busy}>
						{action}
					</Button>
				</div>
			</form>
		</Dialog>
	);
}

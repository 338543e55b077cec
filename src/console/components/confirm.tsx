import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { asFailure } from '../answers.ts';
import type { ApiFailure } from '../api.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Problem } from './problem.tsx';

export interface ConfirmProps {
	title: string;
	/** What happens, and whether it can be undone. */
	children: ComponentChildren;
	/** The words of the button that does it. */
	action: string;
	/** Has to be typed before it can be done. */
	name?: string;
	danger?: boolean;
	/** Closes the dialog itself when it is done. */
	onConfirm(): Promise<void>;
	onClose(): void;
}

/** Asks before something is done. What the service refuses is said in the dialog. */
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

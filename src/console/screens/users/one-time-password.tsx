import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ShownOnce } from '../../components/to-copy.tsx';

export function OneTimePassword({ made, onClose }: { made: { email: string; password: string }; onClose(): void }) {
	return (
		<Dialog title="One-time password" onClose={onClose} size="small">
			<p class="note warning">This password is shown only once. Pass it on in person or by telephone, not by e-mail.</p>
			<ShownOnce title={made.email} text={made.password}>
				<p class="hint">The user signs in with it once and then has to choose a password.</p>
			</ShownOnce>
			<div class="actions">
				<Button kind="primary" onClick={onClose}>
					Done
				</Button>
			</div>
		</Dialog>
	);
}

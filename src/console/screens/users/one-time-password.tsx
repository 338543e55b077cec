import { useRef } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';

export function OneTimePassword({ made, onClose }: { made: { email: string; password: string }; onClose(): void }) {
	const password = useRef<HTMLPreElement>(null);
	return (
		<Dialog title="One-time password" onClose={onClose} size="small">
			<p class="note warning">This password is shown only once. Pass it on in person or by telephone, not by e-mail.</p>
			<div class="secret">
				<div class="secret-head">
					<h3>{made.email}</h3>
					<Copy text={made.password} from={password} />
				</div>
				<pre ref={password} data-secret>
					{made.password}
				</pre>
				<p class="hint">The user signs in with it once and then has to choose a password.</p>
			</div>
			<div class="actions">
				<Button kind="primary" onClick={onClose}>
					Done
				</Button>
			</div>
		</Dialog>
	);
}

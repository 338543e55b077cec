import { useRef } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';

export function OneTimePassword({ made, onClose }: { made: { email: string; password: string }; onClose(): void }) {
	const password = useRef<HTMLPreElement>(null);
	return (
		<Dialog title="One-time password" onClose={onClose} size="small">
			<p class="note warning">It is shown this once. Hand it over in person or by telephone, not by e-mail.</p>
			<div class="secret">
				<div class="secret-head">
					<h3>{made.email}</h3>
					<Copy text={made.password} from={password} />
				</div>
				<pre ref={password} data-secret>
					{made.password}
				</pre>
				<p class="hint">With it the user signs in once, and has to choose a password then.</p>
			</div>
			<div class="actions">
				<Button kind="primary" onClick={onClose}>
					Done
				</Button>
			</div>
		</Dialog>
	);
}

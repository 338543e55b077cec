import { useAct } from '../../components/act.ts';
import { Button } from '../../components/button.tsx';
import { openInViewer } from './calls.ts';

/** Opens a study in the image viewer of the site, in a window of its own. */
export function ViewerButton({ site, study }: { site: string; study: string }) {
	const [busy, act] = useAct();
	const open = async () => {
		const { url } = await openInViewer({ site, study });
		window.open(url, '_blank', 'noopener,noreferrer');
	};
	return (
		<Button onClick={() => act(open)} busy={busy}>
			Open in viewer
		</Button>
	);
}

import { createStore, useStore } from '../store.ts';
import { Button } from './button.tsx';

interface Toast {
	id: number;
	tone: 'good' | 'danger';
	text: string;
}

const toasts = createStore<readonly Toast[]>([]);
const shownMs = 6000;
let last = 0;

function dismiss(id: number): void {
	toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

/** Shows a notice. Errors stay until they are closed. */
export function say(text: string, tone: Toast['tone'] = 'good'): void {
	const id = ++last;
	toasts.set([...toasts.get().slice(-3), { id, tone, text }]);
	if (tone === 'good') setTimeout(() => dismiss(id), shownMs);
}

const announcement = createStore('');

/** Tells screen readers about new results or a new screen. */
export function announce(text: string): void {
	announcement.set('');
	// Screen readers may miss a region that is set twice within one event.
	setTimeout(() => announcement.set(text), 60);
}

export function Toasts() {
	const shown = useStore(toasts);
	const spoken = useStore(announcement);
	return (
		<>
			<div class="visually-hidden" role="status">
				{spoken}
			</div>
			<div class="toasts" role="log" aria-label="Notices" aria-live="polite">
				{shown.map(({ id, tone, text }) => (
					<div key={id} class={`toast ${tone}`}>
						<p>{text}</p>
						<Button kind="quiet" icon="close" compact onClick={() => dismiss(id)}>
							Dismiss
						</Button>
					</div>
				))}
			</div>
		</>
	);
}

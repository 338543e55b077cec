import { pageOf } from '../../pages.ts';
import type { Explanation } from './calls.ts';

/** The newer and the older message that wait for the same cause; `k` and `j` lead there. */
export function Neighbours({ cause }: { cause: Explanation['cause'] }) {
	if (cause === null || (cause.previous === null && cause.next === null)) return null;
	return (
		<nav class="neighbours" aria-label="Messages that wait for this cause">
			<Step to={cause.previous} step="previous" />
			<Step to={cause.next} step="next" />
		</nav>
	);
}

const words = { previous: ['Newer', 'k'], next: ['Older', 'j'] } as const;

function Step({ to, step }: { to: string | null; step: 'previous' | 'next' }) {
	const [word, key] = words[step];
	if (to === null) return <span class="button plain none">{word}: none</span>;
	return (
		<a
			class="button plain"
			href={pageOf('message', { id: to })}
			data-step={step}
			title={`the message that waits for the same cause (${key})`}
		>
			{word}
		</a>
	);
}

import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'warning' | 'danger' | 'info' | 'neutral';

/** A state in one word. The colour only repeats it. */
export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ComponentChildren }) {
	return <span class={`badge ${tone}`}>{children}</span>;
}

export function Activity({ active }: { active: boolean }) {
	return <Badge tone={active ? 'good' : 'neutral'}>{active ? 'Active' : 'Disabled'}</Badge>;
}

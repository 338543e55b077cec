import type { ComponentChildren } from 'preact';
import { Mark } from '../../components/icon.tsx';

/** A page of its own, shown before the user may see anything else. */
export function Gate({ title, foot, children }: { title: string; foot?: string; children: ComponentChildren }) {
	return (
		<main class="gate">
			<div class="gate-card">
				<div class="gate-brand">
					<Mark />
					<span>Tributary</span>
				</div>
				<h1>{title}</h1>
				{children}
			</div>
			{foot && <p class="gate-foot">{foot}</p>}
		</main>
	);
}

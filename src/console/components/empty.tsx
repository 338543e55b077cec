import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { Button } from './button.tsx';
import { HeadingLevel } from './heading.ts';
import { Icon, type IconName } from './icon.tsx';

/** Stands for an empty list: says why it is empty and what to do. */
export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
	const Heading = useContext(HeadingLevel) === 2 ? 'h2' : 'h3';
	return (
		<div class="empty">
			<Icon name={icon} />
			<Heading>{title}</Heading>
			{children}
		</div>
	);
}

interface EmptyListProps {
	icon: IconName;
	/** The title while no filter narrows the list. */
	title: string;
	/** The title while filters narrow it. */
	filtered: string;
	/** Shows all rows again; undefined while no filter narrows the list. */
	clear: (() => void) | undefined;
	/** The label of the button that does so. */
	action?: string;
	/** Says where rows come from. */
	children?: ComponentChildren;
}

/** Stands for an empty list with filters: leads back to all rows, or says where rows come from. */
export function EmptyList({ icon, title, filtered, clear, action = 'Show all', children }: EmptyListProps) {
	return (
		<Empty icon={icon} title={clear === undefined ? title : filtered}>
			{clear === undefined ? children : <Button onClick={clear}>{action}</Button>}
		</Empty>
	);
}

/** Placeholder lines while data is loading. */
export function Loading({ lines = 4, label = 'Loading' }: { lines?: number; label?: string }) {
	return (
		<div class="loading" role="status">
			<span class="visually-hidden">{label}…</span>
			{Array.from({ length: lines }, (_, line) => (
				<span key={line} class="bone" />
			))}
		</div>
	);
}

/** The progress of long work. */
export function Progress({ label, done, total }: { label: string; done: number; total: number }) {
	return (
		<div class="progress">
			<div class="progress-label">
				<span>{label}</span>
				<span class="number">
					{done} of {total}
				</span>
			</div>
			<progress aria-label={label} value={done} max={Math.max(1, total)} />
		</div>
	);
}

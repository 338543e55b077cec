import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

export interface Tab {
	name: string;
	title: ComponentChildren;
	content: () => ComponentChildren;
}

/** ARIA tabs. Arrows, Home and End move between them, and only the chosen tab is in the tab order. */
export function Tabs({
	tabs,
	chosen,
	onChoose,
	label,
}: {
	tabs: readonly Tab[];
	chosen: string;
	onChoose(name: string): void;
	label: string;
}) {
	const id = useId();
	const list = useRef<HTMLDivElement>(null);
	const current = tabs.find(({ name }) => name === chosen) ?? tabs[0];
	const go = (index: number) => {
		const next = tabs[(index + tabs.length) % tabs.length];
		if (next === undefined) return;
		onChoose(next.name);
		list.current?.querySelector<HTMLElement>(`[data-tab="${next.name}"]`)?.focus();
	};
	const onKeyDown = (event: KeyboardEvent, index: number) => {
		const target = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 }[event.key];
		if (target === undefined) return;
		event.preventDefault();
		go(target);
	};
	return (
		<div class="tabs">
			<div class="tab-list" role="tablist" aria-label={label} ref={list}>
				{tabs.map(({ name, title }, index) => (
					<button
						key={name}
						type="button"
						role="tab"
						id={`${id}-${name}`}
						data-tab={name}
						aria-selected={name === current?.name}
						aria-controls={`${id}-panel`}
						tabIndex={name === current?.name ? 0 : -1}
						onClick={() => onChoose(name)}
						onKeyDown={(event) => onKeyDown(event, index)}
					>
						{title}
					</button>
				))}
			</div>
			<div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current?.name}`}>
				{current?.content()}
			</div>
		</div>
	);
}

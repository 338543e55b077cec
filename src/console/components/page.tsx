import type { ComponentChildren } from 'preact';
import { goUp } from '../router.ts';
import { HeadingLevel } from './heading.ts';
import { Icon } from './icon.tsx';

export interface PageProps {
	title: string;
	/** The screen above this one. */
	up?: { href: string; title: string };
	/** Badges next to the title. */
	marks?: ComponentChildren;
	/** One sentence about the purpose of the screen. */
	lead?: ComponentChildren;
	actions?: ComponentChildren;
	children: ComponentChildren;
}

/** A screen with its heading, which takes the focus when the user goes to the screen. */
export function Page({ title, up, marks, lead, actions, children }: PageProps) {
	return (
		<>
			<header class="page-head">
				{up && (
					<a class="up" href={up.href} onClick={(event) => goUp(event, up.href)}>
						<Icon name="back" />
						{up.title}
					</a>
				)}
				<div class="page-title">
					<h1 tabIndex={-1}>{title}</h1>
					{marks}
				</div>
				{actions && <div class="page-actions">{actions}</div>}
				{lead && <p class="lead">{lead}</p>}
			</header>
			{children}
		</>
	);
}

/** A framed part of a screen. */
export function Panel({ title, actions, children }: { title: string; actions?: ComponentChildren; children: ComponentChildren }) {
	return (
		<section class="panel" aria-label={title}>
			<header class="panel-head">
				<h2>{title}</h2>
				{actions && <div class="panel-actions">{actions}</div>}
			</header>
			<div class="panel-body">
				<HeadingLevel.Provider value={3}>{children}</HeadingLevel.Provider>
			</div>
		</section>
	);
}

/** Names and values, such as the settings of one thing. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
	return (
		<dl class="facts">
			{facts.map(([name, value]) => (
				<div key={name}>
					<dt>{name}</dt>
					<dd>{value === null || value === '' ? <span class="muted">–</span> : value}</dd>
				</div>
			))}
		</dl>
	);
}

import type { ComponentType } from 'preact';
import type { Role } from '#core/role.ts';
import type { IconName } from './components/icon.tsx';

/** The properties of a screen: the members in its path. */
export interface ScreenProps {
	parameters: Readonly<Record<string, string>>;
}

export interface Screen {
	/** `/sites/:slug` */
	path: string;
	/** Shown in the navigation and in the window title. */
	title: string;
	/** The lowest role that sees it. */
	role: Role;
	component: ComponentType<ScreenProps>;
	/** The group in the navigation. A screen without one is reached from another screen. */
	group?: Group;
	icon?: IconName;
	/** The shortcut letter after `g`. */
	key?: string;
	/** Its lists follow the site that is chosen in the top bar. */
	bySite?: boolean;
}

export const groups = ['Now', 'Traffic', 'Records', 'Access', 'Oversight'] as const;
export type Group = (typeof groups)[number];

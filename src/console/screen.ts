import type { ComponentType } from 'preact';
import type { Role } from '#core/role.ts';
import type { IconName } from './components/icon.tsx';

/** What a screen is given: the members that its path names. */
export interface ScreenProps {
	parameters: Readonly<Record<string, string>>;
}

export interface Screen {
	/** `/sites/:slug` */
	path: string;
	/** In the navigation and in the title of the window. */
	title: string;
	/** The least role that sees it. */
	role: Role;
	component: ComponentType<ScreenProps>;
	/** The part of the navigation where it stands; without one it is reached from another screen. */
	group?: Group;
	icon?: IconName;
	/** After `g`. */
	key?: string;
	/** Its lists follow the site that the user has chosen in the head of the page. */
	bySite?: boolean;
}

export const groups = ['Now', 'Traffic', 'Records', 'Access', 'Oversight'] as const;
export type Group = (typeof groups)[number];

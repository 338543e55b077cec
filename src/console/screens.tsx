import type { ComponentType } from 'preact';
import type { Role } from '#core/role.ts';
import type { IconName } from './components/icon.tsx';
import { Audit } from './screens/audit/audit.tsx';
import { Client } from './screens/clients/client.tsx';
import { Clients } from './screens/clients/clients.tsx';
import { Keys } from './screens/keys/keys.tsx';
import { Overview } from './screens/overview/overview.tsx';
import { RemoteAes } from './screens/remote-aes/remote-aes.tsx';
import { Site } from './screens/sites/site.tsx';
import { Sites } from './screens/sites/sites.tsx';
import { User } from './screens/users/user.tsx';
import { Users } from './screens/users/users.tsx';

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

/** Every screen of the console; the first whose path fits is shown. */
export const screens: readonly Screen[] = [
	{ path: '/', title: 'Overview', role: 'auditor', component: Overview, group: 'Now', icon: 'overview', key: 'o' },
	{ path: '/sites', title: 'Sites', role: 'auditor', component: Sites, group: 'Access', icon: 'sites', key: 's' },
	{ path: '/sites/:slug', title: 'Site', role: 'auditor', component: Site },
	{
		path: '/clients',
		title: 'Integration clients',
		role: 'auditor',
		component: Clients,
		group: 'Access',
		icon: 'clients',
		key: 'c',
		bySite: true,
	},
	{ path: '/clients/:id', title: 'Integration client', role: 'auditor', component: Client },
	{ path: '/keys', title: 'API keys', role: 'auditor', component: Keys, group: 'Access', icon: 'keys', key: 'k', bySite: true },
	{
		path: '/remote-aes',
		title: 'Remote AEs',
		role: 'auditor',
		component: RemoteAes,
		group: 'Access',
		icon: 'remotes',
		key: 'r',
		bySite: true,
	},
	{ path: '/users', title: 'Users', role: 'administrator', component: Users, group: 'Oversight', icon: 'users', key: 'u' },
	{ path: '/users/:email', title: 'User', role: 'administrator', component: User },
	{ path: '/audit', title: 'Audit', role: 'auditor', component: Audit, group: 'Oversight', icon: 'audit', key: 'a', bySite: true },
];

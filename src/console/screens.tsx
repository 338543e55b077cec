import { lazyScreen } from './lazy.tsx';
import { pages } from './pages.ts';
import type { Screen } from './screen.ts';
import { NetworkAlerts } from './screens/alerts/alerts.tsx';
import { Associations } from './screens/associations/associations.tsx';
import { Audit } from './screens/audit/audit.tsx';
import { Job } from './screens/bulk/job.tsx';
import { Jobs } from './screens/bulk/jobs.tsx';
import { Client } from './screens/clients/client.tsx';
import { Clients } from './screens/clients/clients.tsx';
import { Commitments } from './screens/commitments/commitments.tsx';
import { Conflict } from './screens/conflicts/conflict.tsx';
import { Conflicts } from './screens/conflicts/conflicts.tsx';
import { Failures } from './screens/failures/failures.tsx';
import { SetAsideMessages } from './screens/failures/set-aside.tsx';
import { Feed } from './screens/feeds/feed.tsx';
import { Feeds } from './screens/feeds/feeds.tsx';
import { FirstSteps } from './screens/first-steps/first-steps.tsx';
import { Identity } from './screens/identity/identity.tsx';
import { Merge } from './screens/identity/merge.tsx';
import { Issuers } from './screens/issuers/issuers.tsx';
import { Keys } from './screens/keys/keys.tsx';
import { MessageContentSearch } from './screens/messages/content.tsx';
import { Message } from './screens/messages/message.tsx';
import { Messages } from './screens/messages/messages.tsx';
import { Notification } from './screens/notifications/notification.tsx';
import { Notifications } from './screens/notifications/notifications.tsx';
import { Overview } from './screens/overview/overview.tsx';
import { Patient } from './screens/patients/patient.tsx';
import { Patients } from './screens/patients/patients.tsx';
import { Profiles } from './screens/profiles/profiles.tsx';
import { RemoteAes } from './screens/remote-aes/remote-aes.tsx';
import { Report } from './screens/reports/report.tsx';
import { Reports } from './screens/reports/reports.tsx';
import { Resource } from './screens/resources/resource.tsx';
import { Retention } from './screens/retention/retention.tsx';
import { SignInGroups } from './screens/sign-in-groups/groups.tsx';
import { Site } from './screens/sites/site.tsx';
import { Sites } from './screens/sites/sites.tsx';
import { Step } from './screens/steps/step.tsx';
import { Steps } from './screens/steps/steps.tsx';
import { Instance } from './screens/studies/instance.tsx';
import { Studies } from './screens/studies/studies.tsx';
import { Study } from './screens/studies/study.tsx';
import { Unmatched } from './screens/unmatched/unmatched.tsx';
import { UnmatchedList } from './screens/unmatched/unmatched-list.tsx';
import { User } from './screens/users/user.tsx';
import { Users } from './screens/users/users.tsx';

/** Every screen of the console. The first whose path matches is shown. */
export const screens: readonly Screen[] = [
	{ path: '/', title: 'Feeds', role: 'auditor', component: Feeds, group: 'Now', icon: 'remotes', key: 'h', bySite: true },
	{ path: pages.feed, title: 'Feed', role: 'auditor', component: Feed },
	{ path: '/overview', title: 'Overview', role: 'auditor', component: Overview, group: 'Now', icon: 'overview', key: 'o' },
	{ path: '/alerts', title: 'Alerts', role: 'auditor', component: NetworkAlerts, group: 'Now', icon: 'failures', bySite: true },
	{
		path: '/messages',
		title: 'Messages',
		role: 'auditor',
		component: Messages,
		group: 'Traffic',
		icon: 'messages',
		key: 'm',
		bySite: true,
	},
	{ path: '/unmatched', title: 'Unmatched traffic', role: 'auditor', component: UnmatchedList, bySite: true },
	{ path: pages.unmatched, title: 'Unmatched message', role: 'auditor', component: Unmatched },
	{ path: '/messages/content', title: 'Search in messages', role: 'auditor', component: MessageContentSearch, bySite: true },
	{ path: pages.message, title: 'Message', role: 'auditor', component: Message },
	{
		path: '/failures',
		title: 'Failures',
		role: 'auditor',
		component: Failures,
		group: 'Traffic',
		icon: 'failures',
		key: 'f',
		bySite: true,
	},
	{ path: '/set-aside', title: 'Set aside', role: 'auditor', component: SetAsideMessages, bySite: true },
	{
		path: '/associations',
		title: 'Associations',
		role: 'auditor',
		component: Associations,
		group: 'Traffic',
		icon: 'remotes',
		key: 'n',
		bySite: true,
	},
	{
		path: '/commitments',
		title: 'Commitments',
		role: 'auditor',
		component: Commitments,
		group: 'Traffic',
		icon: 'commitments',
		bySite: true,
	},
	{
		path: '/exports',
		title: 'Exports and imports',
		role: 'auditor',
		component: Jobs,
		group: 'Traffic',
		icon: 'download',
		bySite: true,
	},
	{ path: pages.job, title: 'Export or import', role: 'auditor', component: Job },
	{
		path: '/conflicts',
		title: 'Conflicts',
		role: 'auditor',
		component: Conflicts,
		group: 'Traffic',
		icon: 'conflicts',
		key: 'x',
		bySite: true,
	},
	{ path: pages.conflict, title: 'Conflict', role: 'auditor', component: Conflict },
	{
		path: '/patients',
		title: 'Patients',
		role: 'auditor',
		component: Patients,
		group: 'Records',
		icon: 'patients',
		key: 'p',
		bySite: true,
	},
	{ path: pages.patient, title: 'Patient', role: 'auditor', component: Patient },
	{ path: '/studies', title: 'Studies', role: 'auditor', component: Studies, group: 'Records', icon: 'studies', key: 'd', bySite: true },
	{ path: pages.study, title: 'Study', role: 'auditor', component: Study },
	{
		path: '/steps',
		title: 'Procedure steps',
		role: 'auditor',
		component: Steps,
		group: 'Records',
		icon: 'steps',
		bySite: true,
	},
	{ path: pages.step, title: 'Procedure step', role: 'auditor', component: Step },
	{ path: pages.instance, title: 'Instance', role: 'auditor', component: Instance },
	{
		path: pages.series,
		title: 'Images',
		role: 'auditor',
		component: lazyScreen('Images', () => import('./images/series-viewer.tsx')),
	},
	{ path: pages.resource, title: 'Resource', role: 'auditor', component: Resource },
	{ path: '/reports', title: 'Reports', role: 'auditor', component: Reports, group: 'Records', icon: 'reports', key: 't', bySite: true },
	{ path: pages.report, title: 'Report', role: 'auditor', component: Report, bySite: true },
	{
		path: '/identity',
		title: 'Identity',
		role: 'auditor',
		component: Identity,
		group: 'Records',
		icon: 'identity',
		key: 'i',
		bySite: true,
	},
	{ path: pages.merge, title: 'Merge patients', role: 'manager', component: Merge },
	{ path: pages.mergeWith, title: 'Merge patients', role: 'manager', component: Merge },
	{ path: '/first-steps', title: 'First steps', role: 'administrator', component: FirstSteps },
	{ path: '/sites', title: 'Sites', role: 'auditor', component: Sites, group: 'Access', icon: 'sites', key: 's' },
	{ path: pages.site, title: 'Site', role: 'auditor', component: Site },
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
	{ path: pages.client, title: 'Integration client', role: 'auditor', component: Client },
	{ path: '/keys', title: 'API keys', role: 'auditor', component: Keys, group: 'Access', icon: 'keys', key: 'k', bySite: true },
	{
		path: '/issuers',
		title: 'Token issuers',
		role: 'auditor',
		component: Issuers,
		group: 'Access',
		icon: 'keys',
		key: 'e',
		bySite: true,
	},
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
	{
		path: '/profiles',
		title: 'Profiles',
		role: 'auditor',
		component: Profiles,
		group: 'Access',
		icon: 'profiles',
		key: 'l',
		bySite: true,
	},
	{ path: '/users', title: 'Users', role: 'administrator', component: Users, group: 'Oversight', icon: 'users', key: 'u' },
	{ path: pages.user, title: 'User', role: 'administrator', component: User },
	{ path: '/sign-in-groups', title: 'Sign-in groups', role: 'administrator', component: SignInGroups, group: 'Oversight', icon: 'keys' },
	{
		path: '/notifications',
		title: 'Notifications',
		role: 'auditor',
		component: Notifications,
		group: 'Oversight',
		icon: 'messages',
		bySite: true,
	},
	{ path: pages.notification, title: 'Notification', role: 'auditor', component: Notification },
	{
		path: '/retention',
		title: 'Retention',
		role: 'auditor',
		component: Retention,
		group: 'Oversight',
		icon: 'retention',
		bySite: true,
	},
	{ path: '/audit', title: 'Audit', role: 'auditor', component: Audit, group: 'Oversight', icon: 'audit', key: 'a', bySite: true },
];

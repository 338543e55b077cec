import type { Page } from 'playwright-core';
import { addClient, listClients } from '#administration/clients.ts';
import { wholeNetwork } from '#administration/context.ts';
import { addIssuer } from '#administration/issuers.ts';
import { createKey, revokeKey } from '#administration/keys.ts';
import { addNotification } from '#administration/notifications.ts';
import { addProfiles } from '#administration/profiles.ts';
import { addRemoteAe } from '#administration/remote-aes.ts';
import { addSite, enableSite, setSite } from '#administration/sites.ts';
import { addUser } from '#administration/users.ts';
import { settled } from './browser.ts';
import { squareShown } from './console-images.ts';
import { fhirPackage } from './fhir-package.ts';
import type { TestService } from './service.ts';

/** A network that does not exist, for looking at: names, addresses of documentation, nobody's data. */
export async function inventNetwork({ administration }: TestService): Promise<void> {
	const context = { ...administration, actor: { ...administration.actor, name: 'ann.weiss@example.org' }, source: '192.0.2.77' };
	await addUser(context, { email: 'ann.weiss@example.org', admin: true });
	await addSite(context, { slug: 'north', name: 'North Hospital', ae_title: 'NORTH', default_authority: 'urn:oid:2.999.1' });
	await addSite(context, { slug: 'harbour', name: 'Harbour Imaging Centre', ae_title: 'HARBOUR', default_authority: 'urn:oid:2.999.2' });
	await addSite(context, { slug: 'valley', name: 'Valley Clinic', ae_title: 'VALLEY' });
	await setSite(context, { slug: 'harbour', instance_policy: 'refuse', check_references: false });
	await addUser(context, { email: 'ben.ode@example.org', role: 'manager', sites: ['north', 'harbour'] });
	await addUser(context, { email: 'audit@example.org', role: 'auditor', all_sites: true });
	const clients = [
		{ name: 'Admission', site: 'north', allowed_ips: ['192.0.2.10', '192.0.2.11'], sending_application: 'ADT', sending_facility: 'NORTH' },
		{ name: 'Laboratory', site: 'north', allowed_ips: ['198.51.100.0/24'], sending_application: 'LAB', also: ['A03'], ignore: ['A60'] },
		{ name: 'Reception', site: 'valley', allowed_ips: ['203.0.113.5'] },
	];
	for (const client of clients) await addClient(context, { protocols: ['hl7-mllp'], ...client });
	const scanner = { protocols: ['dicom' as const], allowed_ips: ['192.0.2.40'], calling_ae: 'CT01', grants: ['query' as const] };
	await addClient(context, { name: 'CT scanner', site: 'harbour', ...scanner });
	for (const [site, label] of [
		['north', 'Viewer of the emergency department'],
		['north', 'Patient portal'],
		['harbour', 'Research export'],
	] as const) {
		await createKey(context, { site, owner: 'ann.weiss@example.org', label });
	}
	const old = await createKey(context, { site: 'valley', owner: 'ann.weiss@example.org', label: 'Old reporting system' });
	await revokeKey(context, old.id);
	await addIssuer(context, {
		...{ site: 'north', owner: 'ann.weiss@example.org', label: 'Hospital sign-on', clients: ['research-export', 'registry'] },
		...{ issuer: 'https://login.example.org/realms/north', audience: 'https://tributary.example.org/fhir' },
	});
	await addProfiles(context, { site: 'north', file: sampleProfiles().toString('base64') });
	await addRemoteAe(context, { site: 'north', title: 'ARCHIVE', host: 'archive.example.org', port: 104, tls: false });
	await addRemoteAe(context, { site: 'harbour', title: 'READING1', host: '192.0.2.60', port: 11_112, tls: true });
	for (const [site, to] of [
		['north', 'it@north.example.org'],
		['harbour', 'reading@harbour.example.org'],
	] as const)
		await addNotification(context, { site, by: 'email', to, network: false, alerts: [], severities: ['critical', 'warning'], sites: [] });
	await enableSite(context, 'valley', false);
}

/** A package of two definitions, and of a file that cannot be used. */
export function sampleProfiles(): Buffer {
	const wards = { resourceType: 'ValueSet', url: 'https://example.org/fhir/ValueSet/wards', name: 'Wards', status: 'active' };
	return fhirPackage({
		'package/ValueSet-wards.json': { ...wards, compose: { include: [{ system: 'https://example.org/wards', concept: [{ code: 'N1' }] }] } },
		'package/StructureDefinition-ward-patient.json': {
			resourceType: 'StructureDefinition',
			url: 'https://example.org/fhir/StructureDefinition/ward-patient',
			name: 'WardPatient',
			type: 'Patient',
			kind: 'resource',
			status: 'active',
			abstract: false,
			derivation: 'constraint',
			fhirVersion: '4.0.1',
			baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
			differential: { element: [{ id: 'Patient.name', path: 'Patient.name', min: 1 }] },
		},
	});
}

export interface SampleScreen {
	name: string;
	path: string;
	heading: string;
	/** Opens what is looked at. */
	open?(page: Page): Promise<void>;
}

const press = (button: string) => (page: Page) => page.getByRole('button', { name: button }).first().click();

async function firstRow(page: Page): Promise<void> {
	await page.locator('main [data-row-link]').first().click();
	await page.locator('.up').waitFor();
	await settled(page);
}

/** The screens of settings and oversight, with something to see. */
export async function settingScreens({ administration }: TestService): Promise<SampleScreen[]> {
	const clients = await listClients({ ...administration, ...wholeNetwork('test') });
	const admission = clients.find(({ name }) => name === 'Admission');
	return [
		{ name: 'feeds', path: '/', heading: 'Feeds' },
		{ name: 'feed', path: '/?site=north', heading: 'Feeds', open: firstRow },
		{ name: 'overview', path: '/overview', heading: 'Overview' },
		{ name: 'notifications', path: '/notifications', heading: 'Notifications' },
		{ name: 'notification-new', path: '/notifications', heading: 'Notifications', open: press('New notification') },
		{ name: 'notification', path: '/notifications', heading: 'Notifications', open: firstRow },
		{ name: 'sites', path: '/sites', heading: 'Sites' },
		{ name: 'site', path: '/sites/north', heading: 'North Hospital' },
		{ name: 'site-new', path: '/sites', heading: 'Sites', open: press('New site') },
		{ name: 'site-disable', path: '/sites/north', heading: 'North Hospital', open: press('Disable…') },
		{ name: 'first-steps', path: '/first-steps?site=north', heading: 'First steps' },
		{ name: 'keys', path: '/keys', heading: 'API keys' },
		{ name: 'key-new', path: '/keys', heading: 'API keys', open: press('New key') },
		{ name: 'issuers', path: '/issuers', heading: 'Token issuers' },
		{ name: 'issuer-new', path: '/issuers', heading: 'Token issuers', open: press('New issuer') },
		{ name: 'profiles', path: '/profiles?site=north', heading: 'Profiles' },
		{ name: 'profiles-load', path: '/profiles', heading: 'Profiles', open: press('Load profiles') },
		{ name: 'profile-remove', path: '/profiles', heading: 'Profiles', open: press('Remove…') },
		{ name: 'clients', path: '/clients', heading: 'Integration clients' },
		{ name: 'client', path: `/clients/${admission?.id}`, heading: 'Admission' },
		{ name: 'client-new', path: '/clients', heading: 'Integration clients', open: press('New client') },
		{ name: 'remote-aes', path: '/remote-aes', heading: 'Remote AEs' },
		{ name: 'users', path: '/users', heading: 'Users' },
		{ name: 'sign-in-groups', path: '/sign-in-groups', heading: 'Sign-in groups', open: press('New group') },
		{ name: 'user', path: '/users/ben.ode%40example.org', heading: 'ben.ode@example.org' },
		{ name: 'audit', path: '/audit', heading: 'Audit' },
		{
			name: 'audit-event',
			path: '/audit',
			heading: 'Audit',
			open: (page) =>
				page
					.getByRole('row', { name: /site\.set/ })
					.last()
					.getByRole('button')
					.click(),
		},
		{ name: 'shortcuts', path: '/overview', heading: 'Overview', open: (page) => page.keyboard.press('?') },
		{
			name: 'retention',
			path: '/retention',
			heading: 'Retention',
			open: async (page) => {
				await press('Count what would be removed now')(page);
				await page.getByText(/^The next run would remove/).waitFor();
			},
		},
		{ name: 'holds', path: '/retention?tab=holds', heading: 'Retention' },
		{ name: 'hold-new', path: '/retention?tab=holds', heading: 'Retention', open: press('Place a hold') },
		{ name: 'hold-remove', path: '/retention?tab=holds', heading: 'Retention', open: press('Remove…') },
		{ name: 'retention-runs', path: '/retention?tab=runs', heading: 'Retention' },
		{ name: 'deleted-studies', path: '/retention?tab=deleted', heading: 'Retention' },
		{ name: 'alerts', path: '/alerts', heading: 'Alerts' },
		{ name: 'nowhere', path: '/nowhere', heading: 'Not found' },
	];
}

/** The screens of traffic and records, with something to see. */
export function recordScreens(): SampleScreen[] {
	const opened =
		(text: string, further: (page: Page) => Promise<void> = async () => {}) =>
		async (page: Page) => {
			await page.getByRole('searchbox').fill(text);
			await page.keyboard.press('Enter');
			await page.getByRole('link', { name: text }).first().click();
			await page.locator('.up').waitFor();
			await settled(page);
			await further(page);
		};
	const tab = (name: string) => async (page: Page) => {
		await page.getByRole('tab', { name }).click();
		await settled(page);
	};
	return [
		{ name: 'messages', path: '/messages?site=north', heading: 'Messages' },
		{ name: 'message', path: '/messages?site=north', heading: 'Messages', open: firstRow },
		{
			name: 'message-content',
			path: '/messages/content?site=north',
			heading: 'Search in messages',
			open: async (page) => {
				await page.getByLabel('Field and text').fill('PID-5~^oka');
				await press('Search')(page);
				await page.getByRole('row').nth(1).waitFor();
			},
		},
		{ name: 'unmatched', path: '/unmatched', heading: 'Unmatched traffic' },
		{ name: 'failures', path: '/failures?site=north', heading: 'Failures' },
		{ name: 'set-aside', path: '/set-aside?site=north', heading: 'Set aside' },
		{ name: 'associations', path: '/associations?site=north', heading: 'Associations' },
		{
			name: 'association',
			path: '/associations?site=north',
			heading: 'Associations',
			open: (page) => page.locator('main [data-row-link]').first().click(),
		},
		{ name: 'steps', path: '/steps?site=north', heading: 'Procedure steps' },
		{ name: 'commitments', path: '/commitments', heading: 'Storage commitment' },
		{ name: 'exports', path: '/exports', heading: 'Exports and imports' },
		{ name: 'conflicts', path: '/conflicts?site=north', heading: 'Conflicts' },
		{ name: 'conflict', path: '/conflicts?site=north', heading: 'Conflicts', open: firstRow },
		{ name: 'patients', path: '/patients?site=north', heading: 'Patients' },
		{ name: 'patient', path: '/patients?site=north', heading: 'Patients', open: opened('Okafor') },
		{
			name: 'patient-chart',
			path: '/patients?site=north',
			heading: 'Patients',
			open: opened('Okafor', async (page) => {
				await page.getByRole('button', { name: 'Hemoglobin' }).click();
				await page.getByLabel('Compare with').selectOption({ label: 'Potassium' });
				await page.locator('.trend canvas').waitFor();
				await settled(page);
				await page.locator('.trend').scrollIntoViewIfNeeded();
			}),
		},
		{
			name: 'resource',
			path: '/patients?site=north',
			heading: 'Patients',
			open: opened('Okafor', async (page) => {
				await page.getByRole('link', { name: 'JSON', exact: true }).click();
				await page.getByRole('region', { name: /^JSON of version/ }).waitFor();
			}),
		},
		{ name: 'patient-timeline', path: '/patients?site=north', heading: 'Patients', open: opened('Okafor', tab('Timeline')) },
		{ name: 'patient-readers', path: '/patients?site=north', heading: 'Patients', open: opened('Okafor', tab('Who read it')) },
		{ name: 'studies', path: '/studies?site=north', heading: 'Studies' },
		{ name: 'study', path: '/studies?site=north', heading: 'Studies', open: firstRow },
		{
			name: 'images',
			path: '/studies?site=north',
			heading: 'Studies',
			open: async (page) => {
				await firstRow(page);
				await page.getByRole('link', { name: 'View', exact: true }).first().click();
				await page.locator('.image-canvas').waitFor();
				for (let slice = 1; slice < 6; slice++) await page.keyboard.press('ArrowDown');
				await page.getByText(/^6 \/ \d+$/).waitFor();
				await squareShown(page, 'the slice');
				await settled(page);
			},
		},
		{ name: 'reports', path: '/reports?site=north', heading: 'Reports' },
		{ name: 'report', path: '/reports?site=north', heading: 'Reports', open: firstRow },
		{ name: 'identity', path: '/identity?site=north', heading: 'Identity' },
		{
			name: 'authorities',
			path: '/identity?site=north',
			heading: 'Identity',
			open: async (page) => {
				await page.getByRole('tab', { name: 'Authorities' }).click();
				await press('Join two names')(page);
			},
		},
	];
}

/** Every screen, with something to see. */
export async function sampleScreens(service: TestService): Promise<SampleScreen[]> {
	return [...(await settingScreens(service)), ...recordScreens()];
}

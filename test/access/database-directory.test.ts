import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type DatabaseDirectory, openDirectory } from '#access/database-directory.ts';
import type { KeyGrant } from '#access/directory.ts';
import { removeClient, setClient } from '#administration/clients.ts';
import { createKey, revokeKey, setKey } from '#administration/keys.ts';
import { addRemoteAe, removeRemoteAe } from '#administration/remote-aes.ts';
import { addSite, enableSite, setSite } from '#administration/sites.ts';
import { addUser, enableUser } from '#administration/users.ts';
import { newId } from '#core/id.ts';
import { silentLog } from '#core/log.ts';
import { type TestAdministration, testAdministration } from '#test/support/administration.ts';
import { doorTo } from '#test/support/door.ts';
import { administer } from '#test/support/template.ts';
import { createMetrics } from '../../src/metrics.ts';

async function withDirectory(
	work: (directory: DatabaseDirectory, administration: TestAdministration, clock: { nowMs(): number; ahead: number }) => Promise<void>,
	allowAnySource = false,
): Promise<void> {
	await using administration = await testAdministration({ allowAnySource: true });
	await addSite(administration.context, { slug: 'west', name: 'West', default_authority: 'urn:oid:1.2.3' });
	await addUser(administration.context, { email: 'owner@example.org', admin: false, sites: ['west'] });
	const clock = { ahead: 0, nowMs: () => Date.now() + clock.ahead };
	const metrics = createMetrics({ processMetrics: false });
	const door = doorTo(administration.url);
	const directory = await openDirectory({ database: door.access, allowAnySource, staleMsMax, log: silentLog, metrics, clock });
	try {
		await work(directory, administration, clock);
	} finally {
		await directory.close();
		await door.close();
	}
}

const staleMsMax = 3_600_000;

/** The grant of a key that is valid. */
function granted(directory: DatabaseDirectory, key: string): KeyGrant {
	const grant = directory.grantOfKey(key);
	assert.ok(grant !== undefined && grant !== 'unavailable');
	return grant;
}

/** The directory polls; the test goes on when it has seen the change. */
async function until(condition: () => boolean, what: string): Promise<void> {
	for (let tries = 0; tries < 400; tries++) {
		if (condition()) return;
		await pause(25);
	}
	assert.fail(`${what}: not seen within ten seconds`);
}

const newKey = ({ context }: TestAdministration) => createKey(context, { site: 'west', owner: 'owner@example.org', label: '' });

describe('the access directory', () => {
	test('grants a key its site, and takes a new key without being opened again', () =>
		withDirectory(async (directory, administration) => {
			const { key, id } = await newKey(administration);
			await until(() => directory.grantOfKey(key) !== undefined, 'the new key');
			const [site] = await administration.rows<{ id: string }>('select id from site');
			assert.deepEqual(directory.grantOfKey(key), {
				keyId: id,
				siteId: site?.id,
				siteSlug: 'west',
				settings: { default_authority: 'urn:oid:1.2.3' },
			});
			const { key: other } = await newKey(administration);
			await until(() => directory.grantOfKey(other) !== undefined, 'the other key');
			// The id of the one with the secret of the other.
			assert.equal(directory.grantOfKey(`${key.slice(0, 17)}${other.slice(17)}`), undefined);
			assert.equal(directory.grantOfKey(undefined), undefined);
			assert.equal(directory.grantOfKey(`${key} `), undefined);
		}));

	test('gives each sender its own settings, else those of its site; the default is not among them', () =>
		withDirectory(async (directory, administration) => {
			const { context } = administration;
			await setSite(context, { slug: 'west', also: ['A11'], ignore: ['A60'], update_creates: false });
			const { key, id } = await newKey(administration);
			await until(() => directory.grantOfKey(key) !== undefined, 'the new key');
			const ofSite = { default_authority: 'urn:oid:1.2.3', update_creates: false, also: ['A11'], ignore: ['A60'] };
			assert.deepEqual(granted(directory, key).settings, ofSite);
			assert.equal(granted(directory, key).settings, granted(directory, key).settings);
			await setKey(context, { id, also: ['A03'], default_authority: 'urn:oid:9' });
			await until(() => granted(directory, key).settings.default_authority === 'urn:oid:9', 'the settings of the key');
			assert.deepEqual(granted(directory, key).settings, { ...ofSite, also: ['A03'], default_authority: 'urn:oid:9' });
		}));

	test('knows the remote AEs of a site, and forgets a removed one and those of a disabled site', () =>
		withDirectory(async (directory, { context, rows }) => {
			const [site] = await rows<{ id: string }>('select id from site');
			const siteId = String(site?.id);
			await addRemoteAe(context, { site: 'west', title: 'ARCHIVE', host: '10.0.0.1', port: 104, tls: true });
			await addRemoteAe(context, { site: 'west', title: 'WORKSTATION', host: 'ws', port: 11_112, tls: false });
			await until(() => directory.remoteAe(siteId, 'WORKSTATION') !== undefined, 'the second remote AE');
			assert.deepEqual(directory.remoteAe(siteId, 'ARCHIVE'), { title: 'ARCHIVE', host: '10.0.0.1', port: 104, tls: true });
			assert.equal(directory.remoteAe(newId(), 'ARCHIVE'), undefined);
			await removeRemoteAe(context, { ae: 'ARCHIVE', site: 'west' });
			await until(() => directory.remoteAe(siteId, 'ARCHIVE') === undefined, 'the removal');
			assert.ok(directory.remoteAe(siteId, 'WORKSTATION'));
			await enableSite(context, 'west', false);
			await until(() => directory.remoteAe(siteId, 'WORKSTATION') === undefined, 'the disabled site');
		}));

	const withdrawals: [string, (administration: TestAdministration, keyId: string) => Promise<unknown>][] = [
		['a revoked key', ({ context }, keyId) => revokeKey(context, keyId)],
		['a disabled site', ({ context }) => enableSite(context, 'west', false)],
		['a disabled owner', ({ context }) => enableUser(context, 'owner@example.org', false)],
	];
	for (const [name, withdraw] of withdrawals) {
		test(`refuses the key of ${name} after a poll`, () =>
			withDirectory(async (directory, administration) => {
				const { key, id } = await newKey(administration);
				await until(() => directory.grantOfKey(key) !== undefined, 'the new key');
				await withdraw(administration, id);
				await until(() => directory.grantOfKey(key) === undefined, name);
			}));
	}

	test('lets the key of a site work again when the site is enabled, with its settings of then', () =>
		withDirectory(async (directory, administration) => {
			const { key } = await newKey(administration);
			await enableSite(administration.context, 'west', false);
			await setSite(administration.context, { slug: 'west', default_authority: '' });
			await enableSite(administration.context, 'west', true);
			await until(() => directory.grantOfKey(key) !== undefined, 'the key of the enabled site');
			assert.equal(granted(directory, key).settings.default_authority, undefined);
		}));

	test('follows a client: added, changed, disabled, removed', () =>
		withDirectory(async (directory, administration) => {
			const { context } = administration;
			const kindOf = (address: string, application = 'ADT') => directory.matchSender('hl7-mllp', address, application, 'WEST').kind;
			assert.equal(directory.mayConnect('hl7-mllp', '10.0.0.1'), false);
			const { id } = await administration.addClient('west', { allowed_ips: ['10.0.0.0/24'], sending_application: 'ADT', also: ['A03'] });
			await until(() => directory.mayConnect('hl7-mllp', '10.0.0.1') === true, 'the new client');
			const match = directory.matchSender('hl7-mllp', '10.0.0.1', 'ADT', 'WEST');
			assert.ok(match.kind === 'match');
			assert.equal(match.grant.clientId, id);
			assert.deepEqual(match.grant.settings, { also: ['A03'], default_authority: 'urn:oid:1.2.3' });
			assert.equal(kindOf('10.0.0.1', 'LAB'), 'no-sender');

			await setClient(context, { id, sending_application: '', ack_mode: 'enhanced' });
			await until(() => kindOf('10.0.0.1', 'LAB') === 'match', 'the changed client');

			await setClient(context, { id, active: false });
			await until(() => kindOf('10.0.0.1') === 'no-address', 'the disabled client');
			await setClient(context, { id, active: true });
			await until(() => kindOf('10.0.0.1') === 'match', 'the enabled client');
			await removeClient(context, id);
			await until(() => !directory.mayConnect('hl7-mllp', '10.0.0.1'), 'the removed client');
		}));

	test('takes clients of hl7-mllp alone, and those of disabled sites not at all', () =>
		withDirectory(async (directory, administration) => {
			await administration.addClient('west', { name: 'modality', protocols: ['dicom'], allowed_ips: ['10.0.0.2'] });
			await administration.addClient('west', { name: 'both', protocols: ['dicom', 'hl7-mllp'], allowed_ips: ['10.0.0.1'] });
			await until(() => directory.mayConnect('hl7-mllp', '10.0.0.1') === true, 'the new clients');
			assert.equal(directory.mayConnect('hl7-mllp', '10.0.0.2'), false);
			await enableSite(administration.context, 'west', false);
			await until(() => !directory.mayConnect('hl7-mllp', '10.0.0.1'), 'the disabled site');
		}));

	test('follows AE titles and the clients of DICOM', () =>
		withDirectory(async (directory, administration) => {
			const { context } = administration;
			const kindOf = (address: string, called = 'WEST', calling = 'CT') => directory.matchAssociation(called, calling, address).kind;
			assert.equal(kindOf('127.0.0.1'), 'called-unknown');
			await setSite(context, { slug: 'west', ae_title: 'WEST' });
			await until(() => kindOf('127.0.0.1') === 'accepted', 'the AE title');
			assert.equal(kindOf('10.0.0.1'), 'calling-refused');

			const { id } = await administration.addClient('west', {
				protocols: ['dicom'],
				allowed_ips: ['10.0.0.1'],
				calling_ae: 'CT',
				grants: ['query'],
			});
			await until(() => kindOf('10.0.0.1') === 'accepted', 'the new client');
			const match = directory.matchAssociation('WEST', 'CT', '10.0.0.1');
			assert.ok(match.kind === 'accepted');
			assert.deepEqual([match.clientId, match.siteSlug, [...match.grants]], [id, 'west', ['query']]);
			assert.equal(kindOf('10.0.0.1', 'WEST', 'MR'), 'calling-refused');
			assert.equal(kindOf('127.0.0.1'), 'calling-refused');

			await setClient(context, { id, active: false });
			await until(() => kindOf('10.0.0.1') === 'calling-refused', 'the disabled client');
			assert.equal(kindOf('127.0.0.1'), 'calling-refused');
			await removeClient(context, id);
			await until(() => kindOf('127.0.0.1') === 'accepted', 'the removed client');
			await enableSite(context, 'west', false);
			await until(() => kindOf('127.0.0.1') === 'called-unknown', 'the disabled site');
		}));

	for (const allowed of [false, true]) {
		test(`${allowed ? 'takes' : 'does not take'} * for any address ${allowed ? 'under' : 'without'} the policy`, () =>
			withDirectory(async (directory, administration) => {
				await administration.addClient('west', { allowed_ips: ['*', '10.0.0.1'] });
				await until(() => directory.mayConnect('hl7-mllp', '10.0.0.1') === true, 'the new client');
				assert.equal(directory.mayConnect('hl7-mllp', '203.0.113.9'), allowed);
			}, allowed));
	}

	test('notes when a key was used last', () =>
		withDirectory(async (directory, administration, clock) => {
			const { key, id } = await newKey(administration);
			await until(() => directory.grantOfKey(key) !== undefined, 'the new key');
			clock.ahead = 6000;
			const lastUse = async () =>
				(await administration.rows<{ last_used_at: Date | null }>('select last_used_at from api_key where id = $1', [id]))[0]?.last_used_at;
			for (let tries = 0; tries < 200 && !(await lastUse()); tries++) await pause(50);
			assert.ok(await lastUse());
		}));

	test('keeps those known who were known while the database is away, and tells nobody else to be wrong', () =>
		withDirectory(async (directory, administration, clock) => {
			const { key } = await newKey(administration);
			const { key: revoked, id } = await newKey(administration);
			const [site] = await administration.rows<{ id: string }>('select id from site');
			const siteId = site?.id ?? '';
			await setSite(administration.context, { slug: 'west', ae_title: 'WEST' });
			await addRemoteAe(administration.context, { site: 'west', title: 'ARCHIVE', host: '10.0.0.1', port: 104, tls: true });
			await revokeKey(administration.context, id);
			const protocols = ['hl7-mllp' as const, 'dicom' as const];
			await administration.addClient('west', { protocols, allowed_ips: ['10.0.0.1'], sending_application: 'ADT' });
			await until(() => directory.mayConnect('hl7-mllp', '10.0.0.1') === true, 'the client');
			const answers = (address: string, application: string, given: string, title: string) => {
				const grant = directory.grantOfKey(given);
				const remote = directory.remoteAe(siteId, title);
				return [
					typeof grant === 'object' ? 'granted' : grant,
					directory.mayConnect('hl7-mllp', address),
					directory.matchSender('hl7-mllp', address, application, 'WEST').kind,
					directory.matchAssociation('WEST', 'CT', address).kind,
					directory.matchAssociation(title, 'CT', address).kind,
					typeof remote === 'object' ? 'registered' : remote,
				];
			};
			const ofKnown = () => answers('10.0.0.1', 'ADT', key, 'ARCHIVE');
			const ofStranger = () => answers('10.0.0.2', 'LAB', revoked, 'EAST');
			const unavailable = Array.from({ length: 6 }, () => 'unavailable');
			const known = ['granted', true, 'match', 'accepted', 'called-unknown', 'registered'];
			const refused = [undefined, false, 'no-address', 'calling-refused', 'called-unknown', undefined];
			assert.deepEqual(ofKnown(), known);
			assert.deepEqual(ofStranger(), refused);

			const name = new URL(administration.url).pathname.slice(1);
			await administer(administration.url, `alter database ${name} with allow_connections false`);
			await administer(administration.url, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
			await until(() => !directory.answering, 'the lost database');
			for (const ahead of [0, 31_000, staleMsMax - 60_000]) {
				clock.ahead = ahead;
				assert.deepEqual(ofKnown(), known.with(4, 'unavailable'), `the known after ${ahead} ms`);
				assert.deepEqual(ofStranger(), unavailable, `a stranger after ${ahead} ms`);
				assert.equal(directory.grantOfKey(undefined), 'unavailable');
				assert.equal(directory.matchSender('hl7-mllp', '10.0.0.1', 'LAB', 'WEST').kind, 'unavailable');
			}
			clock.ahead = staleMsMax;
			assert.deepEqual(ofKnown(), unavailable, 'the known after the time');
			assert.deepEqual(ofStranger(), unavailable, 'a stranger after the time');

			await administer(administration.url, `alter database ${name} with allow_connections true`);
			await until(() => directory.answering && directory.certain, 'the database that is back');
			assert.deepEqual(ofKnown(), known);
			assert.deepEqual(ofStranger(), refused);
		}));

	test('tells nobody to be wrong while a poll takes long', () =>
		withDirectory(async (directory, _administration, clock) => {
			assert.equal(directory.grantOfKey('trb_nobody'), undefined);
			clock.ahead += 10_000;
			assert.equal(directory.grantOfKey('trb_nobody'), 'unavailable');
			await until(() => directory.grantOfKey('trb_nobody') === undefined, 'the next poll');
		}));
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listClients, setClient } from '#administration/clients.ts';
import { enableSite } from '#administration/sites.ts';
import { addUser, resetPassword } from '#administration/users.ts';
import { adt } from '#test/support/adt.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { type AdminClient, owner, signedIn } from '#test/surfaces/admin/client.ts';

/** One interface engine sends for two sites from one address; each site tells its messages by MSH-3. */
describe('an unmatched message from an address of two sites', () => {
	let service: TestService;
	let administrator: AdminClient;
	let manager: AdminClient;
	let beta = '';

	before(async () => {
		service = await testService();
		await service.addSite('alpha', { sending_application: 'LABA' });
		// The wider range is the address of beta, too.
		await service.addSite('beta', { sending_application: 'LABB', allowed_ips: ['127.0.0.0/8'] });
		const { administration } = service;
		beta = (await listClients(administration)).find(({ site }) => site === 'beta')?.id ?? '';
		administrator = await signedIn(service, owner, (await resetPassword(administration, owner)).password);
		await addUser(administration, { email: 'ann@example.org', role: 'manager', sites: ['alpha'] });
		manager = await signedIn(service, 'ann@example.org', (await resetPassword(administration, 'ann@example.org')).password);
	});

	after(() => service[Symbol.asyncDispose]());

	async function refused(controlId: string, application: string): Promise<void> {
		const sender = await MllpClient.connect(service.port('mllp'));
		await eventually(
			async () => msa(await sender.send(adt(controlId, 'SHARED', 1).replace('|ADT|', `|${application}|`))).code === 'AE',
			'the refusal',
		);
		sender.close();
	}

	/** What a person sees of the message: its site, or null; undefined where it is not listed. */
	async function siteShown(to: AdminClient, controlId: string): Promise<string | null | undefined> {
		const { body } = await to.call('/api/v1/unmatched');
		return body.find(({ control_id: id }: { control_id: string }) => id === controlId)?.site;
	}

	async function assertOfNoSite(controlId: string): Promise<void> {
		await eventually(async () => (await siteShown(administrator, controlId)) !== undefined, 'the unmatched message');
		assert.equal(await siteShown(administrator, controlId), null);
		assert.equal(await siteShown(manager, controlId), undefined);
		const { body } = await administrator.call('/api/v1/unmatched');
		const { id } = body.find(({ control_id: control }: { control_id: string }) => control === controlId);
		assert.equal((await administrator.call(`/api/v1/unmatched/${id}`)).status, 200);
		assert.notEqual((await manager.call(`/api/v1/unmatched/${id}`)).status, 200);
		const feeds = (await manager.call('/api/v1/feeds')).body as { kind: string }[];
		assert.deepEqual(
			feeds.filter(({ kind }) => kind === 'unmatched'),
			[],
		);
	}

	test('is no site’s while both clients are active', async () => {
		await refused('stranger', 'STRANGER');
		await assertOfNoSite('stranger');
	});

	test('is no site’s after the client of the other site is disabled', async () => {
		await setClient(service.administration, { id: beta, active: false });
		await refused('client-disabled', 'LABB');
		await assertOfNoSite('client-disabled');
		const body = { address: '127.0.0.1', sending_application: 'LABB' };
		const answer = await manager.call('/api/v1/clients/match', { method: 'POST', body });
		assert.deepEqual([answer.status, answer.body.outcome], [200, 'no-sender']);
		assert.doesNotMatch(JSON.stringify(answer.body), /beta|LABB/);
	});

	test('is no site’s after the other site is disabled', async () => {
		await setClient(service.administration, { id: beta, active: true });
		await enableSite(service.administration, 'beta', false);
		await refused('site-disabled', 'LABB');
		await assertOfNoSite('site-disabled');
	});

	test('is no site’s where the other client does not take HL7 any more', async () => {
		await enableSite(service.administration, 'beta', true);
		await setClient(service.administration, { id: beta, protocols: ['dicom'] });
		await refused('dicom-only', 'LABB');
		await assertOfNoSite('dicom-only');
	});

	test('is the site’s that alone has the address once the other client has another one', async () => {
		await setClient(service.administration, { id: beta, allowed_ips: ['10.0.0.1'] });
		await refused('alone', 'LABB');
		await eventually(async () => (await siteShown(manager, 'alone')) === 'alpha', 'the message of the only site');
	});
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { describe, test } from 'node:test';
import { addClient, setClient } from '#administration/clients.ts';
import { enableSite, setSite } from '#administration/sites.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { addImagingSite, ctInstance, StorageScu } from '#test/support/storage-scu.ts';
import { associateRequest, Peer } from '#test/surfaces/dimse/peer.ts';

/** What an association is told that a trusted proxy brings from an address: `accepted`, or the bytes of the rejection. */
async function answerTo(service: TestService, address: string, calling: string, called = 'WEST'): Promise<string> {
	const socket = createConnection({ port: service.port('dimse'), host: '127.0.0.1' });
	await once(socket, 'connect');
	const peer = new Peer(socket);
	peer.write(Buffer.from(`PROXY TCP4 ${address} 198.51.100.1 56324 11112\r\n`), associateRequest({ called, calling }));
	const { type, body } = await peer.next();
	socket.destroy();
	return type === 2 ? 'accepted' : `PDU ${type}: ${[...body.subarray(1, 4)].join(' ')}`;
}

/** Result, source and reason of PS3.8 §9.3.4. */
const callingRefused = 'PDU 3: 1 1 3';
const calledUnknown = 'PDU 3: 1 1 7';
const near = '127.0.0.2';
const elsewhere = '192.0.2.7';

describe('who may send images', () => {
	for (const allowAnySource of [false, true]) {
		test(`to a site without clients: who is near, and others ${allowAnySource ? 'too under ALLOW_ANY_SOURCE' : 'not'}`, async () => {
			await using service = await testService({ TRUSTED_PROXIES: '127.0.0.0/8', ALLOW_ANY_SOURCE: String(allowAnySource) });
			await service.addSite('west');
			await setSite(service.administration, { slug: 'west', ae_title: 'WEST' });
			await eventually(async () => (await answerTo(service, near, 'CT1')) === 'accepted', 'the AE title');
			assert.equal(await answerTo(service, elsewhere, 'CT1'), allowAnySource ? 'accepted' : callingRefused);
			assert.equal(await answerTo(service, near, 'CT1', 'EAST'), calledUnknown);
			assert.equal(await answerTo(service, near, 'CT1', 'west'), calledUnknown, 'AE titles have capital and small letters');
		});
	}

	test('to a site with clients: who calls as one of them from its address, and nobody else', async () => {
		await using service = await testService({ TRUSTED_PROXIES: '127.0.0.0/8' });
		await service.addSite('west');
		await setSite(service.administration, { slug: 'west', ae_title: 'WEST' });
		const dicom = { site: 'west', protocols: ['dicom' as const] };
		await addClient(service.administration, { ...dicom, name: 'gateway', allowed_ips: ['203.0.113.9'] });
		await addClient(service.administration, { ...dicom, name: 'CT', allowed_ips: ['192.0.2.0/24'], calling_ae: 'CT1' });
		await eventually(async () => (await answerTo(service, elsewhere, 'CT1')) === 'accepted', 'the AE title and the clients');
		const answers = await Promise.all(
			[
				[elsewhere, 'CT2'],
				['192.0.3.7', 'CT1'],
				['203.0.113.9', 'ANYBODY'],
				['203.0.113.8', 'ANYBODY'],
				[near, 'CT1'],
			].map(([address = '', calling = '']) => answerTo(service, address, calling)),
		);
		assert.deepEqual(answers, [callingRefused, callingRefused, 'accepted', callingRefused, callingRefused]);
		await eventually(async () => {
			const events = await service.rows<{ subject: string }>(`select subject from audit_event where action = 'dimse.refused'`);
			return events.some(({ subject }) => subject === 'calling');
		}, 'the audit events');
	});

	for (const [what, change] of [
		['a client that is set aside', (service: TestService, id: string) => setClient(service.administration, { id, active: false })],
		['another calling AE', (service: TestService, id: string) => setClient(service.administration, { id, calling_ae: 'OTHER' })],
		['a disabled site', (service: TestService) => enableSite(service.administration, 'west', false)],
	] as const) {
		test(`${what} ends open associations at their next message, and nothing of it is stored`, async () => {
			await using service = await testService();
			const { called, siteId } = await addImagingSite(service, 'west');
			const client = await addClient(service.administration, {
				...{ site: 'west', name: 'CT', protocols: ['dicom'], allowed_ips: ['127.0.0.1'], calling_ae: 'CT1' },
			});
			using probe = await StorageScu.open(service.port('dimse'), { called });
			using scu = await StorageScu.open(service.port('dimse'), { called });
			assert.equal((await scu.store(ctInstance({ sopInstanceUid: '1.2.1' }))).status, 0);
			await change(service, client.id);
			const isEnded = () =>
				probe.echo().then(
					(status) => status === undefined,
					() => true,
				);
			await eventually(isEnded, 'the change');
			await assert.rejects(scu.store(ctInstance({ sopInstanceUid: '1.2.2' })), /answered with PDU 7/);
			const rows = await service.rows('select sop_instance_uid from imaging_instance where site_id = $1', [siteId]);
			assert.deepEqual(rows, [{ sop_instance_uid: '1.2.1' }]);
		});
	}
});

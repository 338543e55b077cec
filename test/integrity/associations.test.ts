import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listAssociations } from '#administration/associations.ts';
import { listAudit } from '#administration/audit.ts';
import { addClient } from '#administration/clients.ts';
import { opened } from '#test/support/images.ts';
import { eventually, testService } from '#test/support/service.ts';
import { ctInstance, StorageScu } from '#test/support/storage-scu.ts';

test('an association is listed with who, how much came and how it ended', async () => {
	await using service = await testService();
	await service.addSite('north');
	await service.addSite('east', { allowed_ips: ['192.0.2.1'] });
	await opened(service, 'north');
	const client = await addClient(service.administration, {
		site: 'north',
		name: 'CT 1',
		protocols: ['dicom'],
		allowed_ips: ['127.0.0.1'],
	});
	const context = { ...service.administration, visibleSites: ['north'] };
	await eventually(async () => {
		const scu = await StorageScu.open(service.port('dimse'), { called: 'NORTH' }).catch(() => undefined);
		await scu?.release();
		return (await listAssociations(context, { limit: 10 })).some(({ client_id: id }) => id === client.id);
	}, 'the client');
	const scu = await StorageScu.open(service.port('dimse'), { called: 'NORTH' });
	for (const number of [1, 2]) await scu.store(ctInstance({ sopInstanceUid: `1.2.3.${number}`, studyUid: '1.2.3' }));
	// Other content under a known UID: kept aside, a warning.
	await scu.store(ctInstance({ sopInstanceUid: '1.2.3.1', studyUid: '1.2.3', patientId: 'other' }));
	await scu.release();
	await eventually(async () => (await listAssociations(context, { limit: 1 }))[0]?.instances === 3, 'the event');
	const [last] = await listAssociations(context, { limit: 1 });
	assert.deepEqual(
		[last?.site, last?.client_id, last?.called_ae, last?.source, last?.warnings, last?.failed, last?.requests, last?.end],
		['north', client.id, 'NORTH', '127.0.0.1', 1, 0, '2 × C-STORE success, 1 × C-STORE warning', 'released'],
	);
	assert.deepEqual(last?.studies, ['1.2.3']);
	const [event] = await listAudit(context, { limit: 1, action: 'dicom.association' });
	assert.deepEqual(event?.patients, [], 'the connection of a modality is no access to a patient');
	assert.ok((last?.bytes ?? 0) > 500 && Date.parse(last?.ended_at ?? '') >= Date.parse(last?.started_at ?? ''));

	const lost = await StorageScu.open(service.port('dimse'), { called: 'NORTH' });
	lost.peer.socket.destroy();
	await eventually(async () => (await listAssociations(context, { limit: 1 }))[0]?.end === 'closed', 'the lost one');
	const ends = async (asked: object) => (await listAssociations(context, { limit: 10, ...asked })).map(({ end }) => end);
	assert.ok((await ends({ ae: 'nor', outcome: 'complete' })).every((end) => end === 'released'));
	assert.deepEqual(await ends({ ae: last?.calling_ae.toLowerCase(), outcome: 'broken-off' }), ['closed']);
	assert.deepEqual(await ends({ outcome: 'failed' }), []);
	assert.deepEqual(await ends({ ae: 'orth' }), []);
	assert.deepEqual(await listAssociations({ ...context, visibleSites: ['east'] }, { limit: 10 }), []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { testService } from '#test/support/service.ts';

test('_has finds the survivor of a merge by a resource that names the prior patient beside another', async () => {
	await using service = await testService();
	const call = fhirClient(service, (await service.addSite('west')).key);
	const put = async (path: string, resource: object) => {
		const [, type, id] = path.split('/');
		assert.equal((await call('PUT', path, { resourceType: type, id, ...resource })).status, 201);
	};
	for (const id of ['1', '2', '3']) await put(`/Patient/p${id}`, { identifier: [{ system: 'urn:m', value: id }] });
	const subject = ['Patient/p3', 'Patient/p1'].map((reference) => ({ reference }));
	await put('/Account/a', { status: 'active', subject });
	await put('/Observation/o', { status: 'final', code: { text: 'secret' }, subject: subject[0], performer: [subject[1]] });
	const foundBy = async (search: string) => {
		const { status, body } = await call('GET', search);
		assert.equal(status, 200);
		return ((body.entry ?? []) as { resource: { id: string } }[]).map(({ resource }) => resource.id).sort();
	};
	assert.deepEqual(await foundBy('/Patient?_has:Account:subject:status=active'), ['p1', 'p3']);
	const client = await MllpClient.connect(service.port('mllp'));
	const merge = [
		'MSH|^~\\&|ADT|WEST|||20260105||ADT^A40^ADT_A39|1|P|2.5.1',
		'EVN||20260105',
		'PID|1||2^^^&urn:m&URI||Lakes',
		'MRG|1^^^&urn:m&URI',
	];
	assert.equal(msa(await client.send(merge.join('\r'))).code, 'AA');
	client.close();
	for (const has of ['Account:subject:status=active', 'Account:patient:_id=a', 'Observation:performer:status=final']) {
		const found = await foundBy(`/Patient?_has:${has}`);
		assert.ok(found.includes('p2'), `${has}: ${found}`);
		assert.deepEqual(await foundBy(`/Patient?_id=p2&_has:${has}`), ['p2']);
	}
	assert.deepEqual(await foundBy('/Patient?_has:Account:subject:status=active'), ['p1', 'p2', 'p3']);
	assert.deepEqual(await foundBy('/Account?subject=Patient/p2'), ['a']);
});

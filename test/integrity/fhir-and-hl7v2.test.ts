import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { type FhirBody, testService } from '#test/support/service.ts';

const message = (controlId: string, event: string, segments: string[]) =>
	[`MSH|^~\\&|ADT|HOSP|X|Y|20240101||${event}|${controlId}|P|2.5.1`, ...segments].join('\r');

describe('one patient through FHIR and through HL7 v2', () => {
	test('an ADT changes what it speaks of and keeps what a FHIR client wrote beside it', async () => {
		await using service = await testService();
		const { key } = await service.addSite('west');
		const call = fhirClient(service, key);
		const mllp = await MllpClient.connect(service.port('mllp'));
		const written = await call('PUT', '/Patient/own-id', {
			resourceType: 'Patient',
			identifier: [{ system: 'urn:oid:1.2.3', value: '4711' }],
			name: [{ text: 'Old Name', family: 'Name', given: ['Old'] }],
			photo: [{ url: 'http://example.org/p.png' }],
			extension: [{ url: 'urn:mine', valueDecimal: 1 }],
			gender: 'male',
		});
		assert.equal(written.status, 201);
		const pid = 'PID|1||4711^^^&1.2.3&ISO||New^Anna||19700517|F';
		assert.equal(msa(await mllp.send(message('1', 'ADT^A08', ['EVN||20240101', pid]))).code, 'AA');
		const { body, headers } = await call('GET', '/Patient/own-id');
		assert.equal(body.meta.versionId, '2');
		assert.equal(headers.get('etag'), 'W/"2"');
		assert.equal(body.meta.source, 'urn:tributary:mllp:1');
		assert.equal(body.name[0].family, 'New');
		assert.equal(body.gender, 'female');
		assert.deepEqual(body.photo, [{ url: 'http://example.org/p.png' }]);
		assert.ok(body.extension.some((extension: FhirBody) => extension.url === 'urn:mine'));
		const oru = message('2', 'ORU^R01', [pid, 'OBR|1||F1^LAB|718-7^Hb^LN', 'OBX|1|NM|718-7^Hb^LN||12.50|g/dL|||||F']);
		assert.equal(msa(await mllp.send(oru)).code, 'AA');
		const found = (await call('GET', '/Observation?patient=Patient/own-id')).body;
		assert.equal(found.entry[0].resource.subject.reference, 'Patient/own-id');
		mllp.close();
	});

	test('FHIR updates and HL7 corrections of one observation meet in one resource', async () => {
		await using service = await testService();
		const { key } = await service.addSite('west');
		const call = fhirClient(service, key);
		const mllp = await MllpClient.connect(service.port('mllp'));
		const oru = (id: string, value: string) =>
			message(id, 'ORU^R01', ['PID|1||1^^^H', 'OBR|1||F1^LAB|1^X^L', `OBX|1|NM|1^X^L||${value}||||||F`]);
		assert.equal(msa(await mllp.send(oru('1', '1'))).code, 'AA');
		const { resource } = (await call('GET', '/Observation')).body.entry[0];
		assert.equal(
			(await call('PUT', `/Observation/${resource.id}`, { ...resource, meta: undefined, note: [{ text: 'seen' }] })).status,
			200,
		);
		assert.equal(msa(await mllp.send(oru('2', '2'))).code, 'AA');
		const after = (await call('GET', '/Observation')).body;
		assert.equal(after.entry.length, 1);
		assert.equal(after.entry[0].resource.meta.versionId, '3');
		assert.equal(after.entry[0].resource.valueQuantity.value, 2);
		mllp.close();
	});

	test('a patient that a FHIR client created under an identifier is the one that HL7 means, and merges move what FHIR wrote', async () => {
		await using service = await testService();
		const { key } = await service.addSite('west');
		const call = fhirClient(service, key);
		const mllp = await MllpClient.connect(service.port('mllp'));
		const create = (value: string, id: string) =>
			call('PUT', `/Patient/${id}`, { resourceType: 'Patient', identifier: [{ system: 'urn:oid:1.2.3', value }], name: [{ family: 'X' }] });
		await create('A', 'survivor');
		await create('B', 'prior');
		const condition = await call('POST', '/Condition', {
			resourceType: 'Condition',
			clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }] },
			code: { text: 'x' },
			subject: { reference: 'Patient/prior' },
		});
		const a40 = message('1', 'ADT^A40', ['EVN||20240101', 'PID|1||A^^^&1.2.3&ISO', 'MRG|B^^^&1.2.3&ISO']);
		assert.equal(msa(await mllp.send(a40)).code, 'AA');
		const moved = (await call('GET', `/Condition/${condition.body.id}`)).body;
		assert.equal(moved.subject.reference, 'Patient/survivor');
		assert.equal((await call('GET', '/Condition?patient=survivor')).body.entry.length, 1);
		assert.deepEqual((await call('GET', '/Patient/survivor')).body.link, [{ other: { reference: 'Patient/prior' }, type: 'replaces' }]);
		assert.deepEqual((await call('GET', '/Patient/prior')).body.link, [{ other: { reference: 'Patient/survivor' }, type: 'replaced-by' }]);
		mllp.close();
	});
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listIdentity } from '#administration/identity-work.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { type TestService, testService } from '#test/support/service.ts';

describe('a client that creates the same patient again and again', () => {
	let service: TestService;

	before(async () => {
		service = await testService();
	});

	after(() => service[Symbol.asyncDispose]());

	const patient = (value: string) => ({ resourceType: 'Patient', identifier: [{ system: 'urn:oid:1.2.3', value }] });

	async function doubtsOf(site: string, id: string): Promise<number> {
		const { doubts } = await listIdentity(service.administration, { site, kind: 'number-shared', limit: 500 });
		return doubts.filter(({ patient: one, other_patient: other }) => one?.id === id || other?.id === id).length;
	}

	test('has each listed with eight others, so the last one is stored as the first', async () => {
		const { site, key } = await service.addSite('one-by-one');
		const call = fhirClient(service, key);
		const ids: string[] = [];
		for (let count = 0; count < 12; count++) {
			const { status, body } = await call('POST', '/Patient', patient('N1'));
			assert.equal(status, 201);
			ids.push(body.id);
		}
		assert.equal(await doubtsOf(site.slug, ids.at(1) ?? ''), 11, 'the first ones are named by each after them');
		assert.equal(await doubtsOf(site.slug, ids.at(-1) ?? ''), 8);
		const counted = async () => {
			const { doubts } = await listIdentity(service.administration, { site: site.slug, kind: 'number-shared', limit: 500 });
			return doubts.reduce((sum, { count }) => sum + count, 0);
		};
		const before = await counted();
		const mllp = await MllpClient.connect(service.port('mllp'));
		const message = ['MSH|^~\\&|ADT|HOSP|X|Y|20240101||ADT^A08|1|P|2.5.1', 'EVN||20240101', 'PID|1||N1^^^&1.2.3&ISO||Rivers^Ann'];
		assert.equal(msa(await mllp.send(message.join('\r'))).code, 'AA');
		mllp.close();
		assert.equal(await counted(), before + 8, 'a message lists as many');
	});

	test('has as many listed when all come in one transaction', async () => {
		const { site, key } = await service.addSite('at-once');
		const entry = Array.from({ length: 12 }, () => ({ resource: patient('N1'), request: { method: 'POST', url: 'Patient' } }));
		const { status, body } = await fhirClient(service, key)('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
		assert.equal(status, 200);
		const ids = (body.entry as { response: { location: string } }[]).map(
			({ response }) => /Patient\/([^/]+)/.exec(response.location)?.[1] ?? '',
		);
		const { doubts } = await listIdentity(service.administration, { site: site.slug, kind: 'number-shared', limit: 500 });
		assert.equal(doubts.length, 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 8 + 8 + 8);
		assert.equal(await doubtsOf(site.slug, [...ids].sort().at(-1) ?? ''), 8);
	});
});

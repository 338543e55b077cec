import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import pg from 'pg';
import { fhirClient } from '#test/support/fhir-client.ts';
import { testService } from '#test/support/service.ts';

test('slow searches of one site hold up neither the reads nor the searches of another', async () => {
	await using service = await testService({ READ_MS_MAX: '20000', READ_CONNECTIONS_MAX: '4' });
	const slow = fhirClient(service, (await service.addSite('north')).key);
	const other = fhirClient(service, (await service.addSite('south', { allowed_ips: ['127.0.0.2'] })).key);
	const id = (await other('POST', '/Patient', { resourceType: 'Patient', gender: 'female' })).body.id;
	const holder = new pg.Client({ connectionString: service.databaseUrl });
	await holder.connect();
	try {
		await holder.query('begin');
		await holder.query('lock table observation in access exclusive mode');
		let ended = 0;
		// Each has a shape of its own, so nobody knows yet what it takes.
		const parameters = ['status=final', 'code=x', 'code:text=x', 'date=2026', 'category=x', 'value-quantity=5', 'method=x', '_id=x'];
		const searches = [...parameters, ...parameters].map(async (parameter) => {
			const { status } = await slow('GET', `/Observation?${parameter}&_total=none`);
			ended++;
			return status;
		});
		for (const path of [
			`/Patient/${id}`,
			'/Patient?gender=female',
			'/Patient?birthdate=2026',
			'/Encounter?status=planned',
			`/Patient/${id}`,
		]) {
			assert.deepEqual([(await other('GET', path)).status, ended], [200, 0], path);
		}
		await holder.query('commit');
		assert.deepEqual(new Set(await Promise.all(searches)), new Set([200]));
	} finally {
		await holder.end();
	}
});

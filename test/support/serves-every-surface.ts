import assert from 'node:assert/strict';
import { adt } from './adt.ts';
import { BulkClient } from './bulk.ts';
import { fhirClient } from './fhir-client.ts';
import { MllpClient, msa } from './mllp-client.ts';
import { type FhirBody, type TestService, testService } from './service.ts';

/**
 * Starts the service on a migrated database and works through the surfaces from several connections at once, so that behind a pooler their
 * transactions come to each other's sessions.
 * @param look is given the service at the end
 */
export async function servesEverySurface(
	url: string,
	environment: Record<string, string> = {},
	look: (service: TestService, key: string) => Promise<void> = async () => undefined,
): Promise<void> {
	await using service = await testService({ WORKERS: '2', ...environment }, { url, [Symbol.asyncDispose]: async () => {} });
	const { key } = await service.addSite('north');
	const call = fhirClient(service, key);
	const senders = await Promise.all(Array.from({ length: 4 }, () => MllpClient.connect(service.port('mllp'))));
	await Promise.all(
		senders.map(async (sender, number) => {
			for (let sent = 0; sent < 10; sent++) {
				const id = `S${number}N${sent}`;
				assert.equal(msa(await sender.send(adt(id, id, 1))).code, 'AA');
				const { status, body } = await call('GET', `/Patient?identifier=${id}&_sort=birthdate`);
				assert.equal(status, 200);
				assert.equal((body as FhirBody).entry.length, 1);
			}
			sender.close();
		}),
	);
	const { status, body } = await call('POST', '/Observation', { resourceType: 'Observation', status: 'final', code: { text: 'x' } });
	assert.equal(status, 201);
	assert.equal((await call('GET', `/Observation/${(body as FhirBody).id}`)).status, 200);
	const bulk = new BulkClient(service, key);
	assert.equal((await bulk.exported()).get('Patient')?.length, 40);
	const { output } = await bulk.manifest(
		await bulk.startImport([{ resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'y' } }]),
	);
	assert.equal(output[0].extension.created, 1);
	// A key that is made now is known, which takes the connection of the access directory.
	const south = await service.addSite('south', { allowed_ips: ['10.9.9.1'] });
	assert.equal((await fhirClient(service, south.key)('GET', '/Patient')).status, 200);
	await look(service, key);
}

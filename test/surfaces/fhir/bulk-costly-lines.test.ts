import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { addProfiles } from '#administration/profiles.ts';
import { BulkClient } from '#test/support/bulk.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

const url = 'https://example.org/fhir/StructureDefinition/endless';
const endless = {
	resourceType: 'StructureDefinition',
	url,
	name: 'Endless',
	status: 'active',
	kind: 'resource',
	abstract: false,
	type: 'Patient',
	derivation: 'constraint',
	baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
	differential: {
		element: [
			{
				id: 'Patient',
				path: 'Patient',
				constraint: [{ key: 'x-1', severity: 'error', human: 'x', expression: "name.family.matches('^(a+)+$')" }],
			},
		],
	},
};
const patient = (id: string, more: object = {}) => ({ resourceType: 'Patient', id, ...more });
const costly = (id: string) => patient(id, { meta: { profile: [url] }, name: [{ family: `${'a'.repeat(40)}!` }] });

async function sitesOf(service: TestService) {
	const [north, south] = [await service.addSite('north'), await service.addSite('south', { allowed_ips: ['127.0.0.2'] })];
	await addProfiles(service.administration, { site: 'north', file: Buffer.from(JSON.stringify(endless)).toString('base64') });
	// From the answer on the service knows the profile.
	const fhir = fhirClient(service, north.key);
	await eventually(
		async () => (await fhir('POST', `/Patient/$validate?profile=${url}`, patient('p'))).status === 200,
		'the profile of the site',
	);
	return { north: new BulkClient(service, north.key), fhir, south: new BulkClient(service, south.key) };
}

describe('a line of an import whose profile takes for ever', () => {
	test('is refused after its budget of processor time; the other lines and the imports of other sites go on', async () => {
		await using service = await testService({ IMPORT_LINE_CPU_MS_MAX: '400', IMPORT_CHUNK_LINES_MAX: '2' });
		const { north, south, fhir } = await sitesOf(service);
		const lines = [patient('first'), costly('second'), patient('third'), costly('fourth'), patient('fifth')];
		const statuses = [await north.startImport(lines), await south.startImport([patient('other')])] as const;
		assert.deepEqual((await south.manifest(statuses[1])).error, []);
		const manifest = await north.manifest(statuses[0]);
		const refused = manifest.error.find((file: { type: string }) => file.type === 'OperationOutcome');
		const outcomes = (await north.lines(refused.url)).map((line) => JSON.parse(line));
		assert.deepEqual(
			outcomes.map(({ id, issue: [{ code, diagnostics }] }) => [id, code, /IMPORT_LINE_CPU_MS_MAX/.test(diagnostics)]),
			[
				['line-2', 'too-costly', true],
				['line-4', 'too-costly', true],
			],
		);
		for (const id of ['first', 'third', 'fifth']) assert.equal((await fhir('GET', `/Patient/${id}`)).status, 200, id);
		assert.equal((await fhir('GET', '/Patient/second')).status, 404);
	});

	test('ends when the import is cancelled, and leaves its place to the import of another site', async () => {
		await using service = await testService({ IMPORT_LINE_CPU_MS_MAX: '600000', BULK_RUNNING_MAX: '1', IMPORT_CHUNK_LINES_MAX: '1' });
		const { north, south } = await sitesOf(service);
		const status = await north.startImport([patient('first'), costly('endless')]);
		const begun = async () => (await north.call('GET', status)).headers.get('x-progress') === '1 of 2 lines';
		await eventually(begun, 'the line before the endless one');
		const other = await south.startImport([patient('other')]);
		assert.equal((await north.call('DELETE', status)).status, 202);
		assert.deepEqual((await south.manifest(other)).error, []);
	});
});

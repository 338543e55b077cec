import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { BulkClient } from '#test/support/bulk.ts';
import { eventually } from '#test/support/eventually.ts';
import { ServiceProcess } from '#test/support/service-process.ts';

const chunkLines = 200;
const lines = 16_000;

async function observations(service: ServiceProcess, key: string): Promise<number> {
	const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/Observation?_summary=count`, { headers: { 'X-API-Key': key } });
	return ((await answer.json()) as { total: number }).total;
}

describe('kill -9', () => {
	test('during an import leaves whole chunks, and the import is interrupted', async () => {
		await using service = new ServiceProcess({ IMPORT_CHUNK_LINES_MAX: String(chunkLines) });
		await service.start();
		const [, , { key }] = await service.commands(
			['site', 'add', 'north', '--name', 'North'],
			['user', 'add', 'ann@example.org', '--admin'],
			['key', 'create', '--site', 'north', '--owner', 'ann@example.org'],
		);
		const port = (surface: string) => service.port(surface);
		const client = new BulkClient({ port }, key);
		await eventually(async () => (await client.call('GET', '/metadata')).status === 200, 'the key');
		const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' } };
		const body = Array.from({ length: lines }, (_, valueInteger) => ({ ...observation, id: `o${valueInteger}`, valueInteger }));

		const status = new URL(await client.startImport(body)).pathname.slice('/fhir'.length);
		await eventually(async () => (await observations(service, key)) > 5 * chunkLines, 'some chunks');
		await service.end('SIGKILL');
		await service.start();

		const held = await observations(service, key);
		assert.ok(held > 5 * chunkLines && held < lines, `${held} of ${lines}`);
		assert.equal(held % chunkLines, 0);
		const reply = await client.ended(status);
		assert.equal(reply.status, 500);
		assert.match(reply.text, new RegExp(`interrupted.*; ${held} lines were processed`));
		const [job = ''] = readdirSync(join(service.dataDir, 'imports'));
		assert.ok(!existsSync(join(service.dataDir, 'imports', job, 'body')), 'what was sent is not kept');

		const { output } = await client.manifest(await client.startImport(body));
		assert.deepEqual(output[0].extension, { created: lines - held, updated: 0, unchanged: held });
		assert.equal(await observations(service, key), lines);
		assert.equal(await service.end('SIGTERM'), 0);
	});
});

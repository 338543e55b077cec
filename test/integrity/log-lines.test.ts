import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adt } from '#test/support/adt.ts';
import { testDatabase } from '#test/support/database.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { S3Server } from '#test/support/s3-server.ts';
import { eventually } from '#test/support/service.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { administer } from '#test/support/template.ts';
import { file, multipartBody, multipartType } from '#test/surfaces/dicomweb/client.ts';

/** The lines of the log as objects; whatever follows the block of the start has to be JSON. */
function linesOf(output: string): Record<string, unknown>[] {
	const after = output.slice(output.indexOf('first steps'));
	return after
		.slice(after.indexOf('\n'))
		.split('\n')
		.filter((line) => line !== '')
		.map((line) => JSON.parse(line));
}

test('an outage of database and object store is told in lines of JSON: the first attempt with its stack, then by number, then its end', {
	timeout: 120_000,
}, async () => {
	await using database = await testDatabase();
	await using store = new S3Server();
	await using service = new ServiceProcess({
		DATABASE_URL: database.url,
		PROCESSES: '1',
		WORKERS: '1',
		OBJECT_STORE_URL: `s3://${store.bucket}/images`,
		...(await store.variables()),
	});
	await service.start();
	const key = await service.addSite('north');
	const of = (text: string) => linesOf(service.output).filter(({ msg }) => msg === text);

	// The SDK complains of a stream whose request it may not repeat, to the console unless it is told otherwise.
	store.fault = ({ method }) => (method === 'PUT' ? 'reset' : undefined);
	const stow = await fetch(`http://127.0.0.1:${service.port('fhir')}/dicomweb/studies`, {
		method: 'POST',
		headers: { 'X-API-Key': key, 'Content-Type': multipartType },
		body: new Uint8Array(multipartBody([file()])),
	});
	assert.equal(stow.status, 503);
	await eventually(() => of('the client of the object store complains').length > 0, 'what the SDK says');

	const client = await MllpClient.connect(service.port('mllp'));
	assert.equal(msa(await client.send(adt('1', 'LOG', 1))).code, 'AA');
	const name = new URL(database.url).pathname.slice(1);
	await administer(database.url, `alter database ${name} allow_connections false`);
	await administer(database.url, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
	const waiting = client.send(adt('2', 'LOG', 1));
	const trouble = 'the database does not take batches';
	await eventually(() => of(trouble).length > 0, 'the first line');
	await administer(database.url, `alter database ${name} allow_connections true`);
	assert.equal(msa(await waiting).code, 'AA');
	await eventually(() => of(`${trouble}: over`).length > 0, 'the end of it');
	const reasons = of(trouble).map(({ err }) => JSON.stringify((err as { cause?: { code?: string } }).cause?.code));
	assert.equal(new Set(reasons).size, reasons.length, `one line with a stack for each reason: ${reasons.join(', ')}`);
	client.close();
	assert.equal(await service.end('SIGTERM'), 0);
	linesOf(service.output);
});

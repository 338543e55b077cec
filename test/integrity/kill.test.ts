import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '#test/support/eventually.ts';
import { MllpLoad } from '#test/support/mllp-load.ts';
import { ServiceProcess } from '#test/support/service-process.ts';

describe('kill -9', () => {
	test('of the service and of its PostgreSQL under load loses nothing that was acknowledged', async () => {
		await using service = new ServiceProcess();
		await service.start();
		const key = await service.addSite('north');

		const first = new MllpLoad(service.port('mllp'), 'service', 6);
		await eventually(() => first.total > 300, 'acknowledgements');
		await service.end('SIGKILL');
		await first.ended();
		await service.start();
		await first.assertStored(service.port('fhir'), key);

		const second = new MllpLoad(service.port('mllp'), 'database', 6);
		await eventually(() => second.total > 300, 'acknowledgements');
		const before = service.databasePid;
		process.kill(before, 'SIGKILL');
		const atKill = second.total;
		await eventually(() => second.total > atKill + 300, 'acknowledgements after the database is back');
		assert.notEqual(service.databasePid, before);
		await service.end('SIGKILL');
		await second.ended();
		await service.start();
		await first.assertStored(service.port('fhir'), key);
		await second.assertStored(service.port('fhir'), key);
		assert.equal(await service.end('SIGTERM'), 0);
	});
});

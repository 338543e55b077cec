import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { adt } from '#test/support/adt.ts';
import { eventually } from '#test/support/eventually.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { ServiceProcess } from '#test/support/service-process.ts';

/** Senders that write without pause until their connection ends; they note what was acknowledged. */
class Load {
	readonly acknowledged = new Map<string, number>();
	readonly #senders: Promise<void>[];

	constructor(port: number, round: string, connections: number) {
		this.#senders = Array.from({ length: connections }, (_, index) => this.#send(port, `${round}-${index}`));
	}

	async #send(port: number, patient: string): Promise<void> {
		const client = await MllpClient.connect(port);
		const window: Promise<void>[] = [];
		try {
			for (let number = 0; ; number++) {
				const answered = client.send(adt(`${patient}-${number}`, patient, number)).then((answer) => {
					assert.equal(msa(answer).code, 'AA');
					this.acknowledged.set(patient, number);
				});
				window.push(answered);
				if (window.length === 8) await window.shift();
			}
		} catch (error) {
			if (!(error as Error).message.includes('without an answer')) throw error;
		}
		await Promise.allSettled(window);
	}

	get total(): number {
		let total = 0;
		for (const number of this.acknowledged.values()) total += number + 1;
		return total;
	}

	ended(): Promise<unknown> {
		return Promise.all(this.#senders);
	}
}

async function assertStored(service: ServiceProcess, key: string, load: Load): Promise<void> {
	for (const [patient, number] of load.acknowledged) {
		const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/Patient?identifier=${patient}`, {
			headers: { 'X-API-Key': key },
		});
		const { entry } = (await answer.json()) as { entry: { resource: { name: [{ family: string }]; meta: { versionId: string } } }[] };
		assert.equal(entry.length, 1, patient);
		const stored = Number(entry[0]?.resource.name[0].family.slice('Number'.length));
		assert.ok(stored >= number, `${patient}: ${number} was acknowledged and ${stored} is stored`);
		assert.equal(entry[0]?.resource.meta.versionId, String(stored + 1), `${patient}: nothing was applied twice`);
	}
}

describe('kill -9', () => {
	test('of the service and of its PostgreSQL under load loses nothing that was acknowledged', async () => {
		await using service = new ServiceProcess();
		await service.start();
		await service.cli('site', 'add', 'north', '--name', 'North');
		await service.cli('user', 'add', 'ann@example.org', '--admin');
		await service.cli('client', 'add', '--site', 'north', '--name', 'lab', '--protocol', 'hl7-mllp', '--allow-ip', '127.0.0.1');
		const { key } = JSON.parse((await service.cli('key', 'create', '--site', 'north', '--owner', 'ann@example.org', '--json')).stdout);

		const first = new Load(service.port('mllp'), 'service', 6);
		await eventually(() => first.total > 300, 'acknowledgements');
		await service.end('SIGKILL');
		await first.ended();
		await service.start();
		await assertStored(service, key, first);

		const second = new Load(service.port('mllp'), 'database', 6);
		await eventually(() => second.total > 300, 'acknowledgements');
		const before = service.databasePid;
		process.kill(before, 'SIGKILL');
		const atKill = second.total;
		await eventually(() => second.total > atKill + 300, 'acknowledgements after the database is back');
		assert.notEqual(service.databasePid, before);
		await service.end('SIGKILL');
		await second.ended();
		await service.start();
		await assertStored(service, key, first);
		await assertStored(service, key, second);
		assert.equal(await service.end('SIGTERM'), 0);
	});
});

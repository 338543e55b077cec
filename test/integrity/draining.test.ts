import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { adt } from '#test/support/adt.ts';
import { MllpClient } from '#test/support/mllp-client.ts';
import { eventually, testService } from '#test/support/service.ts';
import { listens } from '../../ops/cluster/listens.ts';

describe('the end of a service', () => {
	test('no surface takes anything while another one still drains, and what is under way is answered', async () => {
		const service = await testService({ PROCESSES: '1' });
		const { key } = await service.addSite('north', { allowed_ips: ['127.0.0.1'] });
		const ports = (['fhir', 'hl7', 'mpps', 'mllp', 'dimse', 'admin'] as const).map((name) => [name, service.port(name)] as const);
		const idle = await MllpClient.connect(service.port('mllp'));
		const message = Buffer.from(adt('held', 'HELD', 1));
		const socket = connect(service.port('hl7'), '127.0.0.1');
		let answer = '';
		socket.on('data', (chunk) => {
			answer += chunk;
		});
		const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
		const head = `POST /v2/ingest HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${key}\r\nContent-Type: application/hl7-v2\r\nContent-Length: ${message.length}\r\n\r\n`;
		await once(socket, 'connect');
		await new Promise<void>((resolve) => socket.write(Buffer.concat([Buffer.from(head), message.subarray(0, 40)]), () => resolve()));
		// A request that comes later is answered, so the first part of this one is read.
		await (await fetch(`http://127.0.0.1:${service.port('hl7')}/`)).text();
		const closing = service[Symbol.asyncDispose]();
		for (const [name, port] of ports) await eventually(async () => !(await listens(port)), `${name} takes nothing any more`);
		socket.write(message.subarray(40));
		await ended;
		assert.match(answer, /^HTTP\/1\.1 200 /);
		assert.match(answer, /\r\nconnection: close\r\n/i);
		assert.match(answer, /MSA\|AA\|held/);
		idle.close();
		await closing;
	});
});

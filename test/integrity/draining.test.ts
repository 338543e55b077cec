import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { adt } from '#test/support/adt.ts';
import { MllpClient } from '#test/support/mllp-client.ts';
import { eventually, testService } from '#test/support/service.ts';

/** Tells whether anybody listens at a port. */
function isOpen(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect(port, '127.0.0.1');
		socket.on('connect', () => {
			socket.destroy();
			resolve(true);
		});
		socket.on('error', () => resolve(false));
	});
}

describe('the end of a service', { timeout: 120_000 }, () => {
	test('no surface takes anything while another one still drains, and what is under way is answered', async () => {
		const service = await testService();
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
		socket.write(head);
		socket.write(message.subarray(0, 40));
		await eventually(async () => (await service.rows("select 1 from site where slug = 'north'")).length === 1, 'the site');
		const closing = service[Symbol.asyncDispose]();
		for (const [name, port] of ports) await eventually(async () => !(await isOpen(port)), `${name} takes nothing any more`);
		socket.write(message.subarray(40));
		await ended;
		assert.match(answer, /^HTTP\/1\.1 200 /);
		assert.match(answer, /\r\nconnection: close\r\n/i);
		assert.match(answer, /MSA\|AA\|held/);
		idle.close();
		await closing;
	});
});

import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import type { AccessDirectory } from '#access/directory.ts';
import { silentLog } from '#core/log.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import type { Reader } from '#storage/reader.ts';
import type { DicomWebContext } from '#surfaces/dicomweb/context.ts';
import { dicomWebRoutes } from '#surfaces/dicomweb/routes.ts';
import { eventually } from '#test/support/eventually.ts';
import type { FhirBody } from '#test/support/service.ts';
import { settled } from '#test/support/settled.ts';
import { defaultLimits } from '../../../src/limits.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { serve } from '../http/serving.ts';
import { file, multipartBody, multipartType } from './client.ts';

const MiB = 1024 * 1024;
const instanceBytes = 512 * MiB;

function context(given: Partial<DicomWebContext>): DicomWebContext {
	const grant = { keyId: 'k', siteId: 's', siteSlug: 's', settings: {} };
	const directory: AccessDirectory = { grantOfKey: () => grant, mayConnect: () => false, matchSender: () => ({ kind: 'no-address' }) };
	const run: Reader['run'] = async ({ text }) =>
		text.includes('group by')
			? [['1.2.840.10008.5.1.4.1.1.2', '1.2.840.10008.1.2.1', '1']]
			: [['1', '1.1', '1.1.1', '1.2.840.10008.5.1.4.1.1.2', '1.2.840.10008.1.2.1', 'key', String(instanceBytes)]];
	return {
		directory,
		tokens: { areTaken: false, grantOf: () => undefined },
		viewers: { grantOf: async () => undefined },
		reader: { run } as Reader,
		currentReader: { run } as Reader,
		objects: { size: async () => instanceBytes, read: () => assert.fail('nothing is read') },
		intake: { begin: () => assert.fail('nothing is stored') },
		renderer: { open: () => assert.fail('nothing is rendered'), frame: () => assert.fail('nothing is rendered') },
		accesses: { note: () => undefined },
		limits: defaultLimits,
		metrics: createMetrics({ processMetrics: false }),
		log: silentLog,
		...given,
	};
}

function opened(port: number): Promise<Socket> {
	return new Promise((resolve, reject) => {
		const socket = connect(port, '127.0.0.1', () => resolve(socket));
		socket.on('error', reject);
	});
}

test('of an instance that its caller does not take, little is read', async () => {
	let readBytes = 0;
	let isLeft = false;
	const read: ObjectStore['read'] = async function* () {
		try {
			for (; readBytes < instanceBytes; readBytes += 262_144) yield Buffer.alloc(262_144);
		} finally {
			isLeft = true;
		}
	};
	const server = await serve(dicomWebRoutes(context({ objects: { size: async () => instanceBytes, read } })));
	const socket = await opened(server.port);
	socket.pause();
	socket.write('GET /dicomweb/studies/1 HTTP/1.1\r\nHost: h\r\n\r\n');
	// What the sockets of both ends hold, and a few pieces.
	assert.ok((await settled(() => readBytes)) < 64 * MiB);
	socket.destroy();
	await eventually(() => isLeft, 'the end of the read');
	await server.close(1000);
});

test('when nothing can be stored now, the sender is told to send again', async () => {
	const result = { kind: 'refused', reason: 'not-now', text: 'the disk is full', attributes: undefined } as const;
	const reception = { write: () => undefined, finish: async () => result, abandon: async () => undefined };
	const server = await serve(dicomWebRoutes(context({ intake: { begin: () => reception } })));
	const headers = { 'Content-Type': multipartType };
	const answer = await fetch(`http://127.0.0.1:${server.port}/dicomweb/studies`, {
		method: 'POST',
		headers,
		body: multipartBody([file()]),
	});
	assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5']);
	const { '00081198': failed } = (await answer.json()) as FhirBody;
	assert.deepEqual(failed.Value[0]['00081197'], { vr: 'US', Value: [0xa700] });
	await server.close(1000);
});

test('of an instance that the store does not take, little is received', async () => {
	let takenBytes = 0;
	let isAbandoned = false;
	let release: () => void = () => undefined;
	const room = new Promise<void>((resolve) => {
		release = resolve;
	});
	const reception = {
		write: (chunk: Uint8Array) => {
			takenBytes += chunk.length;
			return takenBytes > MiB ? room : undefined;
		},
		finish: () => assert.fail('it is not whole'),
		abandon: async () => {
			isAbandoned = true;
		},
	};
	const server = await serve(dicomWebRoutes(context({ intake: { begin: () => reception } })));
	const socket = await opened(server.port);
	const headers = `Content-Type: ${multipartType}\r\nContent-Length: ${instanceBytes}`;
	socket.write(`POST /dicomweb/studies HTTP/1.1\r\nHost: h\r\n${headers}\r\n\r\n`);
	const head = multipartBody([file()]);
	socket.write(head.subarray(0, head.length - 30));
	let sentBytes = 0;
	const send = (): void => {
		while (sentBytes < instanceBytes / 2 && socket.write(Buffer.alloc(262_144))) sentBytes += 262_144;
	};
	socket.on('drain', send);
	send();
	assert.ok((await settled(() => sentBytes)) < 64 * MiB);
	assert.ok(takenBytes <= 4 * MiB, `${takenBytes}`);
	socket.destroy();
	release();
	await eventually(() => isAbandoned, 'the end of the reception');
	await server.close(1000);
});

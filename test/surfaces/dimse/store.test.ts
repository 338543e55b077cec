import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nilId } from '#core/id.ts';
import type { IntakeResult } from '#imaging/intake.ts';
import { instanceAttributes } from '#test/support/instance-attributes.ts';
import { abortPdu, associate, commandSet, data, echo, releaseRequest, responseOf, statusOf, store, textOf, value } from './peer.ts';
import { ctImage, explicitLittleEndian, gate, siteId, startSurface, verification } from './support.ts';

const bytes = (length: number, seed = 0) => Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 31 + seed) & 0xff));

test('a data set reaches the intake byte for byte, with what the command and the context say of it', async (context) => {
	const { port, intake } = await startSurface(context);
	const peer = await associate(context, port, { contexts: { 5: [ctImage, '1.2.840.10008.1.2.4.90'] } });
	const dataSet = bytes(50_000);
	peer.write(data(value(5, 'command', store(2))));
	for (let at = 0; at < dataSet.length; at += 9000)
		peer.write(data(value(5, 'data', dataSet.subarray(at, at + 9000), at + 9000 >= dataSet.length)));
	const answer = await peer.next();
	assert.equal(statusOf(answer), 0);
	assert.equal(responseOf(answer).get(0x0100)?.readUInt16LE(0), 0x8001);
	assert.equal(responseOf(answer).get(0x0120)?.readUInt16LE(0), 2);
	assert.equal(textOf(answer, 0x0002), ctImage);
	assert.equal(textOf(answer, 0x1000), '1.2.3.2');
	const [instance] = intake.taken;
	assert.deepEqual(instance?.announced, {
		siteId,
		surface: 'dimse',
		clientId: nilId,
		settings: {},
		callingAe: 'CT1',
		source: '127.0.0.1',
		affectedSopClassUid: ctImage,
		affectedSopInstanceUid: '1.2.3.2',
		transferSyntaxUid: '1.2.840.10008.1.2.4.90',
	});
	assert.ok(dataSet.equals(Buffer.concat(instance?.chunks ?? [])));
});

test('what became of the instance is the status of the answer', async (context) => {
	const { port, intake, counted } = await startSurface(context);
	const peer = await associate(context, port);
	const refused = { kind: 'refused', attributes: undefined } as const;
	const results: [IntakeResult, number][] = [
		[{ kind: 'quarantined', attributes: instanceAttributes() }, 0xb000],
		[{ ...refused, reason: 'not-now', text: 'ünfit\n\\'.repeat(20) }, 0xa700],
		[{ ...refused, reason: 'not-understood', text: 'no data set' }, 0xc000],
	];
	for (const [index, [result, status]] of results.entries()) {
		intake.result = () => Promise.resolve(result);
		const [answer] = await peer.ask(data(value(3, 'command', store(index)), value(3, 'data', bytes(10))));
		assert.ok(answer);
		assert.equal(statusOf(answer), status);
	}
	const comments = peer.received.slice(1).map((answer) => textOf(answer, 0x0902));
	assert.deepEqual(comments, ['other content is stored under this UID; kept aside', '?nfit??'.repeat(20).slice(0, 64), 'no data set']);
	assert.equal(await counted('dimseMessages', { operation: 'C-STORE', outcome: 'warning' }), 1);
	assert.equal(await counted('dimseMessages', { operation: 'C-STORE', outcome: 'failure' }), 2);
});

test('an intake that fails against its promise is a processing failure', async (context) => {
	const { port, intake } = await startSurface(context);
	const peer = await associate(context, port);
	intake.result = () => Promise.reject(new Error('a fault of the program'));
	const [answer] = await peer.ask(data(value(3, 'command', store()), value(3, 'data', bytes(10))));
	assert.ok(answer);
	assert.equal(statusOf(answer), 0x0110);
});

const refusals: [string, number, Buffer][] = [
	['another SOP class than that of the context', 0x0122, store(1, { 2: '1.2.840.10008.5.1.4.1.1.4' })],
	['no SOP class', 0x0122, commandSet({ 256: 1, 272: 1, 2048: 0, 4096: '1.2.3' })],
	['a SOP Instance UID that is none', 0x0117, store(1, { 4096: '../../etc/x' })],
	['a SOP Instance UID that is too long', 0x0117, store(1, { 4096: `1.${'2'.repeat(64)}` })],
	['an operation that is unknown', 0x0211, store(1, { 256: 0x0777 })],
	['an operation that the SOP class does not have', 0x0211, store(1, { 256: 0x0130 })],
	['an operation of another SOP class', 0x0122, store(1, { 256: 0x0020, 2: '1.2.840.10008.5.1.4.1.2.2.1' })],
];
for (const [what, status, command] of refusals) {
	test(`refused, its data set passed over: ${what}`, async (context) => {
		const { port, intake } = await startSurface(context);
		const peer = await associate(context, port);
		const [answer, next] = await peer.ask(
			Buffer.concat([data(value(3, 'command', command), value(3, 'data', bytes(5000))), data(value(1, 'command', echo()))]),
			2,
		);
		assert.ok(answer && next);
		assert.equal(statusOf(answer), status);
		assert.equal(statusOf(next), 0);
		assert.equal(intake.taken.length, 0);
	});
}

test('a C-STORE without a data set cannot be understood', async (context) => {
	const { port, intake } = await startSurface(context);
	const peer = await associate(context, port);
	const [answer] = await peer.ask(data(value(3, 'command', store(1, { 2048: 0x0101 }))));
	assert.ok(answer);
	assert.equal(statusOf(answer), 0xc000);
	assert.equal(intake.taken.length, 0);
});

test('a data set over the limit is abandoned and answered when it ends', async (context) => {
	const { port, intake } = await startSurface(context, { limits: { dimseObjectBytesMax: 10_000 } });
	const peer = await associate(context, port);
	peer.write(data(value(3, 'command', store())));
	for (let count = 0; count < 10; count++) peer.write(data(value(3, 'data', bytes(5000), count === 9)));
	const answer = await peer.next();
	assert.equal(statusOf(answer), 0xa700);
	assert.equal(intake.taken[0]?.ended, 'abandoned');
	assert.ok((intake.taken[0]?.chunks.reduce((sum, { length }) => sum + length, 0) ?? 0) <= 10_000);
});

test('two presentation data values in one PDU arrive whole and in order while the intake waits', async (context) => {
	const { port, intake } = await startSurface(context);
	const peer = await associate(context, port);
	const waiting: (() => void)[] = [];
	intake.room = () => {
		const { open, opened } = gate();
		waiting.push(open);
		setImmediate(() => waiting.shift()?.());
		return opened;
	};
	const parts = ['A', 'B', 'C', 'D', 'E', 'F'].map((letter) => Buffer.from(letter.repeat(6000)));
	const [a, b, c, d, e, f] = parts.map((part, index) => value(3, 'data', part, index === parts.length - 1)) as [
		Buffer,
		Buffer,
		Buffer,
		Buffer,
		Buffer,
		Buffer,
	];
	peer.write(data(value(3, 'command', store())), data(a, b), data(c), data(d, e), data(f));
	assert.equal(statusOf(await peer.next()), 0);
	const [instance] = intake.taken;
	assert.equal(Buffer.concat(instance?.chunks ?? []).toString(), Buffer.concat(parts).toString());
	assert.equal(instance?.overlapping, 0);
});

for (const [what, pieceBytes, together] of [
	['one PDU for each byte', 1, false],
	['one PDU for each few bytes', 7, false],
	['one PDU with a value for each byte', 1, true],
] as const) {
	test(`a command set in pieces, ${what}`, async (context) => {
		const { port, intake } = await startSurface(context);
		const peer = await associate(context, port);
		const pieces = (kind: 'command' | 'data', whole: Buffer) =>
			Array.from({ length: Math.ceil(whole.length / pieceBytes) }, (_, index) => {
				const end = (index + 1) * pieceBytes;
				return value(3, kind, whole.subarray(end - pieceBytes, end), end >= whole.length);
			});
		const values = [...pieces('command', store(5)), ...pieces('data', bytes(99))];
		peer.write(...(together ? [data(...values)] : values.map((one) => data(one))));
		assert.equal(statusOf(await peer.next()), 0);
		assert.equal(intake.taken[0]?.announced.affectedSopInstanceUid, '1.2.3.5');
		assert.deepEqual(Buffer.concat(intake.taken[0]?.chunks ?? []), bytes(99));
	});
}

test('values of no length are no harm, between the bytes and as the last', async (context) => {
	const { port, intake } = await startSurface(context);
	const peer = await associate(context, port);
	const nothing = (kind: 'command' | 'data', isLast = false) => value(3, kind, Buffer.alloc(0), isLast);
	peer.write(
		data(nothing('command'), nothing('command')),
		data(value(3, 'command', store(), false), nothing('command', true)),
		data(nothing('data'), value(3, 'data', bytes(5000), false), nothing('data')),
		...Array.from({ length: 100 }, () => data(nothing('data'))),
		data(nothing('data', true)),
	);
	assert.equal(statusOf(await peer.next()), 0);
	assert.deepEqual(Buffer.concat(intake.taken[0]?.chunks ?? []), bytes(5000));
	// A data set of nothing is a data set.
	const [answer] = await peer.ask(data(value(3, 'command', store(2)), nothing('data', true)));
	assert.ok(answer);
	assert.equal(statusOf(answer), 0);
	assert.deepEqual(intake.taken[1]?.chunks, []);
});

test('a release behind an object that is being stored waits for its answer', async (context) => {
	const { port, intake } = await startSurface(context);
	const open = intake.hold();
	const peer = await associate(context, port);
	peer.write(data(value(3, 'command', store()), value(3, 'data', bytes(10))), releaseRequest);
	await (await intake.instance(0)).end;
	open();
	assert.equal(statusOf(await peer.next()), 0);
	assert.equal((await peer.next()).type, 6);
});

test('while the intake waits nothing more is read, however much is sent', async (context) => {
	const { port, intake, counted } = await startSurface(context);
	const peer = await associate(context, port);
	const { open, opened } = gate();
	intake.room = () => opened;
	peer.write(data(value(3, 'command', store())));
	const part = bytes(16_000);
	const total = 40_000_000;
	for (let sent = 0; sent < total; sent += part.length) peer.write(data(value(3, 'data', part, sent + part.length >= total)));
	const instance = await intake.instance(0);
	while ((await counted('dimseAssociationsPaused')) === 0) await new Promise((resolve) => setImmediate(resolve));
	// Another association goes on meanwhile; its answer says that the first had its turn.
	const other = await associate(context, port);
	await other.ask(data(value(1, 'command', echo())));
	// The A-ASSOCIATE-RQ, the command and one read of 256 KiB.
	assert.ok((await counted('dimseReceivedBytes')) < 300_000);
	assert.equal(instance.chunks.length, 1);
	intake.room = undefined;
	open();
	assert.equal(statusOf(await peer.next()), 0);
	assert.ok(instance.chunks.reduce((sum, { length }) => sum + length, 0) >= total);
});

test('a sender of single bytes is stored, and its pieces are put together', async (context) => {
	const { port, intake } = await startSurface(context);
	const peer = await associate(context, port);
	const dataSet = bytes(700);
	const stream = Buffer.concat([
		data(value(3, 'command', store())),
		data(value(3, 'data', dataSet.subarray(0, 400), false)),
		data(value(3, 'data', dataSet.subarray(400))),
	]);
	for (const byte of stream) {
		await new Promise<void>((resolve) => {
			peer.socket.write(Buffer.from([byte]), () => resolve());
		});
	}
	assert.equal(statusOf(await peer.next()), 0);
	assert.deepEqual(intake.taken[0]?.chunks, [dataSet]);
});

const deaths: [string, (peer: Awaited<ReturnType<typeof associate>>) => void][] = [
	['dies', (peer) => peer.socket.resetAndDestroy()],
	['closes', (peer) => peer.socket.end()],
	['aborts', (peer) => peer.write(abortPdu)],
	['releases', (peer) => peer.write(releaseRequest)],
	['begins another message', (peer) => peer.write(data(value(3, 'command', store(2))))],
];
for (const [what, die] of deaths) {
	test(`a sender that ${what} within an object leaves nothing`, async (context) => {
		const { port, intake, counted } = await startSurface(context);
		const peer = await associate(context, port);
		peer.write(data(value(3, 'command', store())), data(value(3, 'data', bytes(8000), false)));
		const instance = await intake.instance(0);
		die(peer);
		await instance.end;
		assert.equal(instance.ended, 'abandoned');
		assert.equal(await counted('dimseMessages', { operation: 'C-STORE', outcome: 'abandoned' }), 1);
	});
}

test('a sender that stalls within an object is aborted, and leaves nothing', async (context) => {
	const { port, intake, counted } = await startSurface(context, { limits: { dimseStallMsMax: 100 } });
	const peer = await associate(context, port);
	peer.write(data(value(3, 'command', store())), data(value(3, 'data', bytes(8000), false)));
	const instance = await intake.instance(0);
	assert.deepEqual(await peer.next(), { type: 7, body: Buffer.alloc(4) });
	await instance.end;
	assert.equal(instance.ended, 'abandoned');
	peer.socket.destroy();
	await peer.closed;
	assert.equal(await counted('dimseMessages', { outcome: 'abandoned' }), 1);
});

test('a sender that dies while the intake waits leaves nothing', async (context) => {
	const { port, intake } = await startSurface(context, { limits: { dimseStallMsMax: 100 } });
	const { open, opened } = gate();
	intake.room = () => opened;
	const peer = await associate(context, port);
	peer.write(data(value(3, 'command', store())), data(value(3, 'data', bytes(8000), false)));
	const instance = await intake.instance(0);
	peer.socket.resetAndDestroy();
	open();
	await instance.end;
	assert.equal(instance.ended, 'abandoned');
});

test('draining answers the object that was received whole', async (context) => {
	const { port, intake, surface } = await startSurface(context);
	const open = intake.hold();
	const peer = await associate(context, port);
	peer.write(data(value(3, 'command', store()), value(3, 'data', bytes(10))));
	const instance = await intake.instance(0);
	await instance.end;
	const closing = surface.close(10_000);
	open();
	assert.equal(statusOf(await peer.next()), 0);
	assert.equal((await peer.next()).type, 7);
	await closing;
});

test('draining lets the object under way come to its end, and no other begin', async (context) => {
	const { port, intake, surface } = await startSurface(context);
	const peer = await associate(context, port);
	peer.write(data(value(3, 'command', store())), data(value(3, 'data', bytes(8000), false)));
	await intake.instance(0);
	const closing = surface.close(10_000);
	peer.write(data(value(3, 'data', bytes(5000), false)), data(value(3, 'data', bytes(10))), data(value(3, 'command', store(2), false)));
	assert.equal(statusOf(await peer.next()), 0);
	assert.equal((await peer.next()).type, 7);
	await closing;
	assert.deepEqual(
		intake.taken.map(({ ended }) => ended),
		['finished'],
	);
});

test('draining waits no longer than it is told for an object that does not go on', async (context) => {
	const { port, intake, surface } = await startSurface(context);
	const peer = await associate(context, port);
	peer.write(data(value(3, 'command', store())), data(value(3, 'data', bytes(8000), false)));
	await intake.instance(0);
	await surface.close(50);
	await peer.closed;
	assert.equal(intake.taken[0]?.ended, 'abandoned');
});

test('many objects on many associations', async (context) => {
	const { port, intake } = await startSurface(context);
	await Promise.all(
		Array.from({ length: 16 }, async (_, index) => {
			const peer = await associate(context, port, {
				calling: `CT${index}`,
				contexts: { 1: [verification, explicitLittleEndian], 3: [ctImage, explicitLittleEndian] },
			});
			for (let message = 1; message <= 20; message++) {
				const [answer] = await peer.ask(data(value(3, 'command', store(message)), value(3, 'data', bytes(3000, index + message))));
				assert.ok(answer);
				assert.equal(statusOf(answer), 0);
			}
		}),
	);
	assert.equal(intake.taken.length, 320);
	for (const { announced, chunks } of intake.taken) {
		const seed = Number(announced.callingAe.slice(2)) + Number(announced.affectedSopInstanceUid.slice(6));
		assert.ok(Buffer.concat(chunks).equals(bytes(3000, seed)));
	}
});

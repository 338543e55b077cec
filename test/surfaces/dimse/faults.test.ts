import assert from 'node:assert/strict';
import { test } from 'node:test';
import { abortReasons } from '#surfaces/dimse/pdu.ts';
import {
	associate,
	associateRequest,
	commandSet,
	connect,
	data,
	echo,
	item,
	pdu,
	releaseRequest,
	statusOf,
	store,
	uint32,
	value,
} from './peer.ts';
import { ctImage, explicitLittleEndian, startSurface, verification } from './support.ts';

/** What breaks the protocol is answered by A-ABORT; nothing of it is kept, and the surface goes on. */

const byUser = Buffer.alloc(4);
const byProvider = (reason: keyof typeof abortReasons) => Buffer.from([0, 0, 2, abortReasons[reason]]);

const beforeAssociation: [string, Buffer][] = [
	['random bytes', Buffer.from('a4ff00000010deadbeefcafe', 'hex')],
	['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: example.org\r\n\r\n')],
	['TLS', Buffer.from('16030100c8010000c40303', 'hex')],
	['a PROXY header of nobody in particular', Buffer.from('PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n')],
	['a PDU of 4 GiB', pdu(1, Buffer.alloc(10_000), 0xff_ff_ff_ff)],
	['an A-ASSOCIATE-RQ over the limit', pdu(1, Buffer.alloc(100), 600 * 1024)],
	['an A-ASSOCIATE-RQ that is too short', pdu(1, Buffer.alloc(20))],
	['data', data(value(1, 'command', echo()))],
	['a release', releaseRequest],
	['an acceptance', pdu(2, Buffer.alloc(70))],
	['a rejection', pdu(3, Buffer.alloc(4))],
	['a release response', pdu(6, Buffer.alloc(4))],
	['an item that is longer than what holds it', associateRequest({ items: [Buffer.from([0x10, 0, 0xff, 0xff, 1])] })],
	['an item that is cut off', associateRequest({ user: [Buffer.from([0x51, 0])] })],
	['two presentation contexts with one number', associateRequest({ items: [item(0x20, Buffer.from([1, 0, 0, 0]), item(0x30, ctImage))] })],
	['a presentation context with an even number', associateRequest({ contexts: { 2: [ctImage, explicitLittleEndian] } })],
	['a presentation context without an abstract syntax', associateRequest({ items: [item(0x20, Buffer.from([9, 0, 0, 0]))] })],
	['a role selection that is cut off', associateRequest({ user: [item(0x54, Buffer.from([0, 90]), '1.2')] })],
];
for (const [what, bytes] of beforeAssociation) {
	test(`aborted before an association: ${what}`, async (context) => {
		const { port, counted } = await startSurface(context);
		const peer = await connect(context, port);
		assert.deepEqual(await peer.ask(bytes), [{ type: 7, body: byUser }]);
		peer.socket.end();
		await peer.closed;
		assert.equal(peer.received.length, 1);
		assert.equal(await counted('dimseAssociationEnds', { reason: 'protocol' }), 1);
	});
}

const withinAssociation: [string, Buffer, keyof typeof abortReasons][] = [
	['a second A-ASSOCIATE-RQ', associateRequest(), 'unexpected-PDU'],
	['an acceptance', pdu(2, Buffer.alloc(70)), 'unexpected-PDU'],
	['a release response', pdu(6, Buffer.alloc(4)), 'unexpected-PDU'],
	['an unknown PDU', pdu(0x42, Buffer.alloc(4)), 'unrecognized-PDU'],
	['a release of another length', pdu(5, Buffer.alloc(8)), 'invalid-PDU-parameter-value'],
	['a PDU longer than announced', pdu(4, Buffer.alloc(10), 200_000), 'invalid-PDU-parameter-value'],
	['a PDU of 4 GiB', pdu(4, Buffer.alloc(10), 0xff_ff_ff_ff), 'invalid-PDU-parameter-value'],
	['a PDU without a presentation data value', pdu(4, Buffer.alloc(0)), 'invalid-PDU-parameter-value'],
	['a value longer than its PDU', data(Buffer.concat([uint32(500), Buffer.from([1, 3]), echo()])), 'invalid-PDU-parameter-value'],
	['a value without a header', data(Buffer.concat([uint32(1), Buffer.from([1, 3])])), 'invalid-PDU-parameter-value'],
	['bytes behind the last value', data(value(1, 'command', echo(), false), Buffer.from([0, 0, 0])), 'invalid-PDU-parameter-value'],
	['a presentation context that was rejected', data(value(5, 'command', echo())), 'invalid-PDU-parameter-value'],
	['a presentation context that was never proposed', data(value(99, 'command', echo())), 'invalid-PDU-parameter-value'],
	['data without a command', data(value(3, 'data', Buffer.alloc(10))), 'unexpected-PDU-parameter'],
	[
		'a command in two contexts',
		data(value(1, 'command', echo().subarray(0, 8), false), value(3, 'command', echo().subarray(8))),
		'unexpected-PDU-parameter',
	],
	['data in another context', data(value(3, 'command', store()), value(1, 'data', Buffer.alloc(10))), 'unexpected-PDU-parameter'],
	['a command within a data set', data(value(3, 'command', store()), value(3, 'command', store())), 'unexpected-PDU-parameter'],
	[
		'a response to nothing',
		data(value(1, 'command', commandSet({ 256: 0x8030, 288: 1, 2048: 0x0101, 2304: 0 }))),
		'unexpected-PDU-parameter',
	],
	['no command set', data(value(1, 'command', Buffer.from('no command set at all'))), 'invalid-PDU-parameter-value'],
	['a command set of another group', data(value(1, 'command', Buffer.from('0800160000000000', 'hex'))), 'invalid-PDU-parameter-value'],
	['a command set without a command', data(value(1, 'command', commandSet({ 272: 1, 2048: 0x0101 }))), 'invalid-PDU-parameter-value'],
	['an element of 2 GiB', data(value(1, 'command', Buffer.from('00000001f0ffff7f3000', 'hex'))), 'invalid-PDU-parameter-value'],
];
for (const [what, bytes, reason] of withinAssociation) {
	test(`aborted within an association: ${what}`, async (context) => {
		const { port, intake, counted } = await startSurface(context);
		const peer = await associate(context, port, {
			contexts: {
				1: [verification, explicitLittleEndian],
				3: [ctImage, explicitLittleEndian],
				5: ['1.2.840.10008.5.1.4.1.2.2.1', explicitLittleEndian],
			},
		});
		assert.deepEqual(await peer.ask(bytes), [{ type: 7, body: byProvider(reason) }]);
		// What comes after the abort is not acted upon.
		peer.write(data(value(1, 'command', echo())));
		peer.socket.end();
		await peer.closed;
		assert.equal(peer.received.length, 2);
		assert.equal(await counted('dimseAssociations'), 0);
		assert.deepEqual(
			intake.taken.map(({ ended }) => ended),
			intake.taken.map(() => 'abandoned'),
		);
	});
}

test('a command set without end is aborted at the limit', async (context) => {
	const { port } = await startSurface(context, { limits: { dimsePduBytesMax: 4096 } });
	const peer = await associate(context, port);
	peer.write(data(value(1, 'command', Buffer.alloc(4000), false)), data(value(1, 'command', Buffer.alloc(4000), false)));
	assert.deepEqual(await peer.next(), { type: 7, body: byProvider('invalid-PDU-parameter-value') });
});

test('A-ASSOCIATE-RQ after the release is aborted', async (context) => {
	const { port } = await startSurface(context);
	const peer = await associate(context, port);
	const [released, aborted] = await peer.ask(Buffer.concat([releaseRequest, associateRequest()]), 2);
	assert.equal(released?.type, 6);
	assert.deepEqual(aborted, { type: 7, body: byProvider('unexpected-PDU') });
});

test('a cancellation of nothing is not answered', async (context) => {
	const { port } = await startSurface(context);
	const peer = await associate(context, port);
	const cancel = commandSet({ 256: 0x0fff, 288: 1, 2048: 0x0101 });
	const [answer] = await peer.ask(data(value(1, 'command', cancel), value(1, 'command', echo(9))));
	assert.ok(answer);
	assert.equal(statusOf(answer), 0);
});

test('a peer that takes no answers is read no further, and aborted in the end', async (context) => {
	const { port, counted } = await startSurface(context, { limits: { dimseStallMsMax: 300, dimseArtimMsMax: 300 } });
	const peer = await associate(context, port);
	peer.socket.pause();
	const many = Buffer.concat(Array.from({ length: 500 }, (_, index) => data(value(1, 'command', echo(index)))));
	let isOpen = true;
	void peer.closed.then(() => {
		isOpen = false;
	});
	while (isOpen && (await counted('dimseAssociationEnds')) === 0) {
		if (!peer.socket.writableNeedDrain) peer.write(many);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
	assert.equal(await counted('dimseAssociationEnds', { reason: 'stalled' }), 1);
});

test('a fault of the program ends the association in which it lies, and no other', async (context) => {
	const entry = {
		begin: () => {
			throw new Error('a fault of the program');
		},
	};
	const { port, counted } = await startSurface(context, { entry });
	const other = await associate(context, port);
	const peer = await associate(context, port);
	peer.write(data(value(3, 'command', store())));
	await peer.closed;
	assert.equal(await counted('dimseAssociationEnds', { reason: 'error' }), 1);
	const [answer] = await other.ask(data(value(1, 'command', echo())));
	assert.ok(answer);
	assert.equal(statusOf(answer), 0);
	assert.equal(await counted('dimseAssociations'), 1);
});

test('a peer that is slow again and again is waited for without a trace', async (context) => {
	const { port, counted } = await startSurface(context);
	const warnings: Error[] = [];
	const warned = (warning: Error) => {
		if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning);
	};
	process.on('warning', warned);
	context.after(() => process.off('warning', warned));
	const peer = await associate(context, port);
	// A SOP class of another context is refused, and repeated in the answer.
	const long = data(value(1, 'command', commandSet({ 2: '1.2'.repeat(20_000), 256: 0x0030, 272: 1, 2048: 0x0101 })));
	const isLast = ({ type, body }: { type: number; body: Buffer }) => type === 4 && ((body[5] ?? 0) & 2) === 2;
	let asked = 0;
	for (let round = 0; round < 12; round++) {
		peer.socket.pause();
		for (let waited = 0; waited < 3; ) {
			peer.write(long);
			asked += 1;
			await new Promise((resolve) => setImmediate(resolve));
			waited = (await counted('dimseAssociationsPaused')) === 1 ? waited + 1 : 0;
		}
		peer.socket.resume();
		while (peer.received.filter(isLast).length < asked) await peer.next();
	}
	assert.deepEqual(warnings, []);
	assert.equal(await counted('dimseAssociations'), 1);
});

test('a release that is asked for twice is answered once; a release response from one who asked is no collision here', async (context) => {
	const { port, counted } = await startSurface(context);
	const twice = await associate(context, port);
	twice.write(releaseRequest, releaseRequest, data(value(1, 'command', echo())));
	assert.equal((await twice.next()).type, 6);
	twice.socket.end();
	await twice.closed;
	assert.equal(twice.received.length, 2);
	// PS3.8 §9.2.3: only a side that asked for the release itself can meet a request of the other.
	const both = await associate(context, port);
	both.write(releaseRequest, pdu(6, Buffer.alloc(4)));
	assert.equal((await both.next()).type, 6);
	both.socket.end();
	await both.closed;
	assert.equal(await counted('dimseAssociationEnds', { reason: 'released' }), 2);
});

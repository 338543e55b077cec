import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { implementationClassUid } from '#dicom/implementation.ts';
import { transferSyntaxes } from '#dicom/transfer-syntax.ts';
import { rejections } from '#surfaces/dimse/pdu.ts';
import { eventually } from '#test/support/eventually.ts';
import {
	abortPdu,
	acceptOf,
	associate,
	associateRequest,
	connect,
	data,
	echo,
	item,
	type Proposal,
	pdu,
	releaseRequest,
	statusOf,
	store,
	textOf,
	uint32,
	value,
} from './peer.ts';
import { ctImage, explicitLittleEndian, implicitLittleEndian, procedureStep, startSurface, verification } from './support.ts';

const jpegLossless = '1.2.840.10008.1.2.4.70';

test('an association is requested, used and released', async (context) => {
	const { port, directory, counted } = await startSurface(context);
	const peer = await connect(context, port);
	const [accept] = await peer.ask(associateRequest({ called: ' WEST', calling: 'CT1' }));
	assert.equal(accept?.type, 2);
	assert.equal(accept.body.toString('latin1', 4, 36), ' WEST           CT1             ');
	assert.deepEqual(directory.asked, [['WEST', 'CT1', '127.0.0.1']]);
	assert.equal(await counted('dimseAssociations'), 1);
	const [answer] = await peer.ask(data(value(1, 'command', echo(7))));
	assert.ok(answer);
	assert.equal(statusOf(answer), 0);
	assert.equal(textOf(answer, 0x0002), verification);
	const [released] = await peer.ask(releaseRequest);
	assert.deepEqual(released, { type: 6, body: Buffer.alloc(4) });
	peer.socket.end();
	await peer.closed;
	assert.equal(await counted('dimseAssociations'), 0);
	assert.equal(await counted('dimseMessages', { operation: 'C-ECHO', outcome: 'success' }), 1);
});

test('each presentation context gets the first transfer syntax that is known, or else the first', async (context) => {
	const { port } = await startSurface(context);
	const peer = await connect(context, port);
	const contexts: Proposal['contexts'] = {
		1: [ctImage, '1.2.840.113619.9.9', jpegLossless, explicitLittleEndian],
		3: [ctImage, '1.2.3.4', '1.2.3.5'],
		5: [ctImage],
		7: [procedureStep, jpegLossless],
		9: [procedureStep, implicitLittleEndian, jpegLossless],
		11: ['1.2.840.10008.5.1.4.31', implicitLittleEndian],
		13: ['not a uid', implicitLittleEndian],
		15: ['1.3.12.2.1107.5.9.1', explicitLittleEndian],
		17: ['1.2.840.10008.5.1.4.1.1.999', 'no uid', explicitLittleEndian],
		255: [verification, '1.2.3.4'],
	};
	const [accept] = await peer.ask(associateRequest({ contexts }));
	assert.ok(accept);
	assert.deepEqual(acceptOf(accept).contexts, {
		1: [0, jpegLossless],
		3: [0, '1.2.3.4'],
		5: [4, implicitLittleEndian],
		7: [4, implicitLittleEndian],
		9: [0, implicitLittleEndian],
		11: [3, implicitLittleEndian],
		13: [3, implicitLittleEndian],
		15: [0, explicitLittleEndian],
		17: [0, explicitLittleEndian],
		255: [0, '1.2.3.4'],
	});
});

test('private SOP classes are refused where the policy says so', async (context) => {
	const { port } = await startSurface(context, { storesUnknownSopClasses: false });
	const peer = await connect(context, port);
	const [accept] = await peer.ask(associateRequest({ contexts: { 1: ['1.3.12.2.1107.5.9.1', explicitLittleEndian] } }));
	assert.ok(accept);
	assert.deepEqual(acceptOf(accept).contexts, { 1: [3, implicitLittleEndian] });
});

for (const pduBytesMax of [0, 16, 4096, 0xff_ff_ff_ff]) {
	test(`our maximum length is announced, whatever the peer's is: ${pduBytesMax}`, async (context) => {
		const { port } = await startSurface(context, { limits: { dimsePduBytesMax: 65_536 } });
		const peer = await connect(context, port);
		const [accept] = await peer.ask(associateRequest({ pduBytesMax }));
		assert.ok(accept);
		assert.deepEqual(acceptOf(accept).user.get(0x51), [uint32(65_536)]);
		assert.equal(acceptOf(accept).user.get(0x52)?.toString(), implementationClassUid);
		peer.write(data(value(1, 'command', echo())));
		const answer = [await peer.next()];
		while (((answer.at(-1)?.body[5] ?? 0) & 2) === 0) answer.push(await peer.next());
		for (const { body } of answer) assert.ok(pduBytesMax === 0 || body.length <= pduBytesMax);
		const command = Buffer.concat([answer[0]?.body.subarray(0, 6) ?? Buffer.alloc(0), ...answer.map(({ body }) => body.subarray(6))]);
		assert.equal(statusOf({ type: 4, body: command }), 0);
	});
}

test('a maximum length that leaves no room for an answer is aborted', async (context) => {
	const { port } = await startSurface(context);
	const peer = await connect(context, port);
	const [answer] = await peer.ask(associateRequest({ pduBytesMax: 6 }));
	assert.equal(answer?.type, 7);
});

test('a window for asynchronous operations is answered with one, roles with SCU alone', async (context) => {
	const { port } = await startSurface(context);
	const peer = await connect(context, port);
	const role = (uid: string, scu: number, scp: number) => item(0x54, Buffer.from([0, uid.length]), uid, Buffer.from([scu, scp]));
	const mr = '1.2.840.10008.5.1.4.1.1.4';
	const [accept] = await peer.ask(
		associateRequest({
			contexts: { 1: [ctImage, explicitLittleEndian], 3: [mr, explicitLittleEndian] },
			user: [item(0x53, Buffer.alloc(4)), role(ctImage, 1, 1), role(mr, 0, 1), role('1.2.3', 1, 1)],
		}),
	);
	assert.ok(accept);
	const { contexts, user } = acceptOf(accept);
	assert.deepEqual(contexts, { 1: [0, explicitLittleEndian], 3: [1, implicitLittleEndian] });
	assert.deepEqual(user.get(0x53), [Buffer.from([0, 1, 0, 1])]);
	assert.deepEqual(user.get(0x54), [role(ctImage, 1, 0).subarray(4)]);
});

test('items that are not known are passed over', async (context) => {
	const { port } = await startSurface(context);
	const unknown = [item(0x7e, 'something'), item(0x00, '')];
	const identity = item(0x58, Buffer.from([1, 1, 0, 4]), 'user', Buffer.from([0, 0]));
	const peer = await associate(context, port, { items: unknown, user: [item(0x99, 'other'), identity, item(0x56, 'x')] });
	const [answer] = await peer.ask(data(value(1, 'command', echo())));
	assert.ok(answer);
	assert.equal(statusOf(answer), 0);
});

test('roles without number are answered once for each SOP class', async (context) => {
	const { port } = await startSurface(context);
	const role = item(0x54, Buffer.from([0, ctImage.length]), ctImage, Buffer.from([1, 0]));
	const many = item(0x50, ...Array.from({ length: 1500 }, () => role));
	const peer = await associate(context, port, { items: [many, many, many] });
	const [accept] = peer.received;
	assert.ok(accept);
	assert.deepEqual(acceptOf(accept).user.get(0x54), [role.subarray(4)]);
	const [answer] = await peer.ask(data(value(1, 'command', echo())));
	assert.ok(answer);
	assert.equal(statusOf(answer), 0);
});

test('all 128 presentation contexts are negotiated, and the last one is used', async (context) => {
	const { port, intake } = await startSurface(context);
	const numbers = Array.from({ length: 128 }, (_, index) => 2 * index + 1);
	const contexts = Object.fromEntries(
		numbers.map((id) => [id, [id % 4 === 1 ? ctImage : `1.2.840.10008.5.1.4.31.${id}`, ...transferSyntaxes.keys()]]),
	) as NonNullable<Proposal['contexts']>;
	contexts[255] = [ctImage, explicitLittleEndian];
	const peer = await associate(context, port, { contexts });
	const [accept] = peer.received;
	assert.ok(accept);
	const answers = acceptOf(accept).contexts;
	assert.deepEqual(Object.keys(answers).map(Number), numbers);
	for (const id of numbers) assert.equal(answers[id]?.[0], id % 4 === 1 || id === 255 ? 0 : 3);
	const [answer] = await peer.ask(data(value(255, 'command', store()), value(255, 'data', Buffer.from('the data set'))));
	assert.ok(answer);
	assert.equal(statusOf(answer), 0);
	assert.equal(intake.taken[0]?.announced.transferSyntaxUid, explicitLittleEndian);
});

for (const version of [1, 3, 0x8001, 0xffff]) {
	test(`bit 0 alone tells the protocol version: ${version}`, async (context) => {
		const { port } = await startSurface(context);
		const request = associateRequest();
		request.writeUInt16BE(version, 6);
		const peer = await connect(context, port);
		const [accept] = await peer.ask(request);
		assert.deepEqual([accept?.type, accept?.body.readUInt16BE(0)], [2, 1]);
	});
}

for (const [called, calling, expected] of [
	['  WEST', '  CT 1', 'CT 1'],
	['WEST\0\0', 'CT1\0', 'CT1'],
	[' WEST ', 'SIXTEEN LETTERS.', 'SIXTEEN LETTERS.'],
] as const) {
	test(`blanks and NULs around an AE title do not count: ${JSON.stringify([called, calling])}`, async (context) => {
		const { port, directory } = await startSurface(context);
		await associate(context, port, { called, calling });
		assert.deepEqual(directory.asked, [['WEST', expected, '127.0.0.1']]);
	});
}

const oddUserItems: [string, Buffer[]][] = [
	['nothing but odd lengths', [item(0x52, '1.2.345'), item(0x55, 'ODD'), item(0x59, 'x')]],
	['empty items', [item(0x52), item(0x53), item(0x55), item(0x56), item(0x57), item(0x58), item(0x59)]],
	['a window of one byte', [item(0x53, Buffer.from([7]))]],
	['an item of 60,000 bytes', [item(0x7f, Buffer.alloc(60_000))]],
	['a role for a class that is not proposed', [item(0x54, Buffer.from([0, 3]), '9.9', Buffer.from([1, 1]))]],
	['a role with bytes behind it', [item(0x54, Buffer.from([0, 3]), '9.9', Buffer.from([1, 1, 5]))]],
];
for (const [what, user] of oddUserItems) {
	test(`user information of odd sizes is taken: ${what}`, async (context) => {
		const { port } = await startSurface(context);
		const peer = await associate(context, port, { user });
		const [answer] = await peer.ask(data(value(1, 'command', echo())));
		assert.ok(answer);
		assert.equal(statusOf(answer), 0);
	});
}

for (const length of [0, 1, 2, 3, 5, 8]) {
	test(`a maximum length of ${length} bytes is aborted`, async (context) => {
		const { port } = await startSurface(context);
		const peer = await connect(context, port);
		assert.equal((await peer.ask(associateRequest({ user: [item(0x51, Buffer.alloc(length, 1))] })))[0]?.type, 7);
	});
}

test('a request without user information is one without a maximum length', async (context) => {
	const { port } = await startSurface(context);
	const whole = associateRequest();
	// The user information is last: its head, maximum length, implementation class UID.
	const without = pdu(1, whole.subarray(6, whole.length - (4 + 8 + 9)));
	const peer = await connect(context, port);
	const [accept] = await peer.ask(without);
	assert.equal(accept?.type, 2);
	assert.equal(statusOf((await peer.ask(data(value(1, 'command', echo()))))[0] ?? { type: 0, body: Buffer.alloc(6) }), 0);
});

const refusals: [keyof typeof rejections, Proposal][] = [
	['called', { called: 'NOWHERE' }],
	['called', { called: '' }],
	['called', { called: 'a\\b' }],
	['calling', { calling: 'STRANGER' }],
	['calling', { calling: '' }],
	['version', { version: 2 }],
	['application-context', { applicationContext: '1.2.3' }],
];
for (const [rejection, proposal] of refusals) {
	test(`rejected: ${rejections[rejection].means} (${JSON.stringify(proposal)})`, async (context) => {
		const { port, directory, refused, counted } = await startSurface(context);
		directory.refused.add('STRANGER');
		const peer = await connect(context, port);
		const [answer] = await peer.ask(associateRequest(proposal));
		const { result, source, reason } = rejections[rejection];
		assert.deepEqual(answer, { type: 3, body: Buffer.from([0, result, source, reason]) });
		assert.equal(await counted('dimseAssociationRequests', { result: `rejected-${rejection}` }), 1);
		const isAudited = rejection === 'called' || rejection === 'calling';
		assert.deepEqual(refused, isAudited ? [{ address: '127.0.0.1', reason: rejection }] : []);
	});
}

test('one association too many is rejected for now, and taken when another has ended', async (context) => {
	const { port, surface } = await startSurface(context, { limits: { dimseAssociationsMax: 2 } });
	const first = await associate(context, port);
	await associate(context, port);
	const third = await connect(context, port);
	const [answer] = await third.ask(associateRequest());
	const { result, source, reason } = rejections.limit;
	assert.deepEqual(answer, { type: 3, body: Buffer.from([0, result, source, reason]) });
	await first.ask(releaseRequest);
	third.socket.destroy();
	first.socket.destroy();
	await associate(context, port);
	assert.ok(surface);
});

test('twice as many connections are closed at once', async (context) => {
	const { port, counted } = await startSurface(context, { limits: { dimseAssociationsMax: 1 } });
	const held = [await associate(context, port), await connect(context, port)];
	// The second is known to be accepted when it is answered.
	await held[1]?.ask(associateRequest());
	const third = await connect(context, port);
	await third.closed;
	assert.equal(await counted('dimseConnectionsOpened', { result: 'refused-limit' }), 1);
});

test('a sender that is refused later is aborted at its next message', async (context) => {
	const { port, directory, counted } = await startSurface(context);
	const peer = await associate(context, port);
	directory.refused.add('CT1');
	const [answer] = await peer.ask(data(value(1, 'command', echo())));
	assert.deepEqual(answer, { type: 7, body: Buffer.alloc(4) });
	peer.socket.destroy();
	await peer.closed;
	assert.equal(await counted('accessRefusals', { protocol: 'dicom', reason: 'calling' }), 1);
});

test('a connection without A-ASSOCIATE-RQ, and one that lingers after its end, are closed by the ARTIM timer', async (context) => {
	const { port, counted } = await startSurface(context, { limits: { dimseArtimMsMax: 100 } });
	const silent = await connect(context, port);
	const released = await associate(context, port);
	await released.ask(releaseRequest);
	const rejected = await connect(context, port);
	await rejected.ask(associateRequest({ called: 'NOWHERE' }));
	await Promise.all([silent.closed, released.closed, rejected.closed]);
	const reasons = ['artim', 'released', 'rejected'];
	const ends = () => Promise.all(reasons.map((reason) => counted('dimseAssociationEnds', { reason })));
	await eventually(async () => (await ends()).reduce((sum, count) => sum + count) === 3, 'the end of all three');
	assert.deepEqual(await ends(), [1, 1, 1]);
});

test('an idle association is aborted', async (context) => {
	const { port } = await startSurface(context, { limits: { dimseIdleMsMax: 100, dimseStallMsMax: 50, dimseArtimMsMax: 5000 } });
	const peer = await associate(context, port);
	assert.deepEqual(await peer.next(), { type: 7, body: Buffer.alloc(4) });
});

test('A-ABORT closes the connection', async (context) => {
	const { port, counted } = await startSurface(context);
	const peer = await associate(context, port);
	peer.write(abortPdu);
	await peer.closed;
	assert.equal(await counted('dimseAssociationEnds', { reason: 'peer-abort' }), 1);
});

test('draining answers what was received whole, aborts, and takes no more', async (context) => {
	const { port, surface } = await startSurface(context);
	const idle = await associate(context, port);
	const closing = surface.close(10_000);
	assert.equal((await idle.next()).type, 7);
	await closing;
	await assert.rejects(connect(context, port));
});

for (const [how, leave] of [
	['resets', (socket: Socket) => socket.resetAndDestroy()],
	['closes', (socket: Socket) => socket.destroy()],
	['ends', (socket: Socket) => socket.end()],
] as const) {
	test(`a peer that ${how} the connection while its instance is stored gives back its association at once`, async (context) => {
		const { port, intake, counted } = await startSurface(context);
		const open = intake.hold();
		context.after(open);
		const peer = await associate(context, port);
		peer.write(data(value(3, 'command', store()), value(3, 'data', Buffer.alloc(8000))));
		await (await intake.instance(0)).end;
		assert.equal(await counted('dimseAssociations'), 1);
		leave(peer.socket);
		await eventually(async () => (await counted('dimseAssociations')) === 0, 'the end of the association');
	});
}

test('what comes while an instance is stored is read afterwards, in order', async (context) => {
	const { port, intake } = await startSurface(context);
	const open = intake.hold();
	const peer = await associate(context, port);
	const instance = (byte: number) => Buffer.concat([data(value(3, 'command', store())), data(value(3, 'data', Buffer.alloc(8000, byte)))]);
	peer.write(instance(1));
	await (await intake.instance(0)).end;
	const more = Buffer.concat([instance(2), instance(3)]);
	for (let at = 0; at < more.length; at += 3001) {
		peer.write(more.subarray(at, at + 3001));
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
	open();
	for (const byte of [1, 2, 3]) {
		assert.equal(statusOf(await peer.next()), 0);
		assert.deepEqual(Buffer.concat((await intake.instance(byte - 1)).chunks), Buffer.alloc(8000, byte));
	}
});

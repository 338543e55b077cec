import assert from 'node:assert/strict';
import { test } from 'node:test';
import { implementationClassUid } from '#dicom/implementation.ts';
import { rejections } from '#surfaces/dimse/pdu.ts';
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
	releaseRequest,
	statusOf,
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
		11: ['1.2.840.10008.5.1.4.1.2.2.1', implicitLittleEndian],
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
	const { port } = await startSurface(context, { limits: { dimseArtimMsMax: 100 } });
	const silent = await connect(context, port);
	const released = await associate(context, port);
	await released.ask(releaseRequest);
	const rejected = await connect(context, port);
	await rejected.ask(associateRequest({ called: 'NOWHERE' }));
	await Promise.all([silent.closed, released.closed, rejected.closed]);
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

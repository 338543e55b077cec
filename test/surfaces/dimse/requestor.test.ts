import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { targetPolicy } from '#core/target-policy.ts';
import { implementationClassUid } from '#dicom/implementation.ts';
import { AssociationError } from '#surfaces/dimse/association-error.ts';
import { type AssociationOptions, requestAssociation } from '#surfaces/dimse/requestor.ts';
import { settled } from '#test/support/settled.ts';
import { defaultLimits, type Limits } from '../../../src/limits.ts';
import { createMetrics, metricDefinitions } from '../../../src/metrics.ts';
import { abortPdu, commandSet, data, item, type Peer, pdu, releaseRequest, responseOf, value } from './peer.ts';
import { associateAccept, listeningRemote, proposalOf } from './remote.ts';
import { ctImage, explicitLittleEndian, implicitLittleEndian, siteId, startSurface, verification } from './support.ts';

const instanceUid = '1.2.3.4';
const store = { operation: 'C-STORE', sopClassUid: ctImage, sopInstanceUid: instanceUid } as const;
const echo = { operation: 'C-ECHO', sopClassUid: verification } as const;
const answerTo = (field: number, messageId: number, status: number, more = {}) =>
	data(value(1, 'command', commandSet({ 256: field | 0x8000, 288: messageId, 2048: 0x0101, 2304: status, ...more })));

function options(more: Partial<Omit<AssociationOptions, 'limits' | 'metrics'>> & { limits?: Partial<Limits> } = {}) {
	const metrics = createMetrics({ processMetrics: false });
	const contexts = [{ abstractSyntax: ctImage, transferSyntaxes: [explicitLittleEndian, implicitLittleEndian] }];
	return {
		callingAe: 'WEST',
		contexts,
		metrics,
		targets: targetPolicy([], '127.0.0.1'),
		...more,
		limits: { ...defaultLimits, ...more.limits },
	};
}

async function requested({ metrics }: ReturnType<typeof options>): Promise<Record<string, number>> {
	const { values } = (await metrics.registry.getSingleMetric(metricDefinitions.dimseAssociationsRequested.name)?.get()) ?? { values: [] };
	return Object.fromEntries(values.filter((one) => one.value > 0).map((one) => [String(one.labels['result']), one.value]));
}

/** An association that the remote side accepted as it is told, and both ends of it. */
async function associated(t: TestContext, given = options(), pduBytesMax = 16_384) {
	const remote = await listeningRemote(t);
	const [association, peer] = await Promise.all([
		requestAssociation(remote.target, given),
		remote.connected().then(async (connection: Peer) => {
			await connection.next();
			connection.write(associateAccept({ 1: [0, explicitLittleEndian] }, pduBytesMax));
			return connection;
		}),
	]);
	t.after(() => association.abort());
	const [context] = association.contexts;
	assert.ok(context);
	return { association, context, peer };
}

const failing = (failure: string, message: RegExp) => (error: unknown) => {
	assert.ok(error instanceof AssociationError, String(error));
	assert.equal(error.failure, failure, error.message);
	assert.match(error.message, message);
	return true;
};

/** Everything of the next whole message of this kind. */
async function messageOf(peer: Peer, kind: 'command' | 'data'): Promise<{ bytes: Buffer; longest: number }> {
	const parts: Buffer[] = [];
	let longest = 0;
	for (;;) {
		const { body } = await peer.next();
		longest = Math.max(longest, body.length);
		assert.equal(body.readUInt32BE(0) + 4, body.length);
		assert.equal((body[5] as number) & 1, kind === 'command' ? 1 : 0);
		parts.push(body.subarray(6));
		if (((body[5] as number) & 2) === 0) assert.equal(body.length % 2, 0);
		if (((body[5] as number) & 2) === 2) return { bytes: Buffer.concat(parts), longest };
	}
}

describe('the requestor of associations', () => {
	test('proposes contexts and roles, and takes what the peer accepts of them', async (t) => {
		const remote = await listeningRemote(t);
		const commitment = '1.2.840.10008.1.20.1';
		const given = options({
			contexts: [
				{ abstractSyntax: ctImage, transferSyntaxes: [explicitLittleEndian, implicitLittleEndian] },
				{ abstractSyntax: verification, transferSyntaxes: [implicitLittleEndian] },
				{ abstractSyntax: commitment, transferSyntaxes: [implicitLittleEndian] },
			],
			roles: [{ sopClassUid: commitment, scu: false, scp: true }],
		});
		const opened = requestAssociation(remote.target, given);
		const peer = await remote.connected();
		const { called, calling, contexts, user } = proposalOf((await peer.next()).body);
		assert.deepEqual([called, calling], ['REMOTE', 'WEST']);
		assert.deepEqual(contexts, {
			1: [ctImage, explicitLittleEndian, implicitLittleEndian],
			3: [verification, implicitLittleEndian],
			5: [commitment, implicitLittleEndian],
		});
		assert.equal(user.get(0x51)?.[0]?.readUInt32BE(0), defaultLimits.dimsePduBytesMax);
		assert.equal(user.get(0x52)?.[0]?.toString(), implementationClassUid);
		const role = Buffer.concat([Buffer.from([0, commitment.length]), Buffer.from(commitment), Buffer.from([0, 1])]);
		assert.deepEqual(user.get(0x54), [role]);
		const accept = { 1: [0, implicitLittleEndian], 3: [3, implicitLittleEndian], 5: [0, implicitLittleEndian] } as const;
		peer.write(associateAccept(accept as never, 0, [item(0x54, role)]));
		const association = await opened;
		t.after(() => association.abort());
		assert.deepEqual(association.contexts, [
			{ id: 1, abstractSyntax: ctImage, transferSyntax: implicitLittleEndian, scu: true, scp: false },
			{ id: 5, abstractSyntax: commitment, transferSyntax: implicitLittleEndian, scu: false, scp: true },
		]);
		assert.deepEqual(await requested(given), { accepted: 1 });
	});

	test('sends a data set in pieces that the peer takes, whatever the pieces of its source', async (t) => {
		const { association, context, peer } = await associated(t, options(), 101);
		const pieces = [1, 93, 94, 95, 0, 300, 188].map((length, index) => Buffer.alloc(length, index + 1));
		const sent = association.send(context, { ...store, moveOriginator: { aeTitle: 'ASKER', messageId: 77 } }, pieces);
		const command = responseOf({ type: 4, body: Buffer.concat([Buffer.alloc(6), (await messageOf(peer, 'command')).bytes]) });
		const text = (element: number) => command.get(element)?.toString('latin1');
		assert.deepEqual([text(2), text(0x1000), text(0x1030)], [`${ctImage}\0`, `${instanceUid}\0`, 'ASKER ']);
		assert.deepEqual(
			[0x0100, 0x0110, 0x0700, 0x1031].map((element) => command.get(element)?.readUInt16LE(0)),
			[1, 1, 0, 77],
		);
		assert.notEqual(command.get(0x0800)?.readUInt16LE(0), 0x0101);
		const { bytes, longest } = await messageOf(peer, 'data');
		assert.deepEqual(bytes, Buffer.concat(pieces));
		assert.ok(longest <= 101);
		peer.write(answerTo(1, 1, 0xb000, { 2306: 'coerced' }));
		assert.deepEqual(await sent, { status: 0xb000, comment: 'coerced' });
		const again = association.send(context, store, []);
		await messageOf(peer, 'command');
		assert.equal((await messageOf(peer, 'data')).bytes.length, 0);
		peer.write(answerTo(1, 2, 0));
		assert.deepEqual(await again, { status: 0, comment: undefined });
		const released = association.release();
		assert.deepEqual(await peer.next(), { type: 5, body: Buffer.alloc(4) });
		peer.write(pdu(6, Buffer.alloc(4)));
		await released;
		await assert.rejects(association.send(context, store, []), failing('cancelled', /is over/));
	});

	test('reads no more of the source than the peer takes', async (t) => {
		const { association, context, peer } = await associated(t);
		let given = 0;
		async function* large() {
			for (; given < 4000; given++) yield Buffer.alloc(65_536);
		}
		peer.socket.pause();
		const sent = association.send(context, store, large());
		assert.ok((await settled(() => given)) < 4000);
		peer.socket.destroy();
		await assert.rejects(sent, failing('aborted', /REMOTE/));
	});

	test('a source that fails ends the association, and its failure is told', async (t) => {
		const { association, context, peer } = await associated(t);
		async function* broken() {
			yield Buffer.alloc(10);
			throw new Error('the file is gone');
		}
		await assert.rejects(association.send(context, store, broken()), /the file is gone/);
		await messageOf(peer, 'command');
		assert.equal((await peer.next()).type, 7);
		assert.equal(association.usable, false);
	});

	const rejections: [string, number[], RegExp, boolean][] = [
		['permanent', [0, 1, 1, 7], /called-AE-title-not-recognized$/, true],
		['transient', [0, 2, 3, 2], /local-limit-exceeded, transient$/, false],
		['unknown', [0, 1, 9, 9], /source 9, reason 9$/, true],
	];
	for (const [name, body, message, permanent] of rejections) {
		test(`a ${name} rejection is told`, async (t) => {
			const remote = await listeningRemote(t);
			const given = options();
			const opened = requestAssociation(remote.target, given);
			const peer = await remote.connected();
			await peer.next();
			peer.write(pdu(3, Buffer.from(body)));
			await assert.rejects(opened, (error) => failing('rejected', message)(error) && (error as AssociationError).permanent === permanent);
			await peer.closed;
			assert.deepEqual(await requested(given), { rejected: 1 });
		});
	}

	const refusals: [string, string, Buffer, RegExp][] = [
		['an abort', 'aborted', abortPdu, /aborted the association/],
		['no context', 'no-context', associateAccept({ 1: [4, ''] }), /none of the presentation contexts/],
		['a foreign transfer syntax', 'protocol', associateAccept({ 1: [0, '1.2.3'] }), /invalid-PDU-parameter-value/],
		['no room for data', 'protocol', associateAccept({ 1: [0, explicitLittleEndian] }, 6), /invalid-PDU-parameter-value/],
		['garbage', 'protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), /unrecognized-PDU/],
		['a PDU without end', 'protocol', pdu(2, Buffer.alloc(0), 0xffffffff), /invalid-PDU-parameter-value/],
		['data before the association', 'protocol', data(value(1, 'data', Buffer.alloc(4))), /unexpected-PDU/],
		['a request of its own', 'protocol', pdu(1, Buffer.alloc(68)), /unexpected-PDU/],
	];
	for (const [name, failure, bytes, message] of refusals) {
		test(`${name} in place of an acceptance is told as ${failure}`, async (t) => {
			const remote = await listeningRemote(t);
			const given = options();
			const opened = requestAssociation(remote.target, given);
			const peer = await remote.connected();
			await peer.next();
			peer.write(bytes);
			await assert.rejects(opened, failing(failure, message));
			if (failure === 'protocol') assert.equal((await peer.next()).type, 7);
			if (failure === 'no-context') assert.equal((await peer.next()).type, 5);
			assert.deepEqual(await requested(given), { [failure]: 1 });
		});
	}

	test('a peer that is silent, at the start or after a request, is given up', async (t) => {
		const remote = await listeningRemote(t);
		const given = options({ limits: { dimseConnectMsMax: 100 } });
		const opened = requestAssociation(remote.target, given);
		const silent = await remote.connected();
		await assert.rejects(opened, failing('timeout', /did not accept/));
		assert.deepEqual([(await silent.next()).type, (await silent.next()).type], [1, 7]);
		const { association, context, peer } = await associated(t, options({ limits: { dimseResponseMsMax: 100 } }));
		await assert.rejects(association.send(context, store, [Buffer.alloc(4)]), failing('timeout', /did not answer/));
		await messageOf(peer, 'command');
		await messageOf(peer, 'data');
		assert.equal((await peer.next()).type, 7);
	});

	test('a peer that takes nothing is given up', async (t) => {
		const { association, context, peer } = await associated(t, options({ limits: { dimseStallMsMax: 200 } }));
		peer.socket.pause();
		async function* endless() {
			for (;;) yield Buffer.alloc(65_536);
		}
		await assert.rejects(association.send(context, store, endless()), failing('timeout', /took nothing/));
	});

	test('nobody there, and no such host, are told', async (t) => {
		const remote = await listeningRemote(t);
		const given = options();
		await assert.rejects(requestAssociation({ ...remote.target, port: 1 }, given), failing('unreachable', /ECONNREFUSED/));
		const elsewhere = options({ targets: targetPolicy([], '0.0.0.0') });
		for (const host of ['127.0.0.1', '::ffff:127.0.0.1', 'localhost'])
			await assert.rejects(requestAssociation({ ...remote.target, host }, elsewhere), failing('unreachable', /ALLOWED_TARGETS/));
		assert.deepEqual(await requested(given), { unreachable: 1 });
	});

	test('a TLS target that speaks no TLS is unreachable', async (t) => {
		const remote = await listeningRemote(t);
		const opened = requestAssociation({ ...remote.target, tls: true }, options());
		const peer = await remote.connected();
		peer.socket.write('no TLS at all');
		await assert.rejects(opened, failing('unreachable', /REMOTE/));
	});

	test('is given up by its signal, before and after the acceptance', async (t) => {
		const remote = await listeningRemote(t);
		const controller = new AbortController();
		const opened = requestAssociation(remote.target, options({ signal: controller.signal }));
		await (await remote.connected()).next();
		controller.abort();
		await assert.rejects(opened, failing('cancelled', /given up/));
		await assert.rejects(requestAssociation(remote.target, options({ signal: controller.signal })), failing('cancelled', /given up/));
		const later = new AbortController();
		const { association, context, peer } = await associated(t, options({ signal: later.signal }));
		const sent = association.send(context, store, [Buffer.alloc(4)]);
		await messageOf(peer, 'data').catch(() => undefined);
		later.abort();
		await assert.rejects(sent, failing('cancelled', /given up/));
	});

	const answers: [string, string, Buffer, RegExp][] = [
		['to another request', 'protocol', answerTo(1, 9, 0), /unexpected-PDU-parameter/],
		['of another operation', 'protocol', answerTo(0x30, 1, 0), /unexpected-PDU-parameter/],
		['that is a request', 'protocol', data(value(1, 'command', commandSet({ 256: 0x30, 272: 1, 2048: 0x0101 }))), /./],
		['on another context', 'protocol', data(value(3, 'command', commandSet({ 256: 0x8001, 288: 1, 2048: 0x0101, 2304: 0 }))), /./],
		['without a status', 'protocol', data(value(1, 'command', commandSet({ 256: 0x8001, 288: 1, 2048: 0x0101 }))), /./],
		['that is no command set', 'protocol', data(value(1, 'command', Buffer.from('garbage!'))), /invalid-PDU-parameter-value/],
		['that is the end', 'aborted', releaseRequest, /released the association/],
		['that is an abort', 'aborted', abortPdu, /aborted the association/],
	];
	for (const [name, failure, bytes, message] of answers) {
		test(`an answer ${name} ends the association`, async (t) => {
			const { association, context, peer } = await associated(t);
			const sent = association.send(context, store, [Buffer.alloc(4)]);
			await messageOf(peer, 'command');
			await messageOf(peer, 'data');
			peer.write(bytes);
			await assert.rejects(sent, failing(failure, message));
			assert.equal(association.usable, false);
			if (failure === 'protocol') assert.equal((await peer.next()).type, 7);
		});
	}

	test('a data set in an answer is passed over; one message follows another', async (t) => {
		const { association, context, peer } = await associated(t);
		const first = association.send(context, { operation: 'N-EVENT-REPORT', sopClassUid: ctImage, sopInstanceUid: '1.2', eventTypeId: 1 }, [
			Buffer.alloc(4),
		]);
		await messageOf(peer, 'command');
		await messageOf(peer, 'data');
		await assert.rejects(association.send(context, store), /under way/);
		const reply = value(1, 'command', commandSet({ 256: 0x8100, 288: 1, 2048: 0, 2304: 0 }));
		peer.write(data(reply, value(1, 'data', Buffer.alloc(40), false), value(1, 'data', Buffer.alloc(2))));
		assert.equal((await first).status, 0);
		const second = association.send(context, store, [Buffer.alloc(4)]);
		peer.write(answerTo(1, 2, 0xa700));
		assert.equal((await second).status, 0xa700);
	});

	test('a release that crosses that of the peer, and one that is not answered, end', async (t) => {
		const { association, peer } = await associated(t);
		const released = association.release();
		assert.equal((await peer.next()).type, 5);
		peer.write(releaseRequest);
		assert.equal((await peer.next()).type, 6);
		peer.write(pdu(6, Buffer.alloc(4)));
		await released;
		const other = await associated(t, options({ limits: { dimseArtimMsMax: 100 } }));
		await other.association.release();
		assert.equal((await other.peer.next()).type, 5);
	});

	test('an association that is not used is released', async (t) => {
		const { association, peer } = await associated(t, options({ limits: { dimseIdleMsMax: 100 } }));
		assert.equal((await peer.next()).type, 5);
		peer.write(pdu(6, Buffer.alloc(4)));
		await association.closed;
	});

	test('stores with this service itself, and a stranger is rejected by it', async (t) => {
		const { port, intake } = await startSurface(t);
		const target = { title: 'WEST', host: '127.0.0.1', port, tls: false };
		const contexts = [
			{ abstractSyntax: verification, transferSyntaxes: [implicitLittleEndian] },
			{ abstractSyntax: ctImage, transferSyntaxes: [explicitLittleEndian] },
		];
		const association = await requestAssociation(target, options({ callingAe: 'CT1', contexts }));
		const [echoes, images] = association.contexts;
		assert.ok(echoes && images);
		assert.equal((await association.send(echoes, echo)).status, 0);
		const bytes = Buffer.alloc(1_000_000, 'content ');
		const pieces = (async function* () {
			for (let at = 0; at < bytes.length; at += 99_991) yield bytes.subarray(at, at + 99_991);
		})();
		assert.equal((await association.send(images, store, pieces)).status, 0);
		const taken = await intake.instance(0);
		assert.deepEqual(Buffer.concat(taken.chunks), bytes);
		assert.deepEqual([taken.announced.siteId, taken.announced.affectedSopInstanceUid], [siteId, instanceUid]);
		await association.release();
		await assert.rejects(requestAssociation({ ...target, title: 'EAST' }, options()), failing('rejected', /called-AE-title/));
	});

	test('proposes at least one context and at most 128', async (t) => {
		const { target } = await listeningRemote(t);
		const many = Array.from({ length: 129 }, () => ({ abstractSyntax: ctImage, transferSyntaxes: [implicitLittleEndian] }));
		for (const contexts of [[], many]) await assert.rejects(requestAssociation(target, options({ contexts })), RangeError);
	});
});

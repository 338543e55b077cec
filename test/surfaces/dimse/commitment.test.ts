import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OutgoingRequest } from '#surfaces/dimse/command-set.ts';
import type { ReturnChannel } from '#surfaces/dimse/service.ts';
import { element, sequence } from '#test/support/data-set.ts';
import { eventually } from '#test/support/eventually.ts';
import {
	acceptOf,
	associate,
	associateRequest,
	commandSet,
	connect,
	data,
	releaseRequest,
	responseOf,
	statusOf,
	textOf,
	value,
} from './peer.ts';
import { ctImage, explicitLittleEndian, gate, implicitLittleEndian, siteId, startSurface } from './support.ts';

const commitment = '1.2.840.10008.1.20.1';
const wellKnown = '1.2.840.10008.1.20.1.1';
const contexts = { contexts: { 1: [commitment, explicitLittleEndian] } } satisfies Parameters<typeof associate>[2];
const action = (more: Record<number, number | string> = {}) =>
	value(1, 'command', commandSet({ 3: commitment, 256: 0x0130, 272: 7, 2048: 0, 4097: wellKnown, 4104: 1, ...more }));
const reference = (instance: string) => Buffer.concat([element(0x0008_1150, 'UI', ctImage), element(0x0008_1155, 'UI', instance)]);
const information = (...instances: string[]) =>
	Buffer.concat([element(0x0008_1195, 'UI', '1.2.3'), sequence(0x0008_1199, instances.map(reference))]);
const asking = data(action(), value(1, 'data', information('1.1', '1.2')));
const report: OutgoingRequest = { operation: 'N-EVENT-REPORT', sopClassUid: commitment, sopInstanceUid: wellKnown, eventTypeId: 1 };
const answerTo = (messageId: number, more: Record<number, number> = {}) =>
	data(value(1, 'command', commandSet({ 256: 0x8100, 288: messageId, 2048: 0x0101, 2304: 0, ...more })));

describe('storage commitment over DIMSE', () => {
	test('a request is noted for the site and the caller, and answered when that is done', async (t) => {
		const { port, commitment: service, counted } = await startSurface(t);
		const { open, opened } = gate();
		service.answer = () => opened.then(() => () => undefined);
		const peer = await associate(t, port, contexts);
		peer.write(asking);
		await eventually(() => service.requests.length === 1, 'the request');
		// Another peer is served meanwhile: had the request been answered, the answer would be here.
		await (await associate(t, port, contexts)).ask(releaseRequest);
		assert.equal(peer.received.length, 1);
		assert.deepEqual(service.requests, [
			{
				siteId,
				callingAe: 'CT1',
				calledAe: 'WEST',
				source: '127.0.0.1',
				transactionUid: '1.2.3',
				references: ['1.1', '1.2'].map((sopInstanceUid) => ({ sopClassUid: ctImage, sopInstanceUid })),
			},
		]);
		open();
		while (peer.received.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
		const answer = peer.received[1];
		assert.ok(answer);
		assert.equal(statusOf(answer), 0);
		assert.equal(responseOf(answer).get(0x0100)?.readUInt16LE(0), 0x8130);
		assert.deepEqual([textOf(answer, 0x0002), textOf(answer, 0x1000)], [commitment, wellKnown]);
		assert.equal(await counted('dimseMessages', { operation: 'N-ACTION', outcome: 'success' }), 1);
	});

	const refusals: [string, Buffer, number][] = [
		['another instance', data(action({ 4097: '1.2.3' }), value(1, 'data', information('1.1'))), 0x0112],
		['another action', data(action({ 4104: 2 }), value(1, 'data', information('1.1'))), 0x0123],
		['another class', data(action({ 3: ctImage }), value(1, 'data', information('1.1'))), 0x0122],
		['no data set', data(action({ 2048: 0x0101 })), 0x0115],
		['no references', data(action(), value(1, 'data', information())), 0x0115],
		['an invalid UID', data(action(), value(1, 'data', information('1.1', '1..1'))), 0x0115],
		['a data set that is cut off', data(action(), value(1, 'data', information('1.1').subarray(0, 40))), 0x0110],
		['garbage', data(action(), value(1, 'data', Buffer.alloc(300, 0xff))), 0x0110],
		['more references than are taken', data(action(), value(1, 'data', information('1.1', '1.2', '1.3'))), 0x0213],
		['a data set that is too long', data(action(), value(1, 'data', Buffer.alloc(2000))), 0x0213],
		['another operation', data(action({ 256: 0x0140 }), value(1, 'data', information('1.1'))), 0x0211],
	];
	for (const [name, bytes, status] of refusals) {
		test(`${name} is answered with 0x${status.toString(16).padStart(4, '0')}, and nothing is noted`, async (t) => {
			const limits = { commitmentReferencesMax: 2, dimseDataSetBytesMax: 1024 };
			const { port, commitment: service, counted } = await startSurface(t, { limits });
			const peer = await associate(t, port, contexts);
			const [answer] = await peer.ask(bytes);
			assert.ok(answer);
			assert.equal(statusOf(answer), status);
			assert.equal(service.requests.length, 0);
			assert.equal(await counted('commitmentRequests', { outcome: 'refused' }), status === 0x0211 ? 0 : 1);
		});
	}

	test('a request that could not be noted is a processing failure', async (t) => {
		const { port, commitment: service } = await startSurface(t);
		service.answer = () => Promise.reject(new Error('no database'));
		const peer = await associate(t, port, contexts);
		const [answer] = await peer.ask(asking);
		assert.ok(answer);
		assert.equal(statusOf(answer), 0x0110);
		assert.match(textOf(answer, 0x0902) ?? '', /send again/);
	});

	test('is not accepted in a transfer syntax other than little endian', async (t) => {
		const { port } = await startSurface(t);
		const peer = await connect(t, port);
		const [answer] = await peer.ask(
			associateRequest({
				contexts: { 1: [commitment, '1.2.840.10008.1.2.2'], 3: [commitment, implicitLittleEndian, explicitLittleEndian] },
			}),
		);
		assert.ok(answer);
		const { contexts: given } = acceptOf(answer);
		assert.equal(given[1]?.[0], 4);
		assert.deepEqual(given[3], [0, explicitLittleEndian]);
	});

	/** An association over which the service may report, and how. */
	async function reporting(t: Parameters<typeof startSurface>[0], limits = {}) {
		const started = await startSurface(t, { limits });
		const { open, opened } = gate();
		let channel: ReturnChannel | undefined;
		started.commitment.answer = () =>
			Promise.resolve((given) => {
				channel = given;
				open();
			});
		const peer = await associate(t, started.port, contexts);
		assert.equal(statusOf((await peer.ask(asking))[0] as never), 0);
		await opened;
		assert.ok(channel);
		return { ...started, peer, channel };
	}

	test('reports go out one after the other, and a request of the peer is answered between', async (t) => {
		const { peer, channel } = await reporting(t);
		const first = channel.request(report, Buffer.alloc(8));
		const second = channel.request({ ...report, eventTypeId: 2 }, Buffer.alloc(8));
		const command = responseOf(await peer.next());
		assert.deepEqual([command.get(0x0110)?.readUInt16LE(0), command.get(0x1002)?.readUInt16LE(0)], [1, 1]);
		assert.equal((await peer.next()).body.length, 6 + 8);
		assert.equal(statusOf((await peer.ask(asking))[0] as never), 0);
		peer.write(answerTo(1, { 2304: 0x0110 }));
		assert.equal(await first, 0x0110);
		assert.equal(
			responseOf(await peer.next())
				.get(0x1002)
				?.readUInt16LE(0),
			2,
		);
		await peer.next();
		peer.write(answerTo(2));
		assert.equal(await second, 0);
	});

	test('a report that is not answered, or whose association ends, is given up', async (t) => {
		const { channel } = await reporting(t, { dimseResponseMsMax: 100 });
		assert.equal(await channel.request(report, Buffer.alloc(8)), undefined);
		const other = await reporting(t);
		const asked = other.channel.request(report, Buffer.alloc(8));
		await other.peer.next();
		other.peer.write(releaseRequest);
		assert.equal(await asked, undefined);
		assert.equal(await other.channel.request(report, Buffer.alloc(8)), undefined);
	});

	test('a report that is too long for it goes not over the association', async (t) => {
		const { channel } = await reporting(t);
		assert.equal(await channel.request(report, Buffer.alloc(513 * 1024)), undefined);
	});

	const unasked: [string, Buffer][] = [
		['to another request', answerTo(2)],
		['of another operation', answerTo(1, { 256: 0x8001 })],
		['with a data set', answerTo(1, { 2048: 0 })],
	];
	for (const [name, bytes] of unasked) {
		test(`an answer ${name} breaks the protocol`, async (t) => {
			const { peer, channel } = await reporting(t);
			const asked = channel.request(report, Buffer.alloc(8));
			await peer.next();
			await peer.next();
			peer.write(bytes);
			assert.equal((await peer.next()).type, 7);
			assert.equal(await asked, undefined);
		});
	}
});

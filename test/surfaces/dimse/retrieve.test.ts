import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { DataSetConverter } from '#dicom/data-set-converter.ts';
import { deflatedExplicitLittleEndian, explicitBigEndian, implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { element, sampleDataSet } from '#test/support/data-set.ts';
import { eventually } from '#test/support/eventually.ts';
import { data, responseOf, statusOf, store, textOf, value } from './peer.ts';
import {
	allResponses,
	archiveOf,
	ask,
	cancel,
	countsOf,
	nextMessage,
	oneStudy,
	pieces,
	questionContexts,
	role,
	serveSubOperations,
	startArchive,
	storeResponse,
} from './questions.ts';
import { associateAccept, listeningRemote, proposalOf } from './remote.ts';
import { ctImage, explicitLittleEndian, gate } from './support.ts';

const bytes = (length: number, seed = 0) => Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 31 + seed) & 0xff));

// biome-ignore lint/correctness/useYield: it fails before there is anything
async function* unreadable(): AsyncIterable<Uint8Array> {
	throw new Error('the object is gone');
}

async function* breaksOff(): AsyncIterable<Uint8Array> {
	yield bytes(1000);
	yield bytes(1000);
	throw new Error('the disk failed');
}

const failedList = (...uids: string[]) => element(0x0008_0058, 'UI', uids.join('\\'));

describe('C-GET', () => {
	test('sends every instance byte for byte, in PDUs that the peer takes, and tells how far it is', async (context) => {
		const large = bytes(300_000);
		const archive = archiveOf({
			'1.1': () =>
				pieces(large.subarray(0, 70_001), large.subarray(70_001, 70_002), large.subarray(70_002, 200_001), large.subarray(200_001)),
			'1.2': () => pieces(bytes(10)),
			'1.3': () => pieces(bytes(12)),
		});
		const { peer, answered, counted } = await startArchive(context, archive, {}, { pduBytesMax: 8000 });
		peer.write(ask(5, oneStudy));
		const { stored, last } = await serveSubOperations(peer, () => 0);
		assert.deepEqual(
			stored.map(({ command }) => textOf(command, 0x1000)),
			['1.1', '1.2', '1.3'],
		);
		assert.ok(stored[0]?.dataSet?.equals(large));
		assert.ok(stored.every(({ pduBytes, hasOddPiece }) => pduBytes <= 8000 && !hasOddPiece));
		assert.equal(new Set(stored.map(({ command }) => responseOf(command).get(0x0110)?.readUInt16LE(0))).size, 3);
		assert.deepEqual([statusOf(last.command), countsOf(last.command), last.dataSet], [0, [undefined, 3, 0, 0], undefined]);
		assert.deepEqual(
			answered.map(({ operation, level, status, completed, failed }) => [operation, level, status, completed, failed]),
			[['C-GET', 'STUDY', 0, 3, 0]],
		);
		assert.equal(await counted('dimseSubOperations', { operation: 'C-GET', outcome: 'completed' }), 3);
	});

	test('counts and lists what failed; pending responses say what remains', async (context) => {
		const archive = archiveOf({
			'1.1': () => pieces(bytes(10)),
			'1.2': unreadable,
			'1.3': () => pieces(bytes(10)),
			'1.4': () => pieces(bytes(10)),
		});
		const { peer } = await startArchive(context, archive);
		peer.write(ask(5, oneStudy));
		const first = await nextMessage(peer);
		peer.write(storeResponse(responseOf(first.command).get(0x0110)?.readUInt16LE(0) ?? 0, 0));
		assert.deepEqual(countsOf((await nextMessage(peer)).command), [3, 1, 0, 0]);
		assert.deepEqual(countsOf((await nextMessage(peer)).command), [2, 1, 1, 0]);
		const { last } = await serveSubOperations(peer, (uid) => (uid === '1.3' ? 0xb000 : 0xa700));
		assert.deepEqual([statusOf(last.command), countsOf(last.command)], [0xb000, [undefined, 1, 2, 1]]);
		assert.deepEqual(last.dataSet, failedList('1.2', '1.4'));
	});

	test('of nothing but failures fails; a context of another transfer syntax does not fit', async (context) => {
		const archive = archiveOf({ '1.1': () => pieces(bytes(10)) }, { transferSyntaxUid: '1.2.840.10008.1.2.4.90' });
		const { peer } = await startArchive(context, archive);
		peer.write(ask(5, oneStudy));
		const [last] = await allResponses(peer);
		assert.deepEqual([statusOf(last?.command ?? assert.fail()), last?.dataSet], [0xa702, failedList('1.1')]);
	});

	test('gives an uncompressed instance in the transfer syntax that was agreed', async (context) => {
		const stored = sampleDataSet({ writing: { explicit: true, littleEndian: false } });
		const archive = archiveOf({ '1.1': () => pieces(stored) }, { transferSyntaxUid: explicitBigEndian });
		const { peer } = await startArchive(context, archive);
		peer.write(ask(5, oneStudy));
		const { stored: received, last } = await serveSubOperations(peer, () => 0);
		const converter = new DataSetConverter(explicitBigEndian, explicitLittleEndian);
		assert.deepEqual(received[0]?.dataSet, Buffer.concat(converter.feed(stored)));
		assert.equal(statusOf(last.command), 0);
	});

	test('gives a deflated instance as it is stored, and makes an odd length even', async (context) => {
		const dataSets = [1, 2].map((length) => deflateRawSync(sampleDataSet({ pixels: bytes(1000) }), { level: 0 }).subarray(0, -length));
		const archive = archiveOf(
			Object.fromEntries(dataSets.map((dataSet, index) => [`1.${index}`, () => pieces(dataSet.subarray(0, 7), dataSet.subarray(7))])),
			{ transferSyntaxUid: deflatedExplicitLittleEndian },
		);
		const contexts = { ...questionContexts, 7: [ctImage, deflatedExplicitLittleEndian] as [string, string] };
		const { peer } = await startArchive(context, archive, {}, { contexts });
		peer.write(ask(5, oneStudy));
		const { stored: received, last } = await serveSubOperations(peer, () => 0);
		assert.deepEqual(
			received.map(({ dataSet }) => dataSet),
			dataSets.map((dataSet) => (dataSet.length % 2 === 0 ? dataSet : Buffer.concat([dataSet, Buffer.of(0)]))),
		);
		assert.deepEqual(new Set(dataSets.map(({ length }) => length % 2)), new Set([0, 1]));
		assert.ok(received.every(({ hasOddPiece }) => !hasOddPiece));
		assert.equal(statusOf(last.command), 0);
	});

	test('of nothing is a success', async (context) => {
		const { peer } = await startArchive(context, archiveOf({}));
		peer.write(ask(5, oneStudy));
		const [last] = await allResponses(peer);
		assert.deepEqual([statusOf(last?.command ?? assert.fail()), countsOf(last?.command ?? assert.fail())], [0, [undefined, 0, 0, 0]]);
	});

	test('is cancelled between two instances, and says how many remain', async (context) => {
		const archive = archiveOf({ '1.1': () => pieces(bytes(10)), '1.2': () => pieces(bytes(10)), '1.3': () => pieces(bytes(10)) });
		const { peer } = await startArchive(context, archive);
		peer.write(ask(5, oneStudy));
		const first = await nextMessage(peer);
		peer.write(cancel(5), storeResponse(responseOf(first.command).get(0x0110)?.readUInt16LE(0) ?? 0, 0));
		const messages = await allResponses(peer);
		const last = messages.at(-1)?.command ?? assert.fail();
		assert.deepEqual([statusOf(last), countsOf(last)], [0xfe00, [2, 1, 0, 0]]);
	});

	test('that cannot go on within an instance is aborted: nobody takes half of it for the whole', async (context) => {
		const { peer, counted } = await startArchive(context, archiveOf({ '1.1': breaksOff }));
		peer.write(ask(5, oneStudy));
		let received = await peer.next();
		while (received.type === 4) received = await peer.next();
		assert.equal(received.type, 7);
		peer.socket.destroy();
		await peer.closed;
		assert.equal(await counted('dimseSubOperations', { outcome: 'failed' }), 1);
	});

	test('whose peer goes away reads no further', async (context) => {
		const { open, opened } = gate();
		async function* endless(): AsyncIterable<Uint8Array> {
			try {
				for (;;) yield bytes(64 * 1024);
			} finally {
				open();
			}
		}
		const read: string[] = [];
		const next = () => {
			read.push('1.2');
			return pieces(bytes(10));
		};
		const { peer, counted } = await startArchive(context, archiveOf({ '1.1': endless, '1.2': next }));
		peer.write(ask(5, oneStudy));
		await peer.next();
		peer.socket.destroy();
		await opened;
		await eventually(async () => (await counted('dimseAssociations')) === 0, 'the end of the association');
		assert.deepEqual(read, []);
	});

	test('reads no faster than the peer takes', async (context) => {
		const piece = bytes(64 * 1024);
		let read = 0;
		async function* large(): AsyncIterable<Uint8Array> {
			for (; read < 1024; read++) yield piece;
		}
		const { peer } = await startArchive(context, archiveOf({ '1.1': large }));
		peer.socket.pause();
		peer.write(ask(5, oneStudy));
		// Until no more is read: what lies in the buffers of the system is not ours.
		for (let before = -1; before !== read; await setTimeout(200)) before = read;
		assert.ok(read < 1024, `${read} pieces were read ahead`);
		peer.socket.resume();
		const { stored, last } = await serveSubOperations(peer, () => 0);
		assert.deepEqual([stored[0]?.dataSet?.length, statusOf(last.command)], [1024 * piece.length, 0]);
	});

	test('whose peer does not answer a sub-operation is aborted; what the service itself works on may take longer', async (context) => {
		const archive = archiveOf({ '1.1': () => pieces(bytes(10)) });
		const kinds = async () => {
			await setTimeout(600);
			return [{ sopClassUid: ctImage, transferSyntaxUid: explicitLittleEndian, instances: 1 }];
		};
		const { peer, counted } = await startArchive(context, { ...archive, kinds }, { limits: { dimseStallMsMax: 150 } });
		peer.write(ask(5, oneStudy));
		assert.equal(textOf((await nextMessage(peer)).command, 0x1000), '1.1');
		assert.equal((await peer.next()).type, 7);
		peer.socket.destroy();
		await peer.closed;
		while ((await counted('dimseAssociationEnds')) === 0) await setTimeout(10);
		assert.equal(await counted('dimseAssociationEnds', { reason: 'stalled' }), 1);
		assert.equal(await counted('dimseAssociations'), 0);
	});

	test('is brought to its end when the service stops', async (context) => {
		const archive = archiveOf({ '1.1': () => pieces(bytes(10)), '1.2': () => pieces(bytes(10)) });
		const { peer, surface } = await startArchive(context, archive);
		peer.write(ask(5, oneStudy));
		const first = await nextMessage(peer);
		const closed = surface.close(60_000);
		peer.write(storeResponse(responseOf(first.command).get(0x0110)?.readUInt16LE(0) ?? 0, 0));
		const { last } = await serveSubOperations(peer, () => 0);
		assert.deepEqual([statusOf(last.command), countsOf(last.command)], [0, [undefined, 2, 0, 0]]);
		assert.equal((await peer.next()).type, 7);
		await closed;
	});

	test('a response to nothing, or of another message, is a breach of the protocol', async (context) => {
		const { peer } = await startArchive(context, archiveOf({ '1.1': () => pieces(bytes(10)) }));
		peer.write(ask(5, oneStudy));
		await nextMessage(peer);
		peer.write(storeResponse(4711, 0));
		assert.equal((await peer.next()).type, 7);
	});

	test('a requestor that is SCP alone cannot store in that context', async (context) => {
		const { peer } = await startArchive(context, archiveOf({}), {}, { contexts: questionContexts, user: [role(ctImage, 0, 1)] });
		const [answer] = await peer.ask(data(value(7, 'command', store()), value(7, 'data', bytes(10))));
		assert.equal(statusOf(answer ?? assert.fail()), 0x0211);
	});
});

describe('C-MOVE', () => {
	test('sends to the destination and tells whoever asked', async (context) => {
		const remote = await listeningRemote(context);
		const archive = archiveOf({ '1.1': () => pieces(bytes(20_000)), '1.2': () => pieces(bytes(10)) });
		const { peer, answered } = await startArchive(context, archive, { remoteAes: [remote.target] });
		peer.write(ask(3, oneStudy, 'REMOTE'));
		const destination = await remote.connected();
		const { called, calling, contexts } = proposalOf((await destination.next()).body);
		assert.deepEqual(
			[called, calling, contexts],
			['REMOTE', 'WEST', { 1: [ctImage, explicitLittleEndian], 3: [ctImage, implicitLittleEndian] }],
		);
		destination.write(associateAccept({ 1: [0, explicitLittleEndian] }));
		for (const [uid, status] of [
			['1.1', 0],
			['1.2', 0xa700],
		] as const) {
			const { command, dataSet } = await nextMessage(destination);
			const elements = responseOf(command);
			assert.deepEqual([textOf(command, 0x1000), textOf(command, 0x1030), elements.get(0x1031)?.readUInt16LE(0)], [uid, 'CT1', 9]);
			assert.equal(dataSet?.length, uid === '1.1' ? 20_000 : 10);
			destination.write(storeResponse(elements.get(0x0110)?.readUInt16LE(0) ?? 0, status, 1));
		}
		assert.equal((await destination.next()).type, 5);
		destination.write(Buffer.from([6, 0, 0, 0, 0, 4, 0, 0, 0, 0]));
		const [pending, last] = await allResponses(peer);
		assert.deepEqual(countsOf(pending?.command ?? assert.fail()), [1, 1, 0, 0]);
		assert.deepEqual([statusOf(last?.command ?? assert.fail()), countsOf(last?.command ?? assert.fail())], [0xb000, [undefined, 1, 1, 0]]);
		assert.deepEqual(last?.dataSet, failedList('1.2'));
		assert.deepEqual([answered[0]?.operation, answered[0]?.destination], ['C-MOVE', 'REMOTE']);
	});

	test('converts for a destination that takes implicit VR alone, and fails what cannot be converted by itself', async (context) => {
		const remote = await listeningRemote(context);
		const good = sampleDataSet();
		const archive = archiveOf({ '1.1': () => pieces(good.subarray(0, -1)), '1.2': () => pieces(good) });
		const { peer } = await startArchive(context, archive, { remoteAes: [remote.target] });
		peer.write(ask(3, oneStudy, 'REMOTE'));
		const destination = await remote.connected();
		await destination.next();
		destination.write(associateAccept({ 1: [4, explicitLittleEndian], 3: [0, implicitLittleEndian] }));
		const { command, dataSet, contextId } = await nextMessage(destination);
		assert.deepEqual([textOf(command, 0x1000), contextId], ['1.2', 3]);
		const converter = new DataSetConverter(explicitLittleEndian, implicitLittleEndian);
		assert.deepEqual(dataSet, Buffer.concat(converter.feed(good)));
		destination.write(storeResponse(responseOf(command).get(0x0110)?.readUInt16LE(0) ?? 0, 0, 3));
		const last = (await allResponses(peer)).at(-1) ?? assert.fail();
		assert.deepEqual([statusOf(last.command), countsOf(last.command)], [0xb000, [undefined, 1, 1, 0]]);
		assert.deepEqual(last.dataSet, failedList('1.1'));
	});

	test('to nobody who is registered is refused, and nobody is called', async (context) => {
		const remote = await listeningRemote(context);
		const { peer } = await startArchive(context, archiveOf({ '1.1': () => pieces(bytes(10)) }), { remoteAes: [remote.target] });
		for (const destination of ['ELSEWHERE', '', 'REM\\OTE']) {
			peer.write(ask(3, oneStudy, destination));
			const [last] = await allResponses(peer);
			assert.equal(statusOf(last?.command ?? assert.fail()), 0xa801);
		}
	});

	test('to a destination that rejects fails, with every instance in the list', async (context) => {
		const remote = await listeningRemote(context);
		const archive = archiveOf({ '1.1': () => pieces(bytes(10)), '1.2': () => pieces(bytes(10)) });
		const { peer } = await startArchive(context, archive, { remoteAes: [remote.target] });
		peer.write(ask(3, oneStudy, 'REMOTE'));
		const destination = await remote.connected();
		await destination.next();
		destination.write(Buffer.from([3, 0, 0, 0, 0, 4, 0, 1, 1, 3]));
		const last = (await allResponses(peer)).at(-1) ?? assert.fail();
		assert.deepEqual([statusOf(last.command), countsOf(last.command)], [0xa702, [undefined, 0, 2, 0]]);
		assert.match(textOf(last.command, 0x0902) ?? '', /REMOTE/);
		assert.deepEqual(last.dataSet, failedList('1.1', '1.2'));
	});

	test('whose asker goes away leaves the destination', async (context) => {
		const remote = await listeningRemote(context);
		const archive = archiveOf({ '1.1': () => pieces(bytes(10)), '1.2': () => pieces(bytes(10)) });
		const { peer, answered } = await startArchive(context, archive, { remoteAes: [remote.target] });
		peer.write(ask(3, oneStudy, 'REMOTE'));
		const destination = await remote.connected();
		await destination.next();
		destination.write(associateAccept({ 1: [0, explicitLittleEndian] }));
		await nextMessage(destination);
		peer.socket.destroy();
		assert.equal((await destination.next()).type, 7);
		await destination.closed;
		while (answered.length === 0) await setTimeout(10);
		assert.equal(answered[0]?.status, 0xfe00);
	});
});

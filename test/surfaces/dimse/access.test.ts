import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { associateRequest, commandSet, connect, data, echo, statusOf, store, value } from './peer.ts';
import { ask, oneStudy, questionContexts, startArchive } from './questions.ts';
import { ctImage, explicitLittleEndian, procedureStep, startSurface, verification } from './support.ts';

const dataSet = Buffer.alloc(64);

describe('DICOM while callers cannot be looked up', () => {
	test('a new association is rejected as transient, and nobody says that a title is wrong', async (context) => {
		const { port, directory, refused, counted } = await startSurface(context);
		directory.unavailable = true;
		for (const called of ['WEST', 'EAST']) {
			const peer = await connect(context, port);
			const [answer] = await peer.ask(associateRequest({ called }));
			assert.deepEqual(answer, { type: 3, body: Buffer.from([0, 2, 3, 1]) });
		}
		assert.equal(await counted('dimseAssociationRequests', { result: 'rejected-unavailable' }), 2);
		assert.equal(await counted('dimseAssociationRequests'), 2);
		assert.equal(await counted('accessRefusals'), 0);
		assert.deepEqual(refused, []);
	});

	test('an open association goes on: what is asked is answered as out of resources, and nothing is carried out', async (context) => {
		const contexts: typeof questionContexts = {
			...questionContexts,
			9: [verification, explicitLittleEndian],
			11: [procedureStep, explicitLittleEndian],
		};
		const { peer, directory, intake, procedureSteps, answered, refused, counted } = await startArchive(context, {}, {}, { contexts });
		directory.unavailable = true;
		const statusTo = async (...pdus: Buffer[]) => {
			peer.write(...pdus);
			return statusOf(await peer.next());
		};
		const create = commandSet({ 2: procedureStep, 256: 0x0140, 272: 3, 2048: 0, 4096: '1.2.3' });
		assert.equal(await statusTo(data(value(7, 'command', store())), data(value(7, 'data', dataSet))), 0xa700);
		assert.equal(await statusTo(ask(1, oneStudy)), 0xa700);
		assert.equal(await statusTo(ask(3, oneStudy, 'REMOTE')), 0xa701);
		assert.equal(await statusTo(ask(5, oneStudy)), 0xa701);
		assert.equal(await statusTo(data(value(11, 'command', create)), data(value(11, 'data', dataSet))), 0x0213);
		assert.equal(await statusTo(data(value(9, 'command', echo()))), 0);
		assert.deepEqual([intake.taken.length, procedureSteps.requests, answered, refused], [0, [], [], []]);
		assert.equal(await counted('accessRefusals'), 0);

		directory.unavailable = false;
		assert.equal(await statusTo(data(value(7, 'command', store())), data(value(7, 'data', dataSet))), 0);
		assert.equal(intake.taken.length, 1);
		assert.equal(await counted('dimseMessages', { operation: 'C-STORE', outcome: 'failure' }), 1);
	});

	test('a C-MOVE to an AE that cannot be looked up is not told that it is unknown', async (context) => {
		const { peer, answered } = await startArchive(context, {}, { remoteAesUnavailable: true });
		peer.write(ask(3, oneStudy, 'REMOTE'));
		assert.equal(statusOf(await peer.next()), 0xa701);
		assert.deepEqual(
			answered.map(({ operation, status }) => [operation, status]),
			[['C-MOVE', 0xa701]],
		);
	});

	test('the class of an instance makes no difference', async (context) => {
		const { port, directory } = await startSurface(context);
		const peer = await connect(context, port);
		await peer.ask(associateRequest({ contexts: { 1: [ctImage, explicitLittleEndian] } }));
		directory.unavailable = true;
		const command = commandSet({ 2: '1.2.3', 256: 1, 272: 1, 1792: 0, 2048: 0, 4096: '1.2.4' });
		peer.write(data(value(1, 'command', command)), data(value(1, 'data', dataSet)));
		assert.equal(statusOf(await peer.next()), 0xa700);
	});
});

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import dcmjsDimse from 'dcmjs-dimse';
import { sampleDataSet } from '#test/support/data-set.ts';
import { eventually } from '#test/support/eventually.ts';
import { associateAccept, listeningRemote } from './remote.ts';
import { ctImage, explicitLittleEndian, startSurface, verification } from './support.ts';

/** The client of dcmjs-dimse, a library that shares no line with the acceptor of this surface. */

const { Client, Dataset, constants, log, requests } = dcmjsDimse;
log.setLevel('silent');
// It prints the elements that it drops, with their values.
const load: (name: string) => unknown = createRequire(import.meta.url);
(load('dcmjs') as { log: { setLevel(level: string): void } }).log.setLevel('silent');

type AnyRequest = Parameters<InstanceType<typeof Client>['addRequest']>[0];

interface Answer {
	status: number;
	comment: string;
	command: Record<string, unknown>;
}

/** Sends the requests over one association; how the association ended, and the answers in order. */
function send(port: number, sent: AnyRequest[], calledAe = 'WEST'): Promise<{ answers: Answer[]; end: string; rejection: unknown }> {
	const client = new Client();
	const answers: Answer[] = [];
	let rejection: unknown;
	for (const request of sent) {
		request.on('response', (response) => {
			const command = response.getCommandDataset()?.getElements() ?? {};
			answers.push({ status: response.getStatus(), comment: response.getErrorComment(), command });
		});
		client.addRequest(request);
	}
	return new Promise((resolve) => {
		client.on('associationRejected', (reason) => {
			rejection = reason;
		});
		client.on('associationReleased', () => resolve({ answers, end: 'released', rejection }));
		client.on('closed', () => resolve({ answers, end: 'closed', rejection }));
		client.on('networkError', () => resolve({ answers, end: 'error', rejection }));
		client.send('127.0.0.1', port, 'JSCLIENT', calledAe);
	});
}

test('C-ECHO, many on one association', async (context) => {
	const { port } = await startSurface(context);
	const { answers, end } = await send(
		port,
		Array.from({ length: 5 }, () => new requests.CEchoRequest()),
	);
	assert.equal(end, 'released');
	assert.deepEqual(
		answers.map(({ status, command }) => [status, command['AffectedSOPClassUID']]),
		Array(5).fill([constants.Status.Success, verification]),
	);
});

test('C-STORE', async (context) => {
	const { port, intake } = await startSurface(context);
	const dataset = new Dataset(
		{ SOPClassUID: ctImage, SOPInstanceUID: '1.2.3', PatientID: '4711', TextValue: 'long '.repeat(80_000) },
		constants.TransferSyntax.ExplicitVRLittleEndian,
	);
	const { answers } = await send(port, [new requests.CStoreRequest(dataset)]);
	assert.deepEqual(
		answers.map(({ status }) => status),
		[0],
	);
	const [instance] = intake.taken;
	assert.equal(instance?.announced.affectedSopInstanceUid, '1.2.3');
	// The client proposes it first, and turns the data set into it.
	assert.equal(instance?.announced.transferSyntaxUid, constants.TransferSyntax.ImplicitVRLittleEndian);
	assert.ok(Buffer.concat(instance?.chunks ?? []).includes('long '.repeat(79_999)));
});

test('MPPS', async (context) => {
	const { port, procedureSteps } = await startSurface(context);
	const started = {
		PerformedProcedureStepStatus: 'IN PROGRESS',
		Modality: 'CT',
		PerformedSeriesSequence: [{ SeriesInstanceUID: '1.2.9' }],
	};
	const create = new requests.NCreateRequest(constants.SopClass.ModalityPerformedProcedureStep, '1.2.3');
	create.setDataset(new Dataset(started, constants.TransferSyntax.ImplicitVRLittleEndian));
	const set = new requests.NSetRequest(constants.SopClass.ModalityPerformedProcedureStep, '1.2.3');
	set.setDataset(new Dataset({ PerformedProcedureStepStatus: 'COMPLETED' }, constants.TransferSyntax.ImplicitVRLittleEndian));
	procedureSteps.answer = (operation) =>
		Promise.resolve(operation === 'create' ? { status: 0 } : { status: 0x0110, errorId: 0xa710, comment: 'may no longer be updated' });
	const { answers } = await send(port, [create, set]);
	assert.deepEqual(
		answers.map(({ status, comment, command }) => [status, comment, command['ErrorID'], command['AffectedSOPInstanceUID']]),
		[
			[0, undefined, undefined, '1.2.3'],
			[0x0110, 'may no longer be updated', 0xa710, '1.2.3'],
		],
	);
	assert.deepEqual(procedureSteps.requests[0]?.attributes['00400340'], {
		vr: 'SQ',
		Value: [{ '0020000E': { vr: 'UI', Value: ['1.2.9'] } }],
	});
});

test('an unknown called AE title is rejected', async (context) => {
	const { port } = await startSurface(context);
	const { rejection } = await send(port, [new requests.CEchoRequest()], 'NOWHERE');
	assert.deepEqual(rejection, { result: 1, source: 1, reason: constants.RejectReason.CalledAeNotRecognized });
});

/**
 * The reasons why C-MOVE and commitment reports do not go through the library's client. When one of these tests fails, they may.
 */
describe('a C-STORE by the client', () => {
	/** A request for the data set, and a client that has it to send. */
	function sender(dataSet: Buffer) {
		const client = new Client();
		const request = new requests.CStoreRequest(new Dataset(dataSet, constants.TransferSyntax.ExplicitVRLittleEndian));
		client.addRequest(request);
		return { client, request };
	}

	test('does not send the bytes of the data set as they are', async (context) => {
		const remote = await listeningRemote(context);
		const stored = sampleDataSet();
		const { client } = sender(stored);
		client.send(remote.target.host, remote.target.port, 'JSCLIENT', 'REMOTE');
		const peer = await remote.connected();
		await peer.next();
		peer.write(associateAccept({ 1: [0, explicitLittleEndian] }));
		await peer.next();
		const { body } = await peer.next();
		const sent = body.subarray(6);
		// Elements of a manufacturer, which the library's dictionary does not have.
		const vendor = Buffer.alloc(600, 7);
		assert.deepEqual([stored.includes(vendor), sent.includes(vendor)], [true, false]);
		peer.socket.destroy();
	});

	test('turns an instance into another transfer syntax, or passes over it without a word', async (context) => {
		const { port, intake } = await startSurface(context);
		const { client, request } = sender(sampleDataSet());
		let responses = 0;
		request.on('response', () => {
			responses += 1;
		});
		client.send('127.0.0.1', port, 'JSCLIENT', 'WEST');
		await new Promise((resolve) => client.on('associationReleased', () => resolve(undefined)));
		assert.deepEqual([intake.taken.length, responses], [0, 0]);
	});

	test('has the whole instance in memory however little the peer takes', async (context) => {
		const remote = await listeningRemote(context);
		const bytes = 32 * 1024 * 1024;
		const { client } = sender(sampleDataSet({ pixels: Buffer.alloc(bytes) }));
		client.send(remote.target.host, remote.target.port, 'JSCLIENT', 'REMOTE');
		const peer = await remote.connected();
		await peer.next();
		peer.socket.pause();
		peer.write(associateAccept({ 1: [0, explicitLittleEndian] }));
		const { socket } = (client as unknown as { network: { socket: { writableLength: number; destroy(): void } } }).network;
		// What the system holds of it is some megabytes.
		await eventually(() => Promise.resolve(socket.writableLength > bytes / 2), 'the instance in memory');
		socket.destroy();
	});

	test('passes over an instance for which there is no presentation context, without a word', async (context) => {
		const remote = await listeningRemote(context);
		const { client, request } = sender(sampleDataSet());
		let responses = 0;
		request.on('response', () => {
			responses += 1;
		});
		const released = new Promise((resolve) => client.on('associationReleased', () => resolve('released')));
		client.send(remote.target.host, remote.target.port, 'JSCLIENT', 'REMOTE');
		const peer = await remote.connected();
		await peer.next();
		peer.write(associateAccept({ 1: [3, ''] }));
		assert.equal((await peer.next()).type, 5);
		peer.write(Buffer.from([6, 0, 0, 0, 0, 4, 0, 0, 0, 0]));
		assert.equal(await released, 'released');
		assert.equal(responses, 0);
	});

	test('does not tell that the peer aborted', async (context) => {
		const remote = await listeningRemote(context);
		const { client, request } = sender(sampleDataSet());
		const told: string[] = [];
		request.on('response', () => told.push('response'));
		for (const event of ['associationRejected', 'associationReleased', 'networkError'] as const) client.on(event, () => told.push(event));
		const closed = new Promise((resolve) => client.on('closed', () => resolve(undefined)));
		client.send(remote.target.host, remote.target.port, 'JSCLIENT', 'REMOTE');
		const peer = await remote.connected();
		await peer.next();
		peer.write(associateAccept({ 1: [0, explicitLittleEndian] }));
		await peer.next();
		peer.write(Buffer.from([7, 0, 0, 0, 0, 4, 0, 0, 0, 0]));
		peer.socket.end();
		await closed;
		assert.deepEqual(told, []);
	});
});

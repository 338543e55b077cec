import assert from 'node:assert/strict';
import { test } from 'node:test';
import dcmjsDimse from 'dcmjs-dimse';
import { ctImage, startSurface, verification } from './support.ts';

/** The client of dcmjs-dimse, a library that shares no line with this surface. */

const { Client, Dataset, constants, log, requests } = dcmjsDimse;
log.setLevel('silent');

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

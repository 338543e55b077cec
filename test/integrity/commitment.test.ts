import assert from 'node:assert/strict';
import { rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type CommitmentRecord, listCommitments } from '#administration/commitments.ts';
import { addRemoteAe } from '#administration/remote-aes.ts';
import { setSite } from '#administration/sites.ts';
import { targetPolicy } from '#core/target-policy.ts';
import { type DicomJson, JsonModelReader } from '#dicom/json-model.ts';
import { requestAssociation } from '#surfaces/dimse/requestor.ts';
import { ctStorage, element, sampleDataSet, sequence } from '#test/support/data-set.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { defaultLimits } from '../../src/limits.ts';
import { createMetrics } from '../../src/metrics.ts';
import {
	associate,
	commandSet,
	data,
	item,
	type Peer,
	pdu,
	type ReceivedPdu,
	responseOf,
	statusOf,
	value,
} from '../surfaces/dimse/peer.ts';
import { associateAccept, listeningRemote, proposalOf, type Remote } from '../surfaces/dimse/remote.ts';
import { explicitLittleEndian } from '../surfaces/dimse/support.ts';

const commitment = '1.2.840.10008.1.20.1';
const wellKnown = '1.2.840.10008.1.20.1.1';
const mrStorage = '1.2.840.10008.5.1.4.1.1.4';
type Reference = [sopClassUid: string, sopInstanceUid: string];

/** A service whose site WEST takes instances from loopback; it tries reports again at once. */
async function west(t: TestContext, environment: Record<string, string> = {}): Promise<TestService> {
	const service = await testService({ COMMITMENT_RETRY_MS: '50', ...environment });
	t.after(() => service[Symbol.asyncDispose]());
	await service.addSite('west');
	await setSite(service.administration, { slug: 'west', ae_title: 'WEST' });
	await eventually(
		() =>
			store(service, []).then(
				() => true,
				() => false,
			),
		'the AE title',
	);
	return service;
}

/** Stores instances as MODALITY; answers their statuses. */
async function store(service: TestService, dataSets: [string, Buffer][], title = 'WEST'): Promise<number[]> {
	const target = { title, host: '127.0.0.1', port: service.port('dimse'), tls: false };
	const association = await requestAssociation(target, {
		targets: targetPolicy([], '127.0.0.1'),
		callingAe: 'MODALITY',
		contexts: [{ abstractSyntax: ctStorage, transferSyntaxes: [explicitLittleEndian] }],
		limits: defaultLimits,
		metrics: createMetrics({ processMetrics: false }),
	});
	const [context] = association.contexts;
	assert.ok(context);
	const statuses: number[] = [];
	for (const [sopInstanceUid, dataSet] of dataSets) {
		statuses.push((await association.send(context, { operation: 'C-STORE', sopClassUid: ctStorage, sopInstanceUid }, [dataSet])).status);
	}
	await association.release();
	return statuses;
}

const sample = (sopInstanceUid: string, pixel = 0): [string, Buffer] => [
	sopInstanceUid,
	sampleDataSet({ sopInstanceUid, pixels: Buffer.alloc(64, pixel) }),
];

function actionOf(transactionUid: string, references: Reference[]): Buffer {
	const items = references.map(([sopClass, instance]) =>
		Buffer.concat([element(0x0008_1150, 'UI', sopClass), element(0x0008_1155, 'UI', instance)]),
	);
	const information = Buffer.concat([element(0x0008_1195, 'UI', transactionUid), sequence(0x0008_1199, items)]);
	const command = commandSet({ 3: commitment, 256: 0x0130, 272: 7, 2048: 0, 4097: wellKnown, 4104: 1 });
	return data(value(1, 'command', command), value(1, 'data', information));
}

const modality = (t: TestContext, service: TestService) =>
	associate(t, service.port('dimse'), { calling: 'MODALITY', contexts: { 1: [commitment, explicitLittleEndian] } });

/** Asks for commitment; the answer must be success. */
async function ask(peer: Peer, transactionUid: string, references: Reference[]): Promise<void> {
	const [answer] = await peer.ask(actionOf(transactionUid, references));
	assert.equal(statusOf(answer as ReceivedPdu), 0);
}

interface Report {
	eventType: number | undefined;
	messageId: number;
	transactionUid: unknown;
	committed: unknown[];
	/** UID and Failure Reason. */
	failed: unknown[][];
}

/** The N-EVENT-REPORT that comes next. */
async function reportTo(peer: Peer): Promise<Report> {
	const command = responseOf(await peer.next());
	assert.equal(command.get(0x0100)?.readUInt16LE(0), 0x0100);
	assert.equal(command.get(0x0002)?.toString('latin1').replace('\0', ''), commitment);
	assert.equal(command.get(0x1000)?.toString('latin1').replace('\0', ''), wellKnown);
	const reader = new JsonModelReader(explicitLittleEndian, { bytesMax: 1e6, inlineBytesMax: 0, bulkDataUri: () => undefined });
	reader.feed((await peer.next()).body.subarray(6));
	const read = reader.end();
	assert.ok('json' in read);
	const items = (tag: string) => (read.json[tag]?.Value ?? []) as DicomJson[];
	const of = (json: DicomJson, tag: string) => json[tag]?.Value?.[0];
	return {
		eventType: command.get(0x1002)?.readUInt16LE(0),
		messageId: command.get(0x0110)?.readUInt16LE(0) as number,
		transactionUid: of(read.json, '00081195'),
		committed: items('00081199').map((instance) => of(instance, '00081155')),
		failed: items('00081198').map((instance) => [of(instance, '00081155'), of(instance, '00081197')]),
	};
}

function answer(peer: Peer, { messageId }: Report, status = 0): void {
	peer.write(
		data(value(1, 'command', commandSet({ 2: commitment, 256: 0x8100, 288: messageId, 2048: 0x0101, 2304: status, 4096: wellKnown }))),
	);
}

/** The next association that the service opens to the remote AE, accepted, with the service as SCP. */
async function acceptNext(remote: Remote): Promise<Peer> {
	const peer = await remote.connected();
	const { called, calling, contexts, user } = proposalOf((await peer.next()).body);
	assert.deepEqual([called, calling, contexts[1]?.[0]], ['MODALITY', 'WEST', commitment]);
	const role = Buffer.concat([Buffer.from([0, commitment.length]), Buffer.from(commitment), Buffer.from([0, 1])]);
	assert.deepEqual(user.get(0x54), [role]);
	peer.write(associateAccept({ 1: [0, explicitLittleEndian] }, 16_384, [item(0x54, role)]));
	return peer;
}

async function released(peer: Peer): Promise<void> {
	assert.equal((await peer.next()).type, 5);
	peer.write(pdu(6, Buffer.alloc(4)));
	await peer.closed;
}

async function register(service: TestService, { target: { host, port } }: Remote): Promise<void> {
	await addRemoteAe(service.administration, { site: 'west', title: 'MODALITY', host, port, tls: false });
}

async function listed(service: TestService, condition: (record: CommitmentRecord) => boolean, what: string): Promise<CommitmentRecord> {
	let found: CommitmentRecord | undefined;
	await eventually(async () => {
		found = (await listCommitments(service.administration, { limit: 10 })).find(condition);
		return found !== undefined;
	}, what);
	return found as CommitmentRecord;
}

describe('storage commitment', () => {
	test('of what only another site has is refused as of something that nobody has', async (t) => {
		const service = await west(t);
		await service.addSite('east');
		await setSite(service.administration, { slug: 'east', ae_title: 'EAST' });
		await eventually(
			() =>
				store(service, [sample('1.77')], 'EAST').then(
					([status]) => status === 0,
					() => false,
				),
			'an image of the other site',
		);
		const peer = await modality(t, service);
		await ask(peer, '1.2.3.77', [
			[ctStorage, '1.77'],
			[ctStorage, '1.78'],
		]);
		const { committed, failed } = await reportTo(peer);
		assert.deepEqual(committed, []);
		// No such object instance (PS3.4 Annex J.3.3).
		assert.deepEqual(failed, [
			['1.77', 0x0112],
			['1.78', 0x0112],
		]);
	});

	test('is reported over the same association; what is not safe is refused with its reason', async (t) => {
		const service = await west(t, { SEGMENTED_OBJECT_BYTES_MAX: '0' });
		const stored = await store(service, [sample('1.1'), sample('1.2'), sample('1.3'), sample('1.4'), sample('1.3', 9)]);
		assert.deepEqual(stored.slice(0, 4), [0, 0, 0, 0]);
		assert.equal((stored[4] as number) >> 12, 0xb);
		const peer = await modality(t, service);
		await ask(peer, '1.2.3.1', [
			[ctStorage, '1.1'],
			[ctStorage, '1.2'],
		]);
		const whole = await reportTo(peer);
		assert.deepEqual(whole, { eventType: 1, messageId: 1, transactionUid: '1.2.3.1', committed: ['1.1', '1.2'], failed: [] });
		answer(peer, whole);
		const settled = await listed(service, ({ state }) => state === 'reported', 'the settled request');
		assert.deepEqual(
			[settled.site, settled.calling_ae, settled.instances, settled.committed, settled.refused],
			['west', 'MODALITY', 2, 2, 0],
		);

		const [row] = await service.rows<{ object_key: string }>(`select object_key from imaging_instance where sop_instance_uid = '1.4'`);
		rmSync(join(service.dataDir, 'objects', String(row?.object_key)));
		await ask(peer, '1.2.3.2', [
			[ctStorage, '1.1'],
			[mrStorage, '1.2'],
			[ctStorage, '1.3'],
			[ctStorage, '1.4'],
			[ctStorage, '1.5'],
		]);
		const partly = await reportTo(peer);
		assert.equal(partly.eventType, 2);
		assert.deepEqual(partly.committed, ['1.1']);
		assert.deepEqual(partly.failed, [
			['1.2', 0x0119],
			['1.3', 0x0110],
			['1.4', 0x0110],
			['1.5', 0x0112],
		]);
		answer(peer, partly);
		await listed(
			service,
			({ transaction_uid, state, refused }) => transaction_uid === '1.2.3.2' && state === 'reported' && refused === 4,
			'the second',
		);

		// As an earlier release stored what ended within its pixel data.
		const [cut] = await service.rows<{ object_key: string; bytes: number }>(
			`update imaging_instance set bytes = bytes - 10, digest = 'of the cut one' where sop_instance_uid = '1.2' returning object_key, bytes::integer`,
		);
		truncateSync(join(service.dataDir, 'objects', String(cut?.object_key)), cut?.bytes);
		await ask(peer, '1.2.3.4', [[ctStorage, '1.2']]);
		const ofCut = await reportTo(peer);
		assert.deepEqual(ofCut.failed, [['1.2', 0x0110]]);
		answer(peer, ofCut);
		assert.deepEqual(await store(service, [sample('1.2')]), [0], 'the whole one takes its place');
		await ask(peer, '1.2.3.5', [[ctStorage, '1.2']]);
		const ofWhole = await reportTo(peer);
		assert.deepEqual(ofWhole.committed, ['1.2']);
		answer(peer, ofWhole);

		await service.rows(`update imaging_conflict set settled_at = now()`);
		await ask(peer, '1.2.3.3', [[ctStorage, '1.3']]);
		const later = await reportTo(peer);
		assert.deepEqual([later.eventType, later.committed], [1, ['1.3']]);
		answer(peer, later);
	});

	test('a transaction UID that is in use with another list is refused; the same request again is reported again', async (t) => {
		const service = await west(t);
		await store(service, [sample('1.1')]);
		const peer = await modality(t, service);
		for (const _time of [1, 2]) {
			await ask(peer, '1.2.3.1', [[ctStorage, '1.1']]);
			const report = await reportTo(peer);
			assert.deepEqual([report.eventType, report.committed], [1, ['1.1']]);
			answer(peer, report);
		}
		await ask(peer, '1.2.3.1', [[ctStorage, '1.2']]);
		const report = await reportTo(peer);
		assert.deepEqual([report.eventType, report.failed], [2, [['1.2', 0x0131]]]);
		answer(peer, report);
		await eventually(
			async () => (await listCommitments(service.administration, { limit: 10, state: 'reported' })).length === 2,
			'both requests',
		);
	});

	test('is reported over a new association when the requestor has gone, until it takes the report', async (t) => {
		const service = await west(t);
		const remote = await listeningRemote(t);
		await register(service, remote);
		await store(service, [sample('1.1')]);
		const peer = await modality(t, service);
		peer.write(actionOf('1.2.3.1', [[ctStorage, '1.1']]));
		assert.equal(statusOf(await peer.next()), 0);
		peer.socket.destroy();
		const first = await acceptNext(remote);
		const refusedReport = await reportTo(first);
		answer(first, refusedReport, 0x0110);
		await released(first);
		const second = await acceptNext(remote);
		const report = await reportTo(second);
		assert.deepEqual([report.eventType, report.transactionUid, report.committed], [1, '1.2.3.1', ['1.1']]);
		answer(second, report);
		await released(second);
		const settled = await listed(service, ({ state }) => state === 'reported', 'the settled request');
		assert.deepEqual([settled.committed, settled.failure], [1, null]);
	});

	test('survives a restart between the request and its report', async (t) => {
		const service = await west(t);
		const remote = await listeningRemote(t);
		await register(service, remote);
		await store(service, [sample('1.1')]);
		const peer = await modality(t, service);
		await ask(peer, '1.2.3.1', [[ctStorage, '1.1']]);
		// The report is not answered on this association, which the restart aborts.
		await reportTo(peer);
		await service.restart();
		const later = await acceptNext(remote);
		const report = await reportTo(later);
		assert.deepEqual([report.eventType, report.committed], [1, ['1.1']]);
		answer(later, report);
		await released(later);
		await listed(service, ({ state }) => state === 'reported', 'the settled request');
	});

	test('of an AE that is not registered waits, is listed with the reason, and is reported once it is', async (t) => {
		const service = await west(t);
		await store(service, [sample('1.1')]);
		const peer = await modality(t, service);
		peer.write(actionOf('1.2.3.1', [[ctStorage, '1.1']]));
		assert.equal(statusOf(await peer.next()), 0);
		peer.socket.destroy();
		const waiting = await listed(service, ({ attempts }) => attempts > 1, 'a further attempt');
		assert.deepEqual([waiting.state, waiting.failure], ['waiting', 'MODALITY is not registered as a remote AE of the site']);
		const remote = await listeningRemote(t);
		await register(service, remote);
		const later = await acceptNext(remote);
		const report = await reportTo(later);
		answer(later, report);
		await released(later);
		await listed(service, ({ state }) => state === 'reported', 'the settled request');
	});

	test('is given up after its time, and removed from the list later', async (t) => {
		const service = await west(t, { COMMITMENT_REPORT_MS_MAX: '100', COMMITMENT_AGE_MS_MAX: '1000' });
		const peer = await modality(t, service);
		peer.write(actionOf('1.2.3.1', [[ctStorage, '1.1']]));
		assert.equal(statusOf(await peer.next()), 0);
		peer.socket.destroy();
		const failed = await listed(service, ({ state }) => state === 'failed', 'the end');
		assert.match(String(failed.failure), /not registered|ended before the report/);
		await service.rows(`update commitment_request set settled_at = now() - interval '1 hour'`);
		await service.restart();
		await eventually(async () => (await listCommitments(service.administration, { limit: 10 })).length === 0, 'the removal');
	});
});

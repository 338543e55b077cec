import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addClient } from '#administration/clients.ts';
import { addIssuer } from '#administration/issuers.ts';
import { resetPassword } from '#administration/users.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { adt } from '#test/support/adt.ts';
import { element } from '#test/support/data-set.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient } from '#test/support/mllp-client.ts';
import { Modality } from '#test/support/modality.ts';
import { clientId, jwtAudience, testProvider } from '#test/support/oidc-provider.ts';
import { type OtlpCollector, otlpCollector, type ReceivedSpan } from '#test/support/otlp-collector.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { addImagingSite, ctInstance, StorageScu } from '#test/support/storage-scu.ts';
import { webhookReceiver } from '#test/support/webhook-receiver.ts';
import { owner, signedIn } from '#test/surfaces/admin/client.ts';
import { dicomWebClient, file } from '#test/surfaces/dicomweb/client.ts';
import { commandSet, data, value } from '#test/surfaces/dimse/peer.ts';
import { identifier } from '#test/surfaces/dimse/questions.ts';

/** Every span is exported at once. */
const atOnce = { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' };
const traceId = '0af7651916cd43dd8448eb211c80319c';
const callerSpan = 'b7ad6b7169203331';
const sampled = { traceparent: `00-${traceId}-${callerSpan}-01` };
const studyFind = '1.2.840.10008.5.1.4.1.2.2.1';

const tracedBy = (collector: OtlpCollector, more: Record<string, string> = {}) =>
	testService({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...atOnce, ...more });

/** The root of a request or message, with the spans of its trace, once it has ended. */
async function traceOf(
	collector: OtlpCollector,
	isRoot: (span: ReceivedSpan) => boolean,
): Promise<{ root: ReceivedSpan; spans: ReceivedSpan[] }> {
	await eventually(() => collector.spans().some(isRoot), 'the span');
	const root = collector.spans().find(isRoot) ?? assert.fail();
	return { root, spans: collector.spans().filter((span) => span.traceId === root.traceId) };
}

/** Names of the spans of a trace with their parents', and each within its parent. */
function treeOf(root: ReceivedSpan, spans: readonly ReceivedSpan[]): string[] {
	const byId = new Map(spans.map((span) => [span.spanId, span]));
	const lines: string[] = [];
	for (const span of spans) {
		assert.ok(span.start <= span.end, `${span.name} ends before it begins`);
		if (span.spanId === root.spanId) continue;
		const parent = byId.get(span.parentSpanId);
		assert.ok(parent, `${span.name} has no parent in the trace`);
		assert.ok(span.start >= parent.start && span.end <= parent.end, `${span.name} is not within ${parent.name}`);
		lines.push(`${parent.name} > ${span.name}`);
	}
	return lines.sort();
}

const stagesOf = (root: string) =>
	[
		...['apply', 'commit', 'dispatch', 'interpret', 'read', 'write'].map((stage) => `batch > ${stage}`),
		`${root} > batch`,
		`${root} > mailbox`,
	].sort();

const counted = async (service: TestService, outcome: string) => {
	const text = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
	return Number(new RegExp(`^tributary_trace_spans_total{outcome="${outcome}"} (\\d+)$`, 'm').exec(text)?.[1]);
};

describe('traces, from the socket to the commit', () => {
	test('a FHIR create belongs to the trace of its caller, and its spans lie within each other', async () => {
		await using collector = await otlpCollector();
		await using service = await tracedBy(collector, {
			OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b',
			OTEL_SERVICE_NAME: 'integration',
			OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
			NODE_NAME: 'node-1',
		});
		const { key } = await service.addSite('west');
		const call = fhirClient(service, key);
		const patient = { resourceType: 'Patient', name: [{ family: 'Zyxwvut' }] };
		const created = await call('POST', '/Patient', patient, { ...sampled, tracestate: 'vendor=1' });
		assert.equal(created.status, 201);
		const { root, spans } = await traceOf(collector, ({ name }) => name === 'POST /fhir/:type');
		assert.deepEqual(
			{ traceId: root.traceId, parent: root.parentSpanId, state: root.traceState, kind: root.kind, status: root.status },
			{ traceId, parent: callerSpan, state: 'vendor=1', kind: 2, status: 0 },
		);
		assert.deepEqual(root.attributes, {
			'http.request.method': 'POST',
			'http.response.status_code': 201,
			'http.route': '/fhir/:type',
			'tributary.event': 'POST Patient',
			'tributary.outcome': 'accepted',
			'tributary.site': 'west',
			'tributary.surface': 'fhir',
			'url.scheme': 'http',
		});
		assert.deepEqual(treeOf(root, spans), stagesOf('POST /fhir/:type'));
		const ordered = ['mailbox', 'dispatch', 'interpret', 'read', 'apply', 'write', 'commit'].map(
			(name) => spans.find((span) => span.name === name) ?? assert.fail(name),
		);
		for (const [index, { name, start }] of ordered.entries())
			assert.ok(start >= (ordered[index - 1]?.end ?? root.start), `${name} begins before the stage in front of it has ended`);
		assert.equal(ordered.at(-1)?.attributes['db.system.name'], 'postgresql');
		assert.deepEqual(root.resource, {
			'service.name': 'integration',
			'service.version': root.resource['service.version'],
			'service.instance.id': 'node-1',
			'deployment.environment.name': 'test',
		});
		assert.equal(collector.headers[0]?.['x-tenant'], 'a b');
		assert.equal(collector.paths[0], '/v1/traces');
		assert.ok((await counted(service, 'exported')) >= spans.length);
		// The address of a resource has its id.
		await call('GET', `/Patient/${created.body.id}?_format=json`);
		const read = await traceOf(collector, ({ name }) => name.startsWith('GET'));
		assert.equal(read.root.name, 'GET /fhir/:type/:id');
		const bytes = Buffer.concat(collector.bodies);
		for (const text of [created.body.id, 'Zyxwvut', key, '_format']) assert.equal(bytes.includes(text), false, text);
	});

	test('messages, images and procedure steps begin traces of their own, without a word about a patient', async () => {
		await using collector = await otlpCollector();
		await using service = await tracedBy(collector);
		const { called, key } = await addImagingSite(service, 'west');
		await addClient(service.administration, {
			...{ site: 'west', name: 'modality', protocols: ['dicom'], allowed_ips: ['127.0.0.1'], confirm_overlap: true },
			grants: ['query'],
		});
		const consumer =
			(name: string) =>
			({ name: each, kind }: ReceivedSpan) =>
				each === name && kind === 5;

		const mllp = await MllpClient.connect(service.port('mllp'));
		assert.match(await mllp.send(adt('QJXKZ-CONTROL', 'QJXKZ-NUMBER', 'QJXKZ')), /MSA\|AA/);
		const message = await traceOf(collector, consumer('HL7 v2 message'));
		assert.equal(message.root.parentSpanId, '');
		assert.equal(message.root.status, 0);
		assert.deepEqual(treeOf(message.root, message.spans), stagesOf('HL7 v2 message'));
		assert.deepEqual(message.root.attributes, {
			'tributary.event': 'ADT^A08',
			'tributary.outcome': 'accepted',
			'tributary.site': 'west',
			'tributary.surface': 'mllp',
		});
		assert.match(await mllp.send(adt('QJXKZ-2', 'QJXKZ-NUMBER', 'QJXKZ').replace('ADT^A08', 'QJX^KZ9')), /MSA\|A[ER]/);
		const refused = await traceOf(collector, (span) => consumer('HL7 v2 message')(span) && span.status === 2);
		assert.deepEqual(refused.root.attributes, {
			'error.type': 'unsupported-message-type',
			'tributary.event': 'other',
			'tributary.outcome': 'refused',
			'tributary.site': 'west',
			'tributary.surface': 'mllp',
		});
		assert.equal(refused.spans.find(({ name }) => name === 'batch')?.status, 2);
		mllp.socket.destroy();

		const posted = await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': 'application/hl7-v2', ...sampled },
			body: adt('QJXKZ-3', 'QJXKZ-NUMBER', 'QJXKZ'),
		});
		assert.equal(posted.status, 200);
		const http = await traceOf(collector, ({ name }) => name === 'POST /v2/ingest');
		assert.deepEqual(treeOf(http.root, http.spans), stagesOf('POST /v2/ingest'));
		assert.equal(http.root.attributes['tributary.event'], 'ADT^A08');

		const contexts = [
			['1.2.840.10008.5.1.4.1.1.2', explicitLittleEndian],
			[studyFind, explicitLittleEndian],
		] as const;
		using scu = await StorageScu.open(service.port('dimse'), { called, contexts });
		const instance = ctInstance({ sopInstanceUid: '1.2.77.1', studyUid: '1.2.77', patientId: 'QJXKZ-NUMBER' });
		assert.equal((await scu.store(instance)).status, 0);
		const stored = await traceOf(collector, consumer('C-STORE'));
		assert.deepEqual(treeOf(stored.root, stored.spans), stagesOf('C-STORE'));
		assert.equal(stored.root.attributes['tributary.status'], '0x0000');
		assert.equal(stored.root.attributes['tributary.surface'], 'dimse');
		assert.notEqual((await scu.store({ ...instance, sopInstanceUid: '1.2.77.2' })).status, 0);
		const contradiction = await traceOf(collector, (span) => consumer('C-STORE')(span) && span.status === 2);
		assert.match(String(contradiction.root.attributes['error.type']), /^0x[A-C]\d{3}$/);

		const question = identifier([0x0008_0052, 'CS', 'STUDY'], [0x0010_0020, 'LO', 'QJXKZ-NUMBER']);
		const find = commandSet({ 2: studyFind, 256: 0x0020, 272: 9, 1792: 0, 2048: 0 });
		scu.peer.write(data(value(5, 'command', find), value(5, 'data', question)));
		const found = await traceOf(collector, consumer('C-FIND'));
		assert.deepEqual([found.root.attributes['tributary.status'], found.root.status], ['0x0000', 0]);

		const modality = await Modality.open(service.port('dimse'), called);
		const step = Buffer.concat([
			element(0x0010_0020, 'LO', 'QJXKZ-NUMBER'),
			element(0x0040_0241, 'AE', 'CT1'),
			element(0x0040_0252, 'CS', 'IN PROGRESS'),
		]);
		await modality.create('1.2.78', step);
		modality[Symbol.dispose]();
		assert.equal((await traceOf(collector, consumer('N-CREATE'))).root.attributes['tributary.site'], 'west');

		const web = dicomWebClient(service, key);
		assert.equal((await web.store([file({ sopInstanceUid: '1.2.77.3', studyUid: '1.2.77', patientId: 'QJXKZ-NUMBER' })])).status, 200);
		const stow = await traceOf(collector, ({ name }) => name === 'POST /dicomweb/studies');
		assert.equal(stow.root.attributes['tributary.surface'], 'dicomweb');
		assert.deepEqual(treeOf(stow.root, stow.spans), stagesOf('POST /dicomweb/studies'));

		const bytes = Buffer.concat(collector.bodies);
		for (const text of ['QJX', '1.2.77', '1.2.78', key]) assert.equal(bytes.includes(text), false, text);
	});

	test('a caller who does not sample is not traced, and an invalid traceparent is none', async () => {
		await using collector = await otlpCollector();
		await using service = await tracedBy(collector);
		const { key } = await service.addSite('west');
		const call = fhirClient(service, key);
		await call('GET', '/Patient', undefined, { traceparent: `00-${traceId}-${callerSpan}-00` });
		for (const traceparent of [
			`00-${traceId.toUpperCase()}-${callerSpan}-01`,
			`ff-${traceId}-${callerSpan}-01`,
			`00-${traceId}-${'0'.repeat(16)}-01`,
		])
			await call('GET', '/Observation', undefined, { traceparent, tracestate: 'vendor=1' });
		await eventually(() => collector.spans().length === 3, 'three spans');
		for (const span of collector.spans()) {
			assert.equal(span.attributes['http.route'], '/fhir/:type');
			assert.deepEqual([span.parentSpanId, span.traceState], ['', '']);
			assert.notEqual(span.traceId, traceId);
		}
	});

	test('calls of a token issuer and of a webhook are spans of their own, which the receiver can continue, and say nothing of the address', async () => {
		await using collector = await otlpCollector();
		await using provider = await testProvider(['system/*.rs']);
		await using webhook = await webhookReceiver();
		await using service = await tracedBy(collector);
		const { administration } = service;
		await service.addSite('west');
		const about = { site: 'west', owner: 'owner@example.org', audience: jwtAudience, clients: [clientId] };
		await addIssuer(administration, { ...about, issuer: provider.issuer });
		const headers = { Authorization: `Bearer ${await provider.token('system/*.rs')}` };
		assert.equal((await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/Patient`, { headers })).status, 200);
		const admin = await signedIn(service, owner, (await resetPassword(administration, owner)).password);
		const added = await admin.call('/api/v1/notifications', {
			method: 'POST',
			body: { by: 'webhook', to: webhook.url, network: true },
		});
		assert.ok(added.status < 300, JSON.stringify(added.body));
		assert.equal((await admin.call(`/api/v1/notifications/${added.body.id}/test`, { method: 'POST' })).status, 200);
		const [called] = webhook.calls;
		const toldOf = [...provider.traceparents, called?.headers['traceparent']];
		assert.ok(toldOf.length >= 3, 'the document of the issuer, its keys, and the webhook');
		const calls = () => collector.spans().filter(({ kind }) => kind === 3);
		await eventually(() => calls().length === toldOf.length, 'a span of each call');
		assert.deepEqual(
			calls()
				.map(({ traceId: id, spanId }) => `00-${id}-${spanId}-01`)
				.sort(),
			toldOf.sort(),
		);
		const shown = calls().map(
			({ name, attributes }) => `${attributes['tributary.surface']} ${name} ${attributes['http.response.status_code']}`,
		);
		assert.deepEqual([...new Set(shown)].sort(), ['token-issuer GET 200', 'webhook POST 204']);
		const bytes = Buffer.concat(collector.bodies);
		for (const { host } of [new URL(provider.issuer), new URL(webhook.url)]) assert.equal(bytes.includes(host), false, host);
	});

	test('of a ratio of 0 nothing is exported', async () => {
		await using collector = await otlpCollector();
		await using service = await tracedBy(collector, { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' });
		const { key } = await service.addSite('west');
		const call = fhirClient(service, key);
		for (let index = 0; index < 5; index++) await call('GET', '/Patient');
		const mllp = await MllpClient.connect(service.port('mllp'));
		assert.match(await mllp.send(adt('1', '4711', 1)), /MSA\|AA/);
		mllp.socket.destroy();
		// The caller decides for its own request, so this is the first span of all.
		await call('GET', '/Encounter', undefined, sampled);
		await eventually(() => collector.spans().length > 0, 'the span of the caller who samples');
		assert.deepEqual([...new Set(collector.spans().map((span) => span.traceId))], [traceId]);
	});

	test('while the collector is away or hangs, answers go on, and spans are dropped and counted', async () => {
		const collector = await otlpCollector();
		await using service = await tracedBy(collector, { OTEL_EXPORTER_OTLP_TIMEOUT: '100', OTEL_BSP_MAX_QUEUE_SIZE: '2' });
		const { key } = await service.addSite('west');
		const call = fhirClient(service, key);
		const dropsMore = async (what: string) => {
			const before = await counted(service, 'dropped');
			await eventually(async () => {
				assert.equal((await call('POST', '/Patient', { resourceType: 'Patient' })).status, 201);
				return (await counted(service, 'dropped')) > before;
			}, what);
		};
		collector.answers = 'refuse';
		await dropsMore('a dropped span, when the collector refuses');
		collector.answers = 'hang';
		await dropsMore('a dropped span, when the collector hangs');
		collector.answers = 'take';
		await eventually(async () => {
			await call('GET', '/Patient');
			return (await counted(service, 'exported')) > 0;
		}, 'an exported span, when the collector answers again');
		await collector[Symbol.asyncDispose]();
		await dropsMore('a dropped span, when the collector is away');
	});

	test('each process of a node exports its own spans', async () => {
		await using collector = await otlpCollector();
		await using service = await tracedBy(collector, { PROCESSES: '2', NODE_NAME: 'node-1' });
		await service.addSite('west');
		const instances = () => new Set(collector.spans().map(({ resource }) => resource['service.instance.id']));
		let number = 0;
		await eventually(async () => {
			const mllp = await MllpClient.connect(service.port('mllp'));
			assert.match(await mllp.send(adt(String(++number), '4711', number)), /MSA\|AA/);
			mllp.socket.destroy();
			return instances().size === 2;
		}, 'spans of both processes');
		assert.deepEqual([...instances()].sort(), ['node-1/0', 'node-1/1']);
	});
});

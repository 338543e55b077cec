import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { mergePatients } from '#administration/identity.ts';
import { listPatientResults } from '#administration/patient-results.ts';
import { messageBound, patientTimelineInput, showTimeline, timelineKinds } from '#administration/patient-timeline.ts';
import { searchPatients } from '#administration/patients.ts';
import { setSite } from '#administration/sites.ts';
import { opened, sendImages } from '#test/support/images.ts';
import { MllpClient } from '#test/support/mllp-client.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

const pid = (number: string, name: string, authority = 'MRN') => `PID|1||${number}^^^${authority}||${name}||19580314|F`;

/** CRP of a day with its time zone; the third value has no flag, the last is below what is measured. */
const crp = [
	['20260105073000+0100', 'NM', '4.0', '0-5', 'N'],
	['20260106073000+0100', 'NM', '88.20', '0-5', 'H'],
	['20260107073000+0100', 'NM', '14.50', '0-5', ''],
	['20260108073000+0100', 'SN', '<^0.5', '0-5', ''],
] as const;

describe('what is known of a patient', () => {
	let service: TestService;
	let id: string;
	before(async () => {
		service = await testService();
		const { key } = await service.addSite('north');
		await setSite(service.administration, { slug: 'north', default_authority: 'urn:id:MRN' });
		await service.addSite('east', { allowed_ips: ['127.0.0.2'] });
		await eventually(async () => (await service.fhir('/fhir/Patient', key)).status === 200, 'the key');
		await receive(service, key);
		id = await idOf('4711');
		await mergePatients(service.administration, { site: 'north', survivor: id, prior: await idOf('4812') });
	});
	after(() => service[Symbol.asyncDispose]());

	async function idOf(number: string): Promise<string> {
		const found = await searchPatients(service.administration, { site: 'north', text: number, limit: 10 });
		return found.find(({ identifiers }) => identifiers.some(({ value, old }) => value === number && !old))?.id ?? assert.fail(number);
	}
	const timeline = (asked: object = {}) =>
		showTimeline(service.administration, patientTimelineInput.parse({ site: 'north', id, limit: 200, ...asked }));

	test('stands in one order, of every kind, and leads to what it came with', async () => {
		const { entries, more, shared } = await timeline();
		assert.equal(more, false);
		assert.deepEqual(shared, []);
		assert.deepEqual(
			entries.map(({ key }) => key),
			entries.map(({ key }) => key).toSorted((left, right) => (left < right ? 1 : -1)),
		);
		const titles = (kind: string) => entries.filter((entry) => entry.kind === kind).map(({ title, status }) => `${title} ${status}`.trim());
		assert.deepEqual(new Set(entries.map(({ kind }) => kind)), new Set(timelineKinds));
		const received = titles('message').filter((title) => /^(ADT|ORU)/.test(title));
		assert.deepEqual(received.toSorted(), [
			...['ADT^A01 accepted', 'ADT^A01 accepted', 'ADT^A08 accepted'],
			...crp.map(() => 'ORU^R01 accepted'),
		]);
		assert.deepEqual(titles('study'), ['CT head']);
		assert.equal(titles('step').length, 1);
		assert.deepEqual(titles('identity'), ['Another patient was merged into this one', 'Identity changed', 'First recorded']);
		const changed = entries.find(({ title }) => title === 'Identity changed');
		assert.equal(changed?.detail, 'name: Okafor, Ngozi → Okafor, Ngozi Ada');
		assert.notEqual(changed?.message, null);
		const results = entries.filter(({ kind }) => kind === 'result');
		assert.deepEqual(
			results.map(({ detail, flag, derived, stated }) => [detail, flag, derived, stated]),
			[
				['<0.5 mg/L', null, null, '2026-01-08T07:30:00+01:00'],
				['14.50 mg/L', null, 'high', '2026-01-07T07:30:00+01:00'],
				['88.20 mg/L', 'high', 'high', '2026-01-06T07:30:00+01:00'],
				['4.0 mg/L', 'normal', null, '2026-01-05T07:30:00+01:00'],
			],
		);
		assert.equal(results[0]?.at, '2026-01-08T06:30:00.000Z');
		assert.ok(results.every(({ message }) => message !== null));
	});

	test('is the same page by page, of each kind and of a period', async () => {
		const { entries } = await timeline();
		const paged: string[] = [];
		for (let before: string | undefined; ; before = paged.at(-1)) {
			const page = await timeline({ limit: 2, before });
			paged.push(...page.entries.map(({ key }) => key));
			if (!page.more) break;
		}
		assert.deepEqual(
			paged,
			entries.map(({ key }) => key),
		);
		for (const kind of timelineKinds) {
			const page = await timeline({ kind });
			assert.deepEqual(
				page.entries.map(({ key }) => key),
				entries.filter((entry) => entry.kind === kind).map(({ key }) => key),
			);
		}
		const day = await timeline({ since: '2026-01-06T00:00:00Z', until: '2026-01-07T00:00:00Z' });
		assert.deepEqual(
			day.entries.map(({ kind, detail }) => [kind, detail]),
			[
				['result', '88.20 mg/L'],
				['report', ''],
				['study', 'CT · series 1, instances 1'],
			],
		);
	});

	test('is not that of another site, nor of another patient with the same number', async () => {
		await assert.rejects(showTimeline(service.administration, patientTimelineInput.parse({ site: 'east', id })), { fault: 'not-found' });
		const mllp = await MllpClient.connect(service.port('mllp'));
		assert.match(await mllp.send(adt('A04', 'SHARED', pid('4711', 'Brandt^Tobias', 'OTHER'))), /MSA\|AA/);
		mllp.close();
		const { entries, shared } = await timeline();
		assert.deepEqual(shared, ['4711']);
		assert.ok(!entries.some(({ detail }) => detail.includes('SHARED')));
		assert.ok(entries.some(({ kind }) => kind === 'result'));
	});

	test('results keep their digits and say what follows from their range, in the period', async () => {
		const results = (asked: object = {}) => listPatientResults(service.administration, { site: 'north', id, ...asked });
		const all = await results();
		assert.deepEqual(
			all.results.map(({ digits, comparator, unit, low, high, flag, derived }) => [digits, comparator, unit, low, high, flag, derived]),
			[
				['0.5', '<', 'mg/L', '0', '5', null, null],
				['14.50', '', 'mg/L', '0', '5', null, 'high'],
				['88.20', '', 'mg/L', '0', '5', 'high', 'high'],
				['4.0', '', 'mg/L', '0', '5', 'normal', null],
			],
		);
		const some = await results({ since: '2026-01-06', until: '2026-01-07', code: '1988-5' });
		assert.deepEqual(
			some.results.map(({ value }) => value),
			['88.20 mg/L'],
		);
		assert.deepEqual((await results({ code: '718-7' })).results, []);
		const few = { ...service.administration, limits: { ...service.administration.limits, patientResultsMax: 3 } };
		const cut = await listPatientResults(few, { site: 'north', id });
		assert.deepEqual([cut.results.length, cut.cut, all.cut], [3, true, false]);
		const events = await service.rows<{ subject: string }>("select subject from audit_event where action = 'patient.read'");
		assert.ok(events.some(({ subject }) => subject === id));
	});
});

test('a page of messages begins below the position of any kind', () => {
	const at = '2026-01-05T07:30:00.000Z';
	const id = '019b8d2c-0840-7000-8000-000000000001';
	assert.equal(messageBound(`${at}/message/${id}`), id);
	assert.equal(messageBound(`${at}/identity/0000000001`), messageBound(`${at}/identity/0000000002`));
	assert.ok(String(messageBound(`${at}/visit/${id}`)) > String(messageBound(`${at}/identity/0000000001`)));
	assert.equal(messageBound(undefined), null);
});

function adt(event: string, controlId: string, ...segments: string[]): string {
	return [`MSH|^~\\&|ADT|N|||20260105101500||ADT^${event}|${controlId}|P|2.5.1`, 'EVN||20260105', ...segments].join('\r');
}

async function receive(service: TestService, key: string): Promise<void> {
	const mllp = await MllpClient.connect(service.port('mllp'));
	const send = async (message: string) => assert.match(await mllp.send(message), /MSA\|AA/);
	const visit = `PV1|1|I|WARD^12^1${'|'.repeat(16)}V1${'|'.repeat(25)}20260104120000`;
	await send(adt('A01', 'M1', pid('4711', 'Okafor^Ngozi'), visit));
	for (const [index, [at, type, value, range, flag]] of crp.entries()) {
		const oru = [`MSH|^~\\&|LAB|N|||${at}||ORU^R01|R${index}|P|2.5.1`, pid('4711', 'Okafor^Ngozi')];
		const obx = `OBX|1|${type}|1988-5^C reactive protein^LN||${value}|mg/L|${range}|${flag}|||F|||${at}`;
		await send([...oru, `OBR|1||F${index}|1988-5^C reactive protein^LN|||${at}`, obx].join('\r'));
	}
	await send(adt('A08', 'M2', pid('4711', 'Okafor^Ngozi^Ada')));
	await send(adt('A01', 'M3', pid('4812', 'Okafor^N')));
	mllp.close();
	await opened(service, 'north');
	const study = { studyUid: '2.999.1.1', seriesUid: '2.999.1.1.1', modality: 'CT', date: '20260106', studyDescription: 'CT head' };
	const whose = { patientId: '4711', patientName: 'Okafor^Ngozi', birthDate: '19580314', sex: 'F' };
	await sendImages(service.port('dimse'), 'NORTH', [{ sopInstanceUid: '2.999.1.1.1.1', ...study, ...whose }]);
	const step = { sop_instance_uid: '2.999.1.9', study_uid: '2.999.1.1', status: 'COMPLETED' };
	const { status } = await fetch(`http://127.0.0.1:${service.port('mpps')}/ingest`, {
		method: 'POST',
		headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
		body: JSON.stringify(step),
	});
	assert.equal(status, 200);
}

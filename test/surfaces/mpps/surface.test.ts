import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { listKeys, revokeKey } from '#administration/keys.ts';
import { isUuid } from '#core/id.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

let service: TestService;
let west: string;
let east: string;

before(async () => {
	service = await testService({ MPPS_BYTES_MAX: '4096' });
	west = (await service.addSite('west')).key;
	east = (await service.addSite('east')).key;
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

let steps = 0;
const newStep = () => `1.2.826.0.1.${++steps}`;
const study = '1.2.840.1.7';

interface Answer {
	status: number;
	body: { success: boolean; session_id?: string; error?: string };
	headers: Headers;
}

async function send(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, path = '/ingest'): Promise<Answer> {
	const answer = await fetch(`http://127.0.0.1:${service.port('mpps')}${path}`, {
		method: 'POST',
		headers: { 'X-API-Key': west, 'Content-Type': 'application/json', ...headers },
		body,
	});
	return { status: answer.status, body: (await answer.json()) as Answer['body'], headers: answer.headers };
}

const report = (more: object, key = west) =>
	send(JSON.stringify({ sop_instance_uid: newStep(), study_uid: study, status: 'IN PROGRESS', ...more }), { 'X-API-Key': key });

const session = async (uid: string) =>
	(await service.rows('select * from mpps_session where sop_instance_uid = $1 order by site_id', [uid]))[0] as Record<string, unknown>;

function assertRefused(answer: Answer, status: number, error: RegExp): void {
	assert.equal(answer.status, status, JSON.stringify(answer.body));
	assert.equal(answer.body.success, false);
	assert.match(answer.body.error ?? '', error);
	assert.deepEqual(Object.keys(answer.body), ['success', 'error']);
}

describe('a report', () => {
	test('is answered with the id of its session, which later reports keep', async () => {
		const sop_instance_uid = newStep();
		const first = await report({ sop_instance_uid, attributes: { note: 'a', dose: 1.5 } });
		assert.equal(first.status, 200);
		assert.equal(first.headers.get('content-type'), 'application/json; charset=utf-8');
		assert.ok(isUuid(first.headers.get('x-request-id') ?? ''));
		assert.deepEqual(Object.keys(first.body), ['success', 'session_id']);
		assert.ok(first.body.success && isUuid(first.body.session_id ?? ''));
		const second = await report({ sop_instance_uid, status: 'COMPLETED', attributes: { note: 'b' } });
		assert.deepEqual(second.body, first.body);
		const stored = await session(sop_instance_uid);
		assert.equal(stored['id'], first.body.session_id);
		assert.deepEqual([stored['status'], stored['late'], stored['reports'], stored['study_uid']], ['COMPLETED', false, 2, study]);
		assert.equal(stored['attributes'], '{"note":"b","dose":1.5}');
		const events = await service.rows('select number, status, attributes from mpps_event where session_id = $1 order by number', [
			stored['id'],
		]);
		assert.deepEqual(events, [
			{ number: 1, status: 'IN PROGRESS', attributes: '{"note":"a","dose":1.5}' },
			{ number: 2, status: 'COMPLETED', attributes: '{"note":"b"}' },
		]);
	});

	test('keeps every digit of its attributes', async () => {
		const sop_instance_uid = newStep();
		const body = `{"sop_instance_uid":"${sop_instance_uid}","study_uid":"${study}","status":"IN PROGRESS","attributes":{"dose":1.00,"n":12345678901234567890}}`;
		assert.equal((await send(body)).status, 200);
		assert.equal((await session(sop_instance_uid))['attributes'], '{"dose":1.00,"n":12345678901234567890}');
	});

	test('takes a status in any case, with blanks, underscores or hyphens, and stores it as the standard writes it', async () => {
		for (const [status, stored] of [
			['in progress', 'IN PROGRESS'],
			['IN_PROGRESS', 'IN PROGRESS'],
			['InProgress', 'IN PROGRESS'],
			['in-progress', 'IN PROGRESS'],
			[' Completed ', 'COMPLETED'],
			['discontinued', 'DISCONTINUED'],
		]) {
			const sop_instance_uid = newStep();
			assert.equal((await report({ sop_instance_uid, status })).status, 200, status);
			assert.equal((await session(sop_instance_uid))['status'], stored);
		}
	});

	test('that comes again is answered as before and changes nothing, however its members are ordered', async () => {
		const sop_instance_uid = newStep();
		const first = await report({ sop_instance_uid, status: 'COMPLETED', attributes: { a: 1, b: 2 } });
		const before = await session(sop_instance_uid);
		const again = await send(
			`{"status":"completed", "attributes":{"b":2,"a":1}, "study_uid":"${study}", "sop_instance_uid":"${sop_instance_uid}"}`,
		);
		assert.deepEqual([again.status, again.body], [200, first.body]);
		assert.deepEqual(await session(sop_instance_uid), before);
		const logged = await service.rows<{ outcome: string; bytes: Buffer }>(
			'select outcome, replay_of, bytes from message_log where control_id = $1 order by id',
			[sop_instance_uid],
		);
		assert.deepEqual(
			logged.map(({ outcome, bytes }) => [outcome, bytes.length > 0]),
			[
				['accepted', true],
				['duplicate', false],
			],
		);
	});

	test('of an earlier state after a later one is a report of its own', async () => {
		const sop_instance_uid = newStep();
		await report({ sop_instance_uid, attributes: { a: 1 } });
		await report({ sop_instance_uid, attributes: { a: 2 } });
		await report({ sop_instance_uid, attributes: { a: 1 } });
		assert.deepEqual([(await session(sop_instance_uid))['reports'], (await session(sop_instance_uid))['attributes']], [3, '{"a":1}']);
		await report({ sop_instance_uid, status: 'DISCONTINUED' });
		assertRefused(await report({ sop_instance_uid, attributes: { a: 1 } }), 409, /DISCONTINUED, which is final/);
	});

	test('that is the first and final already is accepted and marked', async () => {
		const sop_instance_uid = newStep();
		assert.equal((await report({ sop_instance_uid, status: 'COMPLETED' })).status, 200);
		assert.equal((await session(sop_instance_uid))['late'], true);
		const [logged] = await service.rows<{ message_type: string; flags: { code: string }[] }>(
			'select message_type, flags from message_log where control_id = $1',
			[sop_instance_uid],
		);
		assert.equal(logged?.message_type, 'MPPS COMPLETED');
		assert.equal(logged?.flags[0]?.code, 'late-report');
	});

	test('to a final session, or with another study, is 409', async () => {
		const sop_instance_uid = newStep();
		await report({ sop_instance_uid });
		assertRefused(await report({ sop_instance_uid, study_uid: '1.2.3.4', status: 'COMPLETED' }), 409, /another study_uid/);
		assert.equal((await report({ sop_instance_uid, status: 'COMPLETED' })).status, 200);
		for (const status of ['IN PROGRESS', 'DISCONTINUED']) assertRefused(await report({ sop_instance_uid, status }), 409, /final/);
		assertRefused(await report({ sop_instance_uid, status: 'COMPLETED', attributes: { more: true } }), 409, /final/);
		assert.equal((await session(sop_instance_uid))['reports'], 2);
	});

	test('in the DICOM JSON Model is read into columns', async () => {
		const sop_instance_uid = newStep();
		const attributes = {
			'00080060': { vr: 'CS', Value: ['CT'] },
			'00100010': { vr: 'PN', Value: [{ Alphabetic: 'Lovemore^Ada' }] },
			'00100020': { vr: 'LO', Value: ['4711 '] },
			'00400241': { vr: 'AE', Value: ['CT01'] },
			'00400242': { vr: 'SH' },
			'00400244': { vr: 'DA', Value: ['20260105'] },
			'00400245': { vr: 'TM', Value: ['083000.5'] },
			'00400252': { vr: 'CS', Value: ['IN PROGRESS'] },
			'00400253': { vr: 'SH', Value: ['P1'] },
			'00400270': {
				vr: 'SQ',
				Value: [{ '0020000D': { vr: 'UI', Value: [study] }, '00080050': { vr: 'SH', Value: ['A1'] } }],
			},
			'00400340': { vr: 'SQ', Value: [{ '0020000E': { vr: 'UI', Value: ['1.2.3.9'] } }] },
		};
		assert.equal((await report({ sop_instance_uid, attributes })).status, 200);
		const { patient_id, patient_name, accession_number, modality, station_ae, station_name, step_id, started, ended, series_uids } =
			await session(sop_instance_uid);
		assert.deepEqual(
			[patient_id, patient_name, accession_number, modality, station_ae, station_name, step_id, started, ended, series_uids],
			['4711', 'Lovemore^Ada', 'A1', 'CT', 'CT01', null, 'P1', '2026-01-05T08:30:00Z', null, ['1.2.3.9']],
		);
	});

	test('is seen and changed by its own site alone', async () => {
		const sop_instance_uid = newStep();
		const own = await report({ sop_instance_uid, status: 'COMPLETED' });
		const other = await report({ sop_instance_uid, status: 'IN PROGRESS', study_uid: '1.2.3.4' }, east);
		assert.equal(other.status, 200, 'another site has a session of its own under the same UID');
		assert.notEqual(other.body.session_id, own.body.session_id);
		assert.equal((await report({ sop_instance_uid, status: 'DISCONTINUED', study_uid: '1.2.3.4' }, east)).status, 200);
		const rows = await service.rows(
			'select s.slug, m.status, m.study_uid from mpps_session m join site s on s.id = m.site_id where sop_instance_uid = $1 order by slug',
			[sop_instance_uid],
		);
		assert.deepEqual(rows, [
			{ slug: 'east', status: 'DISCONTINUED', study_uid: '1.2.3.4' },
			{ slug: 'west', status: 'COMPLETED', study_uid: study },
		]);
	});
});

describe('a body', () => {
	const whole = { sop_instance_uid: '1.2.3', study_uid: '1.2.4', status: 'COMPLETED' };
	const without = (name: string) => Object.fromEntries(Object.entries(whole).filter(([member]) => member !== name));
	const deep = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
	const refused: [string, object, RegExp][] = [
		['without sop_instance_uid', without('sop_instance_uid'), /^sop_instance_uid is missing$/],
		['without study_uid', without('study_uid'), /^study_uid is missing$/],
		['without status', without('status'), /^status is missing$/],
		['of nothing', {}, /sop_instance_uid is missing; study_uid is missing; status is missing/],
		['with a status that is none', { ...whole, status: 'SCHEDULED' }, /IN PROGRESS, COMPLETED, DISCONTINUED/],
		['with an empty status', { ...whole, status: '' }, /IN PROGRESS, COMPLETED, DISCONTINUED/],
		['with a status that is no string', { ...whole, status: 1 }, /status is not a string/],
		['with site_id', { ...whole, site_id: 'east' }, /^site_id is not taken from the body/],
		['with unknown members', { ...whole, colour: 1, 'Ada Lovemore': 2 }, /^unknown members: colour, \(a name that is no plain word\)$/],
		['with attributes as a list', { ...whole, attributes: [] }, /^attributes is not a JSON object$/],
		['with attributes as a text', { ...whole, attributes: '{}' }, /^attributes is not a JSON object$/],
		['with attributes null', { ...whole, attributes: null }, /^attributes is not a JSON object$/],
		...['3.2.1', '1.02.3', '1..2', '1.2.', '.1.2', 'a.b', '1', '', `1.${'2'.repeat(63)}`, '1.2.3 ', '1.2.3\u0000'].map(
			(uid): [string, object, RegExp] => [`with the UID ${JSON.stringify(uid)}`, { ...whole, study_uid: uid }, /^study_uid is not a UID/],
		),
		['whose attributes have another status', withTag('00400252', 'CS', 'DISCONTINUED'), /00400252 .* contradicts status/],
		['whose attributes have a status that is none', withTag('00400252', 'CS', 'DONE'), /00400252 .* contradicts status/],
		['whose attributes have another study', withTag('0020000D', 'UI', '1.2.9'), /0020000D .* contradicts study_uid/],
		['whose attributes have another instance', withTag('00080018', 'UI', '1.2.9'), /00080018 .* contradicts sop_instance_uid/],
		[
			'whose scheduled step has another study',
			{ ...whole, attributes: { '00400270': { vr: 'SQ', Value: [{ '0020000D': { vr: 'UI', Value: ['1.2.9'] } }] } } },
			/contradicts study_uid/,
		],
	];

	function withTag(tag: string, vr: string, value: string): object {
		return { ...whole, attributes: { [tag]: { vr, Value: [value] } } };
	}

	for (const [what, body, error] of refused) {
		test(`${what} is 422 and in the message log with its reason`, async () => {
			const text = JSON.stringify(body);
			assertRefused(await send(text), 422, error);
			const [logged] = await service.rows<{ failure: string; bytes: Buffer }>(
				`select surface, outcome, failure, bytes from message_log where outcome = 'refused' order by id desc limit 1`,
			);
			assert.match(logged?.failure ?? '', error);
			assert.equal(logged?.bytes.toString(), text);
		});
	}

	test('that is no JSON object in UTF-8 is 400', async () => {
		for (const body of ['{', '[]', '"x"', 'null', '{"a":1,"a":2}', '{"__proto__":1}', '{} {}', new Uint8Array([0x7b, 0xff, 0x7d])]) {
			assertRefused(await send(body), 400, /./);
		}
		assertRefused(await send(''), 400, /empty/);
		assertRefused(await send(JSON.stringify({ ...whole, attributes: deep(200) })), 400, /nested|deep/i);
	});

	test('may have anything in its attributes that is not in the DICOM JSON Model', async () => {
		for (const attributes of [
			{},
			{ '00400252': 'DONE' },
			{ '00400252': { Value: ['DONE'] } },
			{ '00400252': { vr: 'CS' } },
			{ '00400252': { vr: 'CS', Value: [] } },
			{ '00400252': { vr: 'CS', Value: [null] } },
			{ '00400270': { vr: 'SQ', Value: [1, null, 'x', {}] } },
			{ '00100010': { vr: 'PN', Value: [{}] } },
			{ text: '\u0000 \ud83d\ude00', list: [[{ a: null }]] },
			{ '00100020': { vr: 'LO', Value: ['x'.repeat(3000)] } },
			deep(50),
		]) {
			assert.equal((await report({ status: 'COMPLETED', attributes })).status, 200, JSON.stringify(attributes).slice(0, 80));
		}
	});

	test('is bounded, and so is what a session comes to', async () => {
		assertRefused(await report({ attributes: { text: 'x'.repeat(5000) } }), 413, /longer than 4096 bytes/);
		const sop_instance_uid = newStep();
		assert.equal((await report({ sop_instance_uid, attributes: { a: 'x'.repeat(3000) } })).status, 200);
		assertRefused(await report({ sop_instance_uid, attributes: { b: 'x'.repeat(3000) } }), 413, /longer than 4096 bytes/);
		assert.equal((await report({ sop_instance_uid, attributes: { a: 'y'.repeat(3000) } })).status, 200);
	});
});

describe('the surface', () => {
	test('answers 401 alike without a key, with a wrong one and with a revoked one', async () => {
		const { key: revoked } = await service.addSite('south');
		assert.equal((await report({}, revoked)).status, 200);
		const [listed] = await listKeys({ ...service.administration, visibleSites: ['south'] });
		await revokeKey(service.administration, listed?.id ?? '');
		await eventually(async () => (await report({}, revoked)).status === 401, 'the end of the key');
		const answers = await Promise.all(['', 'wrong', `${west}x`, revoked].map((key) => report({}, key)));
		for (const answer of answers) {
			assertRefused(answer, 401, /X-API-Key/);
			assert.equal(answer.headers.get('www-authenticate'), 'X-API-Key');
			assert.deepEqual(answer.body, answers[0]?.body);
		}
	});

	test('takes JSON alone', async () => {
		const body = () => JSON.stringify({ sop_instance_uid: newStep(), study_uid: study, status: 'COMPLETED' });
		for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/json;charset="UTF-8"']) {
			assert.equal((await send(body(), { 'Content-Type': type })).status, 200, type);
		}
		for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/dicom+json', 'application/json; charset=latin1']) {
			assertRefused(await send(body(), { 'Content-Type': type }), 415, /./);
		}
		assertRefused(await send(body(), { 'Content-Encoding': 'gzip' }), 415, /Content-Encoding/);
	});

	test('is an origin of its own', async () => {
		assertRefused(await send('{}', {}, '/v2/ingest'), 404, /./);
		assertRefused(await send('{}', {}, '/fhir/Patient'), 404, /./);
		for (const surface of ['fhir', 'hl7']) {
			const { status } = await fetch(`http://127.0.0.1:${service.port(surface)}/ingest`, { method: 'POST', body: '{}' });
			assert.equal(status, 404, surface);
		}
		const answer = await fetch(`http://127.0.0.1:${service.port('mpps')}/ingest`);
		assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST']);
		assert.equal(((await answer.json()) as Answer['body']).success, false);
	});

	test('counts what it answered', async () => {
		await report({ status: 'COMPLETED' });
		await report({ status: 'NONE' });
		const exposed = async () => (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		await eventually(async () => {
			const text = await exposed();
			return (
				/^tributary_mpps_reports_total\{surface="mpps",type="COMPLETED",outcome="accepted"\} \d/m.test(text) &&
				/^tributary_mpps_reports_total\{surface="mpps",type="other",outcome="refused"\} \d/m.test(text) &&
				/^tributary_mpps_refusals_total\{surface="mpps",code="unprocessable"\} \d/m.test(text) &&
				/^tributary_http_requests_total\{surface="mpps",route="\/ingest",status="2xx"\} \d/m.test(text)
			);
		}, 'the counts');
	});
});

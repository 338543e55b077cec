import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { newId } from '#core/id.ts';
import { commonTexts, wholeText } from '#record/compact-text.ts';
import { orderKey } from '#record/holdings/orders.ts';
import { batchDatabase } from '#test/support/batch-database.ts';
import {
	type BatchRunner,
	delivery,
	diagnosticReportChange,
	identifier,
	mergeChange,
	observationChange,
	patientChange,
} from '#test/support/change-sets.ts';

describe('a batch', () => {
	const suite = batchDatabase();

	const rows = async (text: string, ...values: unknown[]) =>
		(await suite.pool.query({ text, values, rowMode: 'array' })).rows as unknown[][];
	const outcomes = async (deliveries: Parameters<BatchRunner['process']>[0]) =>
		(await suite.runner.process(deliveries)).map((reply) => reply.outcome);

	test('applies messages of several sites in one transaction and numbers each site by itself', async () => {
		const [north, south] = [newId(), newId()];
		const batch = [
			delivery(north, '1', [patientChange('A', { gender: 'male' })]),
			delivery(south, '1', [patientChange('A', { gender: 'female' })]),
			delivery(north, '2', [patientChange('A', { gender: 'other' })]),
		];
		assert.deepEqual(await outcomes(batch), ['accepted', 'accepted', 'accepted']);
		assert.deepEqual(await rows('select gender, version from patient where site_id = $1', north), [['other', 2]]);
		assert.deepEqual(await rows('select gender, version from patient where site_id = $1', south), [['female', 1]]);
		assert.deepEqual(await rows('select sequence from message_log where site_id = $1 order by sequence', north), [['1'], ['2']]);
		assert.deepEqual(await rows('select count(distinct xmin::text) from message_log where site_id = any($1)', [north, south]), [['1']]);
	});

	test('keeps every version: those of the batch itself, and those that stood before it', async () => {
		const site = newId();
		await suite.runner.process([delivery(site, '1', [patientChange('A', { gender: 'male' })])]);
		await suite.runner.process(
			['female', 'other', 'unknown'].map((gender, index) => delivery(site, `${index + 2}`, [patientChange('A', { gender })])),
		);
		const history = await rows(
			`select version, resource::jsonb ->> 'gender' from resource_history where site_id = $1 order by version`,
			site,
		);
		assert.deepEqual(history, [
			[1, 'male'],
			[2, 'female'],
			[3, 'other'],
		]);
		assert.deepEqual(await rows('select version, gender from patient where site_id = $1', site), [[4, 'unknown']]);
	});

	test('stores a long text compact, and gives it back whole', async () => {
		const site = newId();
		const coding = [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory', display: 'Laboratory' }];
		const resource = { status: 'final', category: [{ coding }], code: { text: '100 % of 5%$s' }, valueString: '4.20' };
		const result = { ...observationChange('O', 'K', '4.20'), resource };
		await suite.runner.process([delivery(site, '1', [patientChange('A', { gender: 'male' }), result])]);
		const [[stored, whole]] = (await rows('select resource, tributary_whole_text(resource) from observation where site_id = $1', site)) as [
			[string, string],
		];
		assert.match(stored, /^%/);
		assert.equal(whole, wholeText(stored));
		assert.deepEqual(JSON.parse(whole), { ...resource, subject: JSON.parse(whole).subject });
		const [[json]] = (await rows(`select tributary_json(resource) ->> 'status' from observation where site_id = $1`, site)) as [[string]];
		assert.equal(json, 'final');
		const all = `${commonTexts.map((_text, index) => `%${index + 1}$s`).join('')}%%`;
		assert.deepEqual(await rows('select tributary_whole_text($1)', all), [[`${commonTexts.join('')}%`]]);
	});

	test('makes no version of what changes nothing', async () => {
		const site = newId();
		await suite.runner.process([delivery(site, '1', [patientChange('A', { gender: 'male' }), observationChange('O', 'K', '4.2')])]);
		await suite.runner.process([delivery(site, '2', [patientChange('A', { gender: 'male' }), observationChange('O', 'K', '4.2')])]);
		assert.deepEqual(await rows('select version from patient where site_id = $1', site), [[1]]);
		assert.deepEqual(await rows('select version from observation where site_id = $1', site), [[1]]);
		assert.deepEqual(await rows('select count(*) from resource_history where site_id = $1', site), [['0']]);
	});

	test('answers a redelivered message as before and applies it once, in the same batch and later', async () => {
		const site = newId();
		const first = delivery(site, 'M1', [patientChange('A', { gender: 'male' })]);
		const replies = await suite.runner.process([first, { ...first, id: newId() }]);
		await suite.runner.process([delivery(site, 'M2', [patientChange('A', { gender: 'female' })])]);
		const [again] = await suite.runner.process([{ ...first, id: newId() }]);
		assert.deepEqual(
			replies.map((reply) => reply.outcome),
			['accepted', 'duplicate'],
		);
		assert.equal(again?.outcome, 'duplicate');
		assert.deepEqual(
			again?.answer.acknowledgements.map((ack) => Buffer.from(ack).toString()),
			['accepted|M1|'],
		);
		assert.deepEqual(await rows('select gender, version from patient where site_id = $1', site), [['female', 2]]);
	});

	test('applies another content under a used control id, and flags it', async () => {
		const site = newId();
		await suite.runner.process([delivery(site, 'M1', [patientChange('A', { gender: 'male' })])]);
		const [reply] = await suite.runner.process([delivery(site, 'M1', [patientChange('A', { gender: 'other' })])]);
		assert.equal(reply?.outcome, 'accepted');
		assert.deepEqual(
			reply?.flags.map((flag) => flag.code),
			['same-control-id'],
		);
	});

	test('refuses one message without touching its neighbours, and judges it anew when it comes again', async () => {
		const site = newId();
		await suite.runner.process([delivery(site, '1', [patientChange('A'), observationChange('O1', 'K', '1')])]);
		const foreign = [patientChange('B', { gender: 'female' }), observationChange('O1', 'K', '2')];
		const deliveries = [delivery(site, '2', [patientChange('C')]), delivery(site, '3', foreign), delivery(site, '4', [patientChange('D')])];
		const replies = await suite.runner.process(deliveries);
		assert.deepEqual(
			replies.map((reply) => reply.outcome),
			['accepted', 'refused', 'accepted'],
		);
		assert.equal(replies[1]?.failure?.code, 'key-conflict');
		const values = await rows('select value from patient_identifier where site_id = $1 order by value', site);
		assert.deepEqual(values.flat(), ['A', 'C', 'D']);
		assert.deepEqual(await outcomes([{ ...(deliveries[1] as (typeof deliveries)[0]), id: newId() }]), ['refused']);
		const log = await rows(
			'select outcome, failure_code, length(bytes) > 0 from message_log where site_id = $1 and control_id = $2',
			site,
			'3',
		);
		assert.deepEqual(log, [
			['refused', 'key-conflict', true],
			['refused', 'key-conflict', true],
		]);
	});

	test('finds the message whose rows the database refuses, and stores all others in order', async () => {
		const site = newId();
		// A UID that is too long for its index stands for anything that only the database notices.
		const unstorable = delivery(site, 'bad', [patientChange('X'), diagnosticReportChange(randomBytes(9000).toString('hex'))]);
		const batch = Array.from({ length: 12 }, (_, index) => delivery(site, `ok${index}`, [patientChange('A', { gender: `g${index}` })]));
		const replies = await suite.runner.process([...batch.slice(0, 6), unstorable, ...batch.slice(6)]);
		assert.deepEqual(
			replies.map((reply) => reply.outcome).filter((outcome) => outcome !== 'accepted'),
			['refused'],
		);
		assert.equal(replies[6]?.failure?.code, 'internal');
		assert.deepEqual(
			await rows(
				`select gender from patient p join patient_identifier i on i.patient_id = p.id where p.site_id = $1 and i.value = 'A'`,
				site,
			),
			[['g11']],
		);
		assert.deepEqual(await rows(`select count(*) from patient_identifier where site_id = $1 and value = 'X'`, site), [['0']]);
	});

	test('moves what refers to a merged patient, also when the batch holds what comes before and after', async () => {
		const site = newId();
		await suite.runner.process([delivery(site, '0', [patientChange('old'), observationChange('O0', 'K', 'stored before')])]);
		const replies = await suite.runner.process([
			delivery(site, '1', [patientChange('old'), observationChange('O1', 'K', 'same batch, before')]),
			delivery(site, '2', [patientChange('new'), mergeChange(0, 'old')]),
			delivery(site, '3', [patientChange('old', {}, 'keep'), observationChange('O2', 'K', 'same batch, after')]),
			delivery(site, '4', [patientChange('new'), mergeChange(0, 'old')]),
		]);
		assert.deepEqual(
			replies.map((reply) => reply.outcome),
			['accepted', 'accepted', 'accepted', 'accepted'],
		);
		const [[survivor]] = (await rows('select id from patient where site_id = $1 and active', site)) as [[string]];
		const [[prior]] = (await rows('select id from patient where site_id = $1 and not active', site)) as [[string]];
		const observations = await rows(
			`select patient_id, resource::jsonb -> 'subject' ->> 'reference', version from observation where site_id = $1 order by id`,
			site,
		);
		assert.deepEqual(observations, [
			[survivor, `Patient/${survivor}`, 2],
			[survivor, `Patient/${survivor}`, 2],
			[survivor, `Patient/${survivor}`, 1],
		]);
		const [[link]] = (await rows(`select resource::jsonb -> 'link' from patient where id = $1`, prior)) as [[unknown]];
		assert.deepEqual(link, [{ type: 'replaced-by', other: { reference: `Patient/${survivor}` } }]);
		const [[resource, version]] = (await rows('select resource::jsonb, version from patient where id = $1', survivor)) as [
			[Record<string, unknown>, number],
		];
		assert.deepEqual(resource['link'], [{ type: 'replaces', other: { reference: `Patient/${prior}` } }]);
		assert.deepEqual(resource['identifier'], [identifier('new'), { ...identifier('old'), use: 'old' }]);
		assert.equal(version, 1, 'one message makes one version, and the same merge again none');
	});

	test('refuses a merge of a patient with itself, its inverse, and a prior that went elsewhere', async () => {
		const site = newId();
		await suite.runner.process(['a', 'b', 'c'].map((value) => delivery(site, value, [patientChange(value)])));
		await suite.runner.process([delivery(site, 'm1', [patientChange('a'), mergeChange(0, 'b')])]);
		const itself = await suite.runner.process([delivery(site, 'm2', [patientChange('a'), mergeChange(0, 'a')])]);
		const inverse = await suite.runner.process([delivery(site, 'm3', [patientChange('b'), mergeChange(0, 'a')])]);
		const elsewhere = await suite.runner.process([delivery(site, 'm4', [patientChange('c'), mergeChange(0, 'b')])]);
		for (const [reply] of [itself, inverse, elsewhere]) assert.equal(reply?.failure?.code, 'key-conflict');
	});

	test('gives back on unlink what was recorded under the prior patient', async () => {
		const site = newId();
		await suite.runner.process([
			delivery(site, '1', [patientChange('a'), observationChange('OA', 'K', 'of a')]),
			delivery(site, '2', [patientChange('b'), observationChange('OB', 'K', 'of b')]),
			delivery(site, '3', [patientChange('a'), mergeChange(0, 'b')]),
			delivery(site, '4', [{ kind: 'unlink', first: [identifier('b')], second: [identifier('a')] }]),
		]);
		const owners = await rows(
			`select o.order_key, i.value from observation o join patient_identifier i on i.site_id = o.site_id and i.patient_id = o.patient_id where o.site_id = $1 order by 2`,
			site,
		);
		assert.deepEqual(owners, [
			[orderKey({ system: 'urn:id:LAB', value: 'OA' }), 'a'],
			[orderKey({ system: 'urn:id:LAB', value: 'OB' }), 'b'],
		]);
		const resources = await rows(`select resource::jsonb -> 'link', active from patient where site_id = $1`, site);
		assert.deepEqual(resources, [
			[null, true],
			[null, true],
		]);
	});

	test('an interrupted batch that is tried again is recognised', async () => {
		const site = newId();
		const batch = [
			delivery(site, '1', [patientChange('A', { gender: 'male' })]),
			delivery(site, '2', [patientChange('A', { gender: 'other' })]),
		];
		await suite.runner.process(batch);
		assert.deepEqual(await outcomes(batch), ['duplicate', 'duplicate']);
		assert.deepEqual(await rows('select gender, version from patient where site_id = $1', site), [['other', 2]]);
		assert.deepEqual(await rows('select count(*) from message_log where site_id = $1', site), [['2']]);
	});
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { interpret } from '#hl7v2/interpret.ts';
import { encounters, failureOf, header, message, observations, patients, plainSettings, read } from '../reading.ts';

const pid = 'PID|1||100^^^HOSP||Doe^Jane||19800517|F';
const obx = (code: string, value = '1', subId = '') => `OBX|1|NM|${code}^${code}^L|${subId}|${value}||||||F`;
const items = (...segments: string[]) => observations(read('ORU^R01', segments)).map(({ order, item }) => [order?.value, item]);

describe('ORU^R01 groups', () => {
	test('every patient, every order, every OBX', () => {
		const set = read('ORU^R01', [
			pid,
			'PV1|1|I|W1||||||||||||||||V1',
			'ORC|RE|P1|F1',
			'OBR|1|P1|F1|A^A^L',
			obx('K'),
			obx('N'),
			'OBR|2|P2|F2|B^B^L',
			obx('K'),
			'PID|2||200^^^HOSP',
			'OBR|1|P3|F3|A^A^L',
			obx('K'),
		]);
		assert.deepEqual(
			set.changes.map(({ kind }) => kind),
			[
				'patient',
				'encounter',
				'observation',
				'observation',
				'diagnostic-report',
				'observation',
				'diagnostic-report',
				'patient',
				'observation',
				'diagnostic-report',
			],
		);
		const [first, second] = patients(set);
		const owners = observations(set).map(({ patient, encounter, order }) => [patient, encounter, order?.value]);
		const visit = encounters(set)[0]?.ref;
		assert.deepEqual(owners, [
			[first?.ref, visit, 'F1'],
			[first?.ref, visit, 'F1'],
			[first?.ref, visit, 'F2'],
			[second?.ref, undefined, 'F3'],
		]);
		assert.deepEqual(
			patients(set).map(({ known }) => known),
			['keep', 'keep'],
		);
	});
	test('its PV1 creates an unknown visit and leaves a known one as it is', () => {
		const [visit] = encounters(read('ORU^R01', [pid, 'PV1|1|I|W1||||||||||||||||V1', 'OBR|1||F1', obx('K')]));
		assert.equal(visit?.unknown, 'create');
		assert.deepEqual(visit?.patch, { elements: {}, parts: {} });
		assert.equal(visit?.initial?.elements['status'], 'unknown');
		assert.deepEqual(visit?.initial?.elements['class'], {
			system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode',
			code: 'IMP',
			display: 'inpatient encounter',
		});
	});
	test('an order without observations leaves the patient alone in the set', () => {
		assert.deepEqual(
			read('ORU^R01', [pid, 'OBR|1||F1']).changes.map(({ kind }) => kind),
			['patient'],
		);
	});
	test('OBX before the first order are observations of the patient, of no order', () => {
		const [first, second] = observations(read('ORU^R01', [pid, obx('A'), 'ORC|RE|P1', obx('B'), 'OBR|1', obx('C')]));
		assert.equal(first?.order, undefined);
		assert.equal(second?.order?.value, 'P1');
	});
	const refused: [string, string[], RegExp][] = [
		['OBX before PID', [obx('K'), pid], /^OBX .*PID/],
		['OBR before PID', ['OBR|1', pid], /^OBR .*PID/],
		['ORC before PID', ['ORC|RE', pid], /^ORC .*PID/],
		['PV1 before PID', ['PV1|1|I', pid], /^PV1 .*PID/],
	];
	for (const [name, segments, text] of refused) {
		test(`${name} is refused by name`, () => {
			const failure = failureOf(() => read('ORU^R01', segments));
			assert.equal(failure.code, 'segment-sequence');
			assert.match(failure.diagnostics, text);
		});
	}
	test('a second patient without PID-3 refuses the whole message', () => {
		const failure = failureOf(() => read('ORU^R01', [pid, 'OBR|1||F1', obx('K'), 'PID|2||']));
		assert.deepEqual(failure.location, { segment: 'PID', sequence: 2, field: 3 });
	});
	test('more OBX than the limit are refused', () => {
		const sent = message(header('ORU^R01'), pid, 'OBR|1||F1', obx('K'), obx('L'), obx('M'));
		assert.equal(interpret(sent, plainSettings, { observationsMax: 3 }).kind, 'apply');
		const failure = failureOf(() => interpret(sent, plainSettings, { observationsMax: 2 }));
		assert.equal(failure.code, 'value-too-long');
		assert.match(failure.diagnostics, /OBX/);
	});
});

describe('what an observation is within its order', () => {
	const orders: [string, string[], string | undefined, string | undefined][] = [
		['OBR-3', ['ORC|RE|P1|F1', 'OBR|1|P2|F2^LIS^1.2.3^ISO'], 'F2', 'urn:oid:1.2.3'],
		['ORC-3 where OBR-3 is empty', ['ORC|RE|P1|F1^LIS', 'OBR|1|P2'], 'F1', 'urn:id:LIS'],
		['OBR-2 where there is no filler number', ['ORC|RE|P1', 'OBR|1|P2'], 'P2', 'placer MSH urn%3Aid%3ALAB urn%3Aid%3AHOSP'],
		['ORC-2 where OBR has no number', ['ORC|RE|P1', 'OBR|1'], 'P1', 'placer MSH urn%3Aid%3ALAB urn%3Aid%3AHOSP'],
		['OBR-2 with its authority', ['OBR|1|P2^CPOE'], 'P2', 'placer urn:id:CPOE'],
		['the number within the sending application', ['OBR|1||F2'], 'F2', 'MSH urn%3Aid%3ALAB urn%3Aid%3AHOSP'],
		['nothing where there is no number', ['OBR|1'], undefined, undefined],
	];
	for (const [name, segments, value, system] of orders) {
		test(`the order is ${name}`, () => {
			const [observation] = observations(read('ORU^R01', [pid, ...segments, obx('K')]));
			assert.equal(observation?.order?.value, value);
			assert.equal(observation?.order?.system, system);
		});
	}
	test('the sending application has a key of bounded length', () => {
		const msh = header('ORU^R01').replace('|LAB|', `|${'é'.repeat(227)}|`);
		const result = interpret(message(msh, pid, 'OBR|1||F1', obx('K')), plainSettings);
		assert.ok(result.kind === 'apply');
		assert.match(observations(result.changeSet)[0]?.order?.system ?? '', /^MSH [0-9a-f]{64}$/);
	});
	test('an ORC speaks for the OBR behind it, not for the next one', () => {
		assert.deepEqual(items(pid, 'ORC|RE||F1', 'OBR|1', obx('K'), 'OBR|2', obx('K')), [
			['F1', '|K|'],
			[undefined, '|K|'],
		]);
	});
	test('OBX-3 with its system, OBX-4, and an ordinal where both repeat in the order', () => {
		const coded = 'OBX|1|NM|2823-3^K^LN|1|4||||||F';
		assert.deepEqual(items(pid, 'OBR|1||F1', coded, coded, obx('K'), obx('K', '1', 'b'), 'OBR|2||F1', coded, 'OBR|3||F2', coded), [
			['F1', 'http://loinc.org|2823-3|1'],
			['F1', 'http://loinc.org|2823-3|1#2'],
			['F1', '|K|'],
			['F1', '|K|b'],
			['F1', 'http://loinc.org|2823-3|1#3'],
			['F2', 'http://loinc.org|2823-3|1'],
		]);
	});
	test('orders without number share the ordinals of the message', () => {
		assert.deepEqual(items(pid, 'OBR|1', obx('K'), 'OBR|2', obx('K')), [
			[undefined, '|K|'],
			[undefined, '|K|#2'],
		]);
	});
	test('a display that changes does not change the item', () => {
		const [before] = items(pid, 'OBR|1||F1', 'OBX|1|NM|K^Potassium^L||1||||||P');
		const [after] = items(pid, 'OBR|1||F1', 'OBX|1|NM|K^Potassium (serum)^L||2||||||C');
		assert.deepEqual(before, after);
	});
	test('an item that is too long for a key is a digest', () => {
		const [item] = items(pid, 'OBR|1||F1', `OBX|1|NM|^${'x'.repeat(5000)}||1||||||F`);
		assert.match(item?.[1] ?? '', /^[0-9a-f]{64}$/);
	});
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { interpret } from '#hl7v2/interpret.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import { failureOf, header, message, plainSettings, read } from '../../hl7v2/reading.ts';

const order = (obx: string) => read('ORU^R01', ['PID|1||100', 'OBR|1|P1|F1|A^A^L', obx]);

describe('messages applied to a record', () => {
	test('an account number is no patient identifier, though it equals one', () => {
		const site = new MemorySite();
		site.apply(read('ADT^A08', ['PID|1||100||Doe^Jane|||||||||||||2001']));
		site.apply(read('ADT^A08', ['PID|1||2001||Roe^Rick']));
		assert.deepEqual(
			site.resources('Patient').map((patient) => (patient['name'] as JsonObject[])[0]?.['family']),
			['Doe', 'Roe'],
		);
	});
	for (const { title, segments, type, expected, flags } of [
		{
			title: 'XAD-13 and 14',
			segments: ['PID|1||100||||||||1 Oak Ave^^^^^^^^^^^^20240102^20240101'],
			type: 'Patient',
			expected: { address: [{ text: '1 Oak Ave', line: ['1 Oak Ave'], period: { start: '2024-01-02' } }] },
			flags: [],
		},
		{
			title: 'PV1-44 and 45',
			segments: ['PID|1||100', `PV1|1|I|${'|'.repeat(15)}|V1${'|'.repeat(24)}|20240102100000|20240101100000`],
			type: 'Encounter',
			expected: { period: { start: '2024-01-02T10:00:00+01:00' } },
			flags: ['unreadable-value'],
		},
	] as const) {
		test(`${title}: what would end before it starts keeps its start`, () => {
			const site = new MemorySite();
			const applied = site.apply(read('ADT^A08', [...segments]));
			const [resource] = site.resources(type);
			for (const [name, value] of Object.entries(expected)) assert.deepEqual(resource?.[name], value);
			assert.deepEqual(
				applied.flags.map(({ code }) => code),
				flags,
			);
		});
	}
	test('OBR-8 before OBR-7 is left out, and flagged', () => {
		const site = new MemorySite();
		const set = read('ORU^R01', ['PID|1||100', 'OBR|1|P1|F1|A^A^L|||202401021000|202401011000', 'OBX|1|NM|K^K^L||1||||||F']);
		site.apply(set);
		assert.equal(site.resources('Observation')[0]?.['effectiveDateTime'], '2024-01-02T10:00:00+01:00');
		assert.deepEqual(
			set.flags.map(({ text }) => text),
			['OBR-8 lies before OBR-7 and was left out'],
		);
	});
	for (const [code, status] of [
		['U', 'final'],
		['D', 'entered-in-error'],
		['W', 'entered-in-error'],
	]) {
		test(`OBX-11 ${code} without a value changes the status and keeps the result, digits included`, () => {
			const site = new MemorySite();
			site.apply(order('OBX|1|NM|K^K^L||1.00|mmol/L|||||P'));
			site.apply(order(`OBX|1|NM|K^K^L||""||||||${code}`));
			const [text] = site.texts('Observation');
			assert.match(text ?? '', new RegExp(`"status":"${status}"`));
			assert.match(text ?? '', /"value":1\.00,"unit":"mmol\/L"/);
		});
	}
	test('the same result again changes nothing, a corrected one is the same Observation', () => {
		const site = new MemorySite();
		site.apply(order('OBX|1|NM|K^K^L||1.00||||||F'));
		assert.deepEqual(site.apply(order('OBX|1|NM|K^K^L||1.00||||||F')).changed, []);
		const [corrected] = site.apply(order('OBX|1|NM|K^K^L||1.10||||||C')).changed;
		assert.equal(corrected?.version, 2);
		assert.equal(site.texts('Observation').length, 1);
	});
	test('a visit that an ORU brings is created once and never updated by an ORU', () => {
		const site = new MemorySite();
		const result = (pv1: string) => read('ORU^R01', ['PID|1||100', pv1, 'OBR|1||F1', 'OBX|1|NM|K^K^L||1||||||F']);
		site.apply(result('PV1|1|I|W1||||||||||||||||V1'));
		site.apply(result('PV1|1|E|W2||||||||||||||||V1'));
		const [encounter, ...others] = site.resources('Encounter');
		assert.equal(others.length, 0);
		assert.match(JSON.stringify(encounter?.['class']), /"IMP"/);
		assert.equal(encounter?.['status'], 'unknown');
		assert.ok(site.resources('Observation')[0]?.['encounter']);
	});
	test('an A08 leaves the status of a visit as A03 set it', () => {
		const site = new MemorySite();
		const visit = (type: string) => read(type, ['PID|1||100', 'PV1|1|I|W1||||||||||||||||V1'], { also: ['A03', 'A13'] });
		for (const [type, status] of [
			['ADT^A08', 'in-progress'],
			['ADT^A01', 'in-progress'],
			['ADT^A03', 'finished'],
			['ADT^A08', 'finished'],
			['ADT^A13', 'in-progress'],
		] as const) {
			site.apply(visit(type));
			assert.equal(site.resources('Encounter')[0]?.['status'], status, type);
		}
	});
	test('a merge after which the prior number leads to the survivor, and the same merge again', () => {
		const site = new MemorySite();
		const merge = read('ADT^A40', ['PID|1||100||Doe^Jane', 'MRG|200']);
		site.apply(read('ADT^A08', ['PID|1||200||Doe^J']));
		site.apply(merge);
		assert.deepEqual(
			site.resources('Patient').map(({ active }) => active),
			[false, true],
		);
		assert.deepEqual(site.apply(merge).changed, []);
		const { changed: renamed, flags } = site.apply(read('ADT^A08', ['PID|1||200||Doe^Janet']));
		assert.deepEqual([renamed, flags.map(({ code }) => code)], [[], ['merged-number']]);
		const [changed] = site.apply(read('ADT^A08', ['PID|1||200||Doe^J||19800101'])).changed;
		const { identifier, name, birthDate } = JSON.parse(changed?.text ?? '{}');
		assert.deepEqual([identifier[0].value, name[0].given, birthDate], ['100', ['J'], '1980-01-01']);
	});
	test('two laboratories with the same order numbers do not meet, and neither do a placer and a filler', () => {
		const site = new MemorySite();
		const result = (laboratory: string, patient: string, obr: string) => {
			const sent = message(header('ORU^R01').replace('|LAB|', `|${laboratory}|`), `PID|1||${patient}`, obr, 'OBX|1|NM|K^K^L||1||||||F');
			const interpreted = interpret(sent, plainSettings);
			assert.ok(interpreted.kind === 'apply');
			return interpreted.changeSet;
		};
		site.apply(result('LAB1', '100', 'OBR|1||7'));
		site.apply(result('LAB2', '200', 'OBR|1||7'));
		site.apply(result('LAB1', '200', 'OBR|1|7'));
		assert.equal(site.texts('Observation').length, 3);
		assert.equal(failureOf(() => site.apply(result('LAB1', '200', 'OBR|1||7'))).code, 'key-conflict');
	});
	test('an account that has the number of a visit is another visit', () => {
		const site = new MemorySite();
		site.apply(read('ADT^A01', ['PID|1||100', 'PV1|1|I|W1||||||||||||||||7']));
		site.apply(read('ADT^A01', ['PID|1||100|||||||||||||||7', 'PV1|1|E|W2']));
		assert.equal(site.resources('Encounter').length, 2);
	});
	test('a panel lists its members by the ids that they get', () => {
		const site = new MemorySite();
		site.apply(
			read('ORU^R01', [
				'PID|1||100',
				'OBR|1||F1',
				'OBX|1||BP^BP^L|1.1||||||||X',
				'OBX|2|NM|S^S^L|1.1.1|120||||||F',
				'OBX|3|NM|D^D^L|1.1.2|80||||||F',
			]),
		);
		const head = [...site.set.changed()].find((row) => row.text.includes('hasMember'));
		const ids = new Set([...site.set.changed()].filter((row) => row.resourceType === 'Observation').map((row) => `Observation/${row.id}`));
		const members = JSON.parse(head?.text ?? '{}').hasMember as { reference: string }[];
		assert.equal(members.length, 2);
		for (const { reference } of members) assert.ok(ids.has(reference));
	});
});

import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { folded, plain } from '#fhir/fold.ts';
import { resources } from '#fhir/resources/index.ts';

function columns(type: keyof typeof resources, resource: JsonObject): Record<string, unknown> {
	const { search, searchValues } = resources[type].table;
	const values = searchValues(resource);
	assert.equal(values.length, search.length);
	return Object.fromEntries(search.map(({ name }, index) => [name, values[index]]));
}

describe('search columns of a resource', () => {
	test('Patient: names as displayed and by their parts, folded; the range of the birth date', () => {
		const resource = {
			name: [{ text: 'Dr. Renée Groß', family: 'GROß', given: ['Renée'], prefix: ['Dr.'] }, { family: 'Müller' }],
			birthDate: '1970-05',
			gender: 'female',
		};
		assert.deepEqual(columns('Patient', resource), {
			active: true,
			name: 'dr. renée gross\nmüller\ndr. renee gross\nmuller',
			birth_date: '1970-05-01',
			birth_date_end: '1970-06-01',
			gender: 'female',
		});
	});

	test('Patient: a text that differs from its parts is kept beside them', () => {
		assert.equal(
			columns('Patient', { name: [{ text: 'Smith, John', family: 'Smith', given: ['John'] }] })['name'],
			'smith, john\njohn smith',
		);
	});

	test('Patient: nothing known, and a replaced one', () => {
		assert.deepEqual(columns('Patient', { active: false }), {
			active: false,
			name: '',
			birth_date: null,
			birth_date_end: null,
			gender: null,
		});
	});

	test('Observation: the first coding, the further ones as tokens, the range of the moment', () => {
		const coding = [
			{ system: 'http://loinc.org', code: '718-7' },
			{ system: 'urn:lab', code: 'HB' },
			{ display: 'no code' },
			{ code: 'HGB' },
		];
		assert.deepEqual(columns('Observation', { status: 'final', code: { coding }, effectiveDateTime: '2024-03-01T10:00:00+01:00' }), {
			status: 'final',
			code_system: 'http://loinc.org',
			code_value: '718-7',
			code_further: ['urn:lab|HB', 'urn:lab|', 'HB', '|HGB', '|', 'HGB'],
			effective_start: '2024-03-01T09:00:00.000Z',
			effective_end: '2024-03-01T09:00:01.000Z',
		});
	});

	test('Observation: a textual code, a period', () => {
		const resource = { status: 'final', code: { text: 'Haemoglobin' }, effectivePeriod: { start: '2024-03' } };
		assert.deepEqual(columns('Observation', resource), {
			status: 'final',
			code_system: null,
			code_value: null,
			code_further: null,
			effective_start: '2024-03-01T00:00:00.000Z',
			effective_end: 'infinity',
		});
	});

	test('Encounter: status, class and the open period of a visit that goes on', () => {
		assert.deepEqual(columns('Encounter', { status: 'in-progress', class: { code: 'IMP' }, period: { start: '2024-03-01' } }), {
			status: 'in-progress',
			class: 'IMP',
			period_start: '2024-03-01T00:00:00.000Z',
			period_end: 'infinity',
			is_numbered: false,
		});
	});

	test('elements of another shape than FHIR promises are passed over', () => {
		for (const { type, table } of Object.values(resources)) {
			// What is generated from R4 takes any text as one.
			if (table.isShared) continue;
			const none = columns(type, {});
			const flat = { name: 'x', birthDate: 5, code: [], class: 'IMP', period: 'now', effectivePeriod: 3, gender: {}, status: [] };
			assert.deepEqual(columns(type, flat), none, type);
			const nested = { name: [null, 'x', { given: 'y', family: [] }], code: { coding: [null, 4, { code: 7 }] } };
			assert.deepEqual(columns(type, nested), none, type);
		}
	});
});

test('folding makes case, ß, final sigma and composition alike', () => {
	for (const [left, right] of [
		['STRASSE', 'straße'],
		['ΟΔΟΣ', 'οδοσ'],
		['ë', 'E\u0308'],
		['ıI', 'iİ'.replace('İ', 'ı')],
	] as const) {
		assert.equal(folded(left), folded(right), `${left} ${right}`);
	}
	assert.notEqual(folded('e'), folded('é'));
});

test('searches compare without case and accents, and know letters of other scripts apart', () => {
	for (const [left, right] of [
		['Müller', 'MULLER'],
		['Zoë', 'zoe'],
		['Søren Łukasz Đorđe', 'soren lukasz dorde'],
		['Æsir Œuvre Þór', 'aesir oeuvre thor'],
		['Nguyễn', 'nguyen'],
		['Άννα', 'αννα'],
		['Straße', 'strasse'],
		['Zoe\u0308', 'Zoë'],
	] as const) {
		assert.equal(plain(left), plain(right), `${left} ${right}`);
	}
	for (const [left, right] of [
		['が', 'か'],
		['김', '기'],
		['o', 'a'],
	] as const) {
		assert.notEqual(plain(left), plain(right), `${left} ${right}`);
	}
});

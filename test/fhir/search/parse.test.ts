import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { definitionOf } from '#fhir/resources/index.ts';
import { withoutLeads } from '#fhir/search/lead.ts';
import { parseSearch } from '#fhir/search/parse.ts';
import type { ParsedSearch } from '#fhir/search/parsed-search.ts';
import { rowIdOf } from '#record/row-id.ts';
import type { Clause } from '#record/search-plan.ts';
import { defaultLimits } from '../../../src/limits.ts';

const base = 'https://fhir.example.org/fhir';
const id = '0199c0de-0000-7000-8000-00000000000a';

function parse(query: string, lenient = false): ParsedSearch {
	const [type = '', parameters = ''] = query.split('?');
	const definition = definitionOf(type) ?? assert.fail(`${type} is not defined`);
	return parseSearch(definition, parameters, { limits: defaultLimits, lenient, base, scopes: undefined });
}

function refusal(query: string): Failure {
	try {
		parse(query);
	} catch (error) {
		if (error instanceof Failure) return error;
		throw error;
	}
	return assert.fail(`${query} was not refused`);
}

const coding = { kind: 'coding', systemColumn: 'code_system', valueColumn: 'code_value', furtherColumn: 'code_further' } as const;
const birth = {
	kind: 'date',
	columnType: 'date',
	startColumn: 'birth_date',
	endColumn: 'birth_date_end',
	longestMs: 31_622_400_000,
} as const;
const effective = { kind: 'date', columnType: 'timestamptz', startColumn: 'effective_start', endColumn: 'effective_end' } as const;

describe('a search parameter as a clause of the plan', () => {
	const cases: [string, Clause[]][] = [
		['Patient?', []],
		['Patient?name=', []],
		['Patient?name=,anna,', [{ kind: 'string', column: 'name', values: ['anna'] }]],
		['Patient?name=O%27Neill', [{ kind: 'string', column: 'name', values: ["o'neill"] }]],
		['Patient?name=anna+maria,Stra%C3%9Fe', [{ kind: 'string', column: 'name', values: ['anna maria', 'strasse'] }]],
		['Patient?name=a%5C,b', [{ kind: 'string', column: 'name', values: ['a,b'] }]],
		['Patient?name=a&name=b', ['a', 'b'].map((value): Clause => ({ kind: 'string', column: 'name', values: [value] }))],
		['Patient?name=%00', [{ kind: 'string', column: 'name', values: [] }]],
		['Patient?identifier=4711', [{ kind: 'identifier', tokens: [{ system: undefined, value: '4711' }] }]],
		['Patient?identifier=urn:oid:1.2%7C4711', [{ kind: 'identifier', tokens: [{ system: 'urn:oid:1.2', value: '4711' }] }]],
		['Patient?identifier=|4711', [{ kind: 'identifier', tokens: [{ system: '', value: '4711' }] }]],
		['Patient?identifier=urn:x|', [{ kind: 'identifier', tokens: [{ system: 'urn:x', value: undefined }] }]],
		['Patient?identifier=a%5C|b|c%5C,d', [{ kind: 'identifier', tokens: [{ system: 'a|b', value: 'c,d' }] }]],
		['Patient?gender=male,female', [{ kind: 'code', column: 'gender', values: ['male', 'female'] }]],
		['Patient?gender=http://hl7.org/fhir/administrative-gender|male', [{ kind: 'code', column: 'gender', values: ['male'] }]],
		['Patient?gender=urn:other|male,|male', [{ kind: 'code', column: 'gender', values: [] }]],
		['Patient?gender=http://hl7.org/fhir/administrative-gender|', [{ kind: 'present', column: 'gender' }]],
		['Patient?birthdate=1970-05-17', [{ ...birth, alternatives: [{ prefix: 'eq', low: '1970-05-17', high: '1970-05-18' }] }]],
		['Patient?birthdate=ge1970', [{ ...birth, alternatives: [{ prefix: 'ge', low: '1970-01-01', high: '1971-01-01' }] }]],
		['Patient?birthdate=lt1970-05-17T10:00Z', [{ ...birth, alternatives: [{ prefix: 'lt', low: '1970-05-17', high: '1970-05-18' }] }]],
		[`Patient?_id=${id},x`, [{ kind: 'reference', column: 'id', ids: [id, rowIdOf('x')] }]],
		[
			'Observation?date=sa2024-01-01T10:00:00%2B01:00',
			[{ ...effective, alternatives: [{ prefix: 'sa', low: '2024-01-01T09:00:00.000Z', high: '2024-01-01T09:00:01.000Z' }] }],
		],
		[
			'Observation?date=sa2024-01-01T10:00:00+01:00',
			[{ ...effective, alternatives: [{ prefix: 'sa', low: '2024-01-01T09:00:00.000Z', high: '2024-01-01T09:00:01.000Z' }] }],
		],
		['Observation?patient=Patient/a,b', [{ kind: 'reference', column: 'patient_id', ids: [rowIdOf('a'), rowIdOf('b')] }]],
		[`Observation?subject=${base}/Patient/a`, [{ kind: 'reference', column: 'patient_id', ids: [rowIdOf('a')] }]],
		[
			'Observation?patient=Group/a,https://other.example.org/fhir/Patient/a,Patient/a/_history/1',
			[{ kind: 'reference', column: 'patient_id', ids: [] }],
		],
		['Observation?code=http://loinc.org|718-7', [{ ...coding, tokens: [{ system: 'http://loinc.org', value: '718-7' }] }]],
		[
			'Observation?code=718-7,|HB',
			[
				{
					...coding,
					tokens: [
						{ system: undefined, value: '718-7' },
						{ system: '', value: 'HB' },
					],
				},
			],
		],
	];
	for (const [query, clauses] of cases) {
		test(decodeURIComponent(query).replace('\0', '␀'), () => assert.deepEqual(parse(query).plan.clauses.map(withoutLeads), clauses));
	}
});

describe('the values of a search', () => {
	test('are counted with the words for which they stand, over all parameters', () => {
		const words = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`).join('+');
		const values = (count: number) => Array(count).fill(words(50)).join();
		for (const query of [
			`Patient?phonetic=${words(2001)}`,
			`Patient?phonetic=${'a+'.repeat(2001)}`,
			`Patient?phonetic=${values(30)}&phonetic=${values(10)},one`,
			`Observation?patient.phonetic=${words(2001)}`,
			`Patient?gender=male&phonetic=${values(40)}`,
		]) {
			assert.deepEqual(
				[refusal(query).code, refusal(query).message],
				['invalid', 'a search may have at most 2000 values'],
				query.slice(0, 40),
			);
		}
		assert.equal(parse(`Patient?phonetic=${values(30)}&phonetic=${values(10)}`).plan.clauses.length, 2);
		assert.match(refusal(`Patient?phonetic=${words(51)}`).message, /at most 50 words/);
	});
});

describe('parameters that shape the answer', () => {
	test('a page has 50 entries unless _count says otherwise, 1000 at most, and the applied count is kept', () => {
		assert.equal(parse('Patient?').plan.count, 50);
		assert.equal(parse('Patient?_count=7').plan.count, 7);
		const capped = parse('Patient?_count=100000&name=x');
		assert.equal(capped.plan.count, 1000);
		assert.deepEqual(capped.applied, [
			['_count', '1000'],
			['name', 'x'],
		]);
	});

	test('_count=0 and _summary=count ask for the number only', () => {
		assert.equal(parse('Patient?_count=0').counting, true);
		assert.equal(parse('Patient?_summary=count').counting, true);
		assert.equal(parse('Patient?_summary=false').counting, false);
	});

	test('_total asks for the number besides', () => {
		assert.deepEqual(
			['none', 'accurate', 'estimate'].map((value) => parse(`Patient?_total=${value}`).total),
			[false, true, true],
		);
	});

	test('the cursor is not part of what was applied', () => {
		const search = parse('Patient?name=x&_cursor=abc&_format=json');
		assert.equal(search.cursor, 'abc');
		assert.deepEqual(search.applied, [
			['name', 'x'],
			['_format', 'json'],
		]);
	});
});

describe('a search that is refused', () => {
	const cases: [string, string, RegExp][] = [
		['Patient?nme=x&foo=y', 'not-supported', /'nme', 'foo'/],
		['Patient?nme=', 'not-supported', /'nme'/],
		['Patient?name:near=x', 'not-supported', /modifier of name/],
		['Patient?constructor=x&__proto__=y&toString=z', 'not-supported', /'constructor', '__proto__', 'toString'/],
		['Patient?name=,', 'invalid', /name has no value between its commas/],
		['Observation?patient.identifier=,,', 'invalid', /identifier has no value/],
		['Patient?birthdate=yesterday', 'invalid', /birthdate is not a date/],
		['Patient?birthdate=1970-02-30', 'invalid', /birthdate is not a date/],
		['Patient?birthdate=eq', 'invalid', /birthdate is not a date/],
		['Patient?birthdate=ap1970', 'not-supported', /prefix/],
		['Patient?_count=-1', 'invalid', /_count/],
		['Patient?_count=ten', 'invalid', /_count/],
		['Patient?_count=5&_count=6', 'invalid', /_count is given more than once/],
		['Patient?_total=yes', 'invalid', /_total/],
		['Patient?_summary=some', 'invalid', /_summary/],
		[`Patient?${'name=x&'.repeat(65)}`, 'invalid', /64 parameters/],
	];
	for (const [query, code, text] of cases) {
		test(query.slice(0, 60), () => {
			const failure = refusal(query);
			assert.equal(failure.code, code);
			assert.match(failure.diagnostics, text);
		});
	}

	test('a bad value is not repeated', () => {
		assert.doesNotMatch(refusal('Patient?birthdate=Smith').diagnostics, /Smith/);
	});

	test('control characters of an unknown name do not come back', () => {
		assert.match(refusal('Patient?%0d%0aX-Evil=1').diagnostics, /'\?\?X-Evil'/);
	});

	test('with handling=lenient unknown parameters are ignored and not shown as applied; bad values are refused still', () => {
		const search = parse('Patient?nme=x&name=y', true);
		assert.deepEqual(search.applied, [['name', 'y']]);
		assert.equal(search.plan.clauses.length, 1);
		assert.throws(() => parse('Patient?nme=x&birthdate=y', true), Failure);
	});
});

describe('a date at an end of the years', () => {
	const termsOf = (query: string) =>
		parse(query).plan.clauses.reduce((sum, clause) => sum + (clause.kind === 'led' ? clause.lead.terms.length : 0), 0);

	test('leads to as few names as any other, and only beyond itself', () => {
		for (const prefix of ['', 'gt', 'ge', 'lt', 'le', 'sa', 'eb']) {
			for (const date of ['9999-12-31', '9999', '0001-01-01T00:00:00%2B14:00', '0001', '9999-12-31T23:59:59-12:00']) {
				const terms = termsOf(`Observation?date=${prefix}${date}`);
				assert.ok(terms > 0 && terms < 100, `${prefix}${date}: ${terms}`);
			}
		}
		const beyond = termsOf('Observation?date=eb0001');
		assert.equal(termsOf('Observation?date=sa9999'), beyond, 'nothing named lies there');
		assert.ok(termsOf('Observation?date=le9999-12-31') > beyond);
		assert.ok(termsOf('Observation?date=ge0001') > beyond);
	});
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import type { DiagnosticReportChange } from '#record/kinds/diagnostic-report.ts';
import { fieldsOf, read, stored } from '../reading.ts';

const obx = (type: string, code: string, value: string, number = 1) =>
	fieldsOf('OBX', { 1: String(number), 2: type, 3: code, 5: value, 11: 'F' });

function reports(...segments: string[]): DiagnosticReportChange[] {
	return read('ORU^R01', ['PID|1||100', ...segments]).changes.filter((change) => change.kind === 'diagnostic-report');
}

function report(...segments: string[]): DiagnosticReportChange {
	const [found, ...more] = reports(...segments);
	assert.ok(found);
	assert.equal(more.length, 0);
	return stored(found);
}

const obr = (fields: Record<number, string> = {}) => fieldsOf('OBR', { 1: '1', 2: 'P1', 3: 'F1', 4: 'CT^CT head^L', ...fields });

function forms({ resource }: DiagnosticReportChange): [string, string][] {
	return ((resource['presentedForm'] ?? []) as JsonObject[]).map(({ contentType, data }) => [
		String(contentType),
		Buffer.from(String(data), 'base64').toString('utf8'),
	]);
}

describe('OBR as a report', () => {
	test('OBR-25 by table 0123', () => {
		const expected: Record<string, string> = {
			A: 'partial',
			C: 'corrected',
			F: 'final',
			I: 'registered',
			O: 'registered',
			P: 'preliminary',
			R: 'partial',
			S: 'registered',
			X: 'cancelled',
			Y: 'unknown',
			Z: 'unknown',
			f: 'final',
			Q: 'unknown',
			'': 'unknown',
		};
		const found = Object.keys(expected).map((code) => [code, report(obr({ 25: code })).status]);
		assert.deepEqual(Object.fromEntries(found), expected);
		assert.deepEqual(
			read('ORU^R01', ['PID|1||100', obr({ 25: 'Q' })]).flags.map(({ text }) => text),
			['OBR-25 has a code that table 0123 does not list; read as unknown'],
		);
	});

	test('numbers, times, people, specimen and section', () => {
		const fields = { 7: '20240102', 8: '20240103', 22: '20240104050607+0100', 24: 'CT', 25: 'F' };
		const people = { 32: '1&Weiss&Anna', 33: '2&Roth~3&Blau', 34: '4&Tech' };
		const { resource } = report(obr({ ...fields, ...people, 15: 'BLD&Blood', 18: 'ACC' }));
		assert.deepEqual(
			(resource['identifier'] as JsonObject[]).map(({ value }) => value),
			['P1', 'F1', 'ACC'],
		);
		assert.deepEqual(resource['effectivePeriod'], { start: '2024-01-02', end: '2024-01-03' });
		assert.equal(resource['issued'], '2024-01-04T05:06:07+01:00');
		assert.deepEqual(
			(resource['resultsInterpreter'] as JsonObject[]).map(({ display }) => display),
			['Anna Weiss', 'Roth', 'Blau'],
		);
		assert.equal((resource['performer'] as JsonObject[])[0]?.['display'], 'Tech');
		assert.deepEqual(resource['specimen'], [{ type: 'Specimen', display: 'Blood' }]);
		assert.deepEqual(resource['basedOn'], report(obr()).resource['basedOn']);
		const asComponents = report(obr({ 32: '1^Weiss^Anna^^^Dr.^^^LAB&1.2.3&ISO~2', 33: '2&Roth^20240102', 34: '^Tech^Tom' })).resource;
		assert.deepEqual(asComponents['resultsInterpreter'], [
			{ type: 'Practitioner', identifier: { system: 'urn:oid:1.2.3', value: '1' }, display: 'Dr. Anna Weiss' },
			{ type: 'Practitioner', identifier: { value: '2' } },
			{ type: 'Practitioner', identifier: { value: '2' }, display: 'Roth' },
		]);
		assert.deepEqual(asComponents['performer'], [{ type: 'Practitioner', display: 'Tom Tech' }]);
		const sampled = report(obr(), obx('NM', 'K', '1'), obx('NM', 'N', '1', 2), 'SPM|1|S1||SER^Serum');
		assert.deepEqual(
			(sampled.resource['specimen'] as JsonObject[]).map(({ display }) => display),
			['Serum'],
		);
	});

	test('without OBR-4 there is one only where there are results', () => {
		assert.deepEqual(reports('OBR|1||F1'), []);
		assert.deepEqual(reports('ORC|RE||F1', obx('NM', 'K', '1')), []);
		assert.ok('extension' in (report('OBR|1||F1', obx('NM', 'K', '1')).resource['code'] as JsonObject));
	});
});

describe('what a report is recognised by', () => {
	const keyOf = ({ key }: DiagnosticReportChange) => key && [key.order.system.split(' ')[0], key.order.value, key.item, key.byPatient];
	const cases: [string, string[], unknown][] = [
		['the filler number and OBR-4', [obr()], ['MSH', 'F1', 'report |CT', false]],
		['the order alone where it is of images', [obr({ 24: 'RAD' })], ['MSH', 'F1', 'report', false]],
		['the order alone where a study is named', [obr(), 'ZDS|1.2.3'], ['MSH', 'F1', 'report', false]],
		['the placer number', ['OBR|1|P1||CT'], ['placer', 'P1', 'report |CT', false]],
		['the accession number', [fieldsOf('OBR', { 1: '1', 4: 'CT', 18: 'ACC' })], ['accession', 'ACC', 'report |CT', true]],
		['nothing', ['OBR|1|||CT'], undefined],
	];
	for (const [name, segments, expected] of cases) {
		test(name, () => assert.deepEqual(keyOf(report(...segments)), expected));
	}
	test('an ordinal, where a message has several of one order', () => {
		const found = reports(obr({ 24: 'RAD' }), obr({ 24: 'RAD', 4: 'US' }), obr({ 3: 'F2', 24: 'RAD' }));
		assert.deepEqual(
			found.map(({ key }) => key?.item),
			['report', 'report#2', 'report'],
		);
	});
	test('a code that is too long for a key is a digest', () => {
		assert.match(report(obr({ 4: `^${'x'.repeat(5000)}` })).key?.item ?? '', /^[0-9a-f]{64}$/);
	});
});

describe('the study that a report names', () => {
	const cases: [string, string[], DiagnosticReportChange['study']][] = [
		['ZDS-1', [obr(), 'ZDS|1.2.3^A^Application^DICOM'], { uid: '1.2.3', accession: undefined, filler: 'F1' }],
		['IPC-1 before OBR-18, and IPC-3', [obr({ 18: 'B' }), 'IPC|A|RP|1.2.3'], { uid: '1.2.3', accession: 'A', filler: 'F1' }],
		['OBR-18 before OBR-20', [obr({ 18: 'A', 20: 'B' })], { uid: undefined, accession: 'A', filler: 'F1' }],
		['OBR-20', [obr({ 20: 'B' })], { uid: undefined, accession: 'B', filler: 'F1' }],
		['OBX 113014', [obr(), obx('HD', '113014^DICOM Study^DCM', '^1.2.3^DICOM')], { uid: '1.2.3', accession: undefined, filler: 'F1' }],
		['an OBX that is no UID', [obr(), obx('ST', '110180^Study^DCM', 'none')], { uid: undefined, accession: undefined, filler: 'F1' }],
	];
	for (const [name, segments, expected] of cases) {
		test(name, () => {
			const { study } = report(...segments);
			assert.deepEqual({ uid: study.uid, accession: study.accession, filler: study.filler }, expected);
		});
	}
});

describe('the text of a report', () => {
	test('is what TX and FT say; of images what ST says, too', () => {
		const segments = [obx('TX', 'A^Findings^L', 'one'), obx('ST', 'B^Note^L', 'two', 2), obx('NM', 'C^Dose^L', '3', 3)];
		assert.deepEqual(forms(report(obr(), ...segments)), [['text/plain; charset=utf-8', 'one']]);
		assert.deepEqual(forms(report(obr({ 24: 'CT' }), ...segments)), [['text/plain; charset=utf-8', 'Findings\none\n\nNote\ntwo']]);
		assert.deepEqual(forms(report(obr(), ...segments.slice(1))), []);
	});
	test('has the OBX of one name as its lines', () => {
		const line = (number: number, code: string) =>
			fieldsOf('OBX', { 1: `${number}`, 2: 'TX', 3: code, 4: `${number}`, 5: `line ${number}`, 11: 'F' });
		const segments = [line(1, 'A^Findings^L'), line(2, 'A^Findings^L'), line(3, 'B^Advice^L')];
		assert.deepEqual(forms(report(obr(), ...segments.slice(0, 2)))[0]?.[1], 'line 1\nline 2');
		assert.deepEqual(forms(report(obr(), ...segments))[0]?.[1], 'Findings\nline 1\nline 2\n\nAdvice\nline 3');
	});
	test('leaves the UID of the study out', () => {
		assert.deepEqual(forms(report(obr(), obx('ST', '110180^Study Instance UID^DCM', '1.2.3'), obx('TX', 'A', 'text', 2))), [
			['text/plain; charset=utf-8', 'text'],
		]);
	});
	test('has the impression as its conclusion, by code, suffix or name', () => {
		for (const code of ['19005-8^X^LN', '24531-6&IMP^X^LN', '121073^X^DCM', 'I1^Impression:^L'])
			assert.equal(report(obr(), obx('TX', 'A^Findings^L', 'f'), obx('TX', code, 'normal', 2)).resource['conclusion'], 'normal', code);
		assert.equal(report(obr(), obx('TX', 'A^Findings^L', 'f')).resource['conclusion'], undefined);
	});
	test('is beside the documents of ED and RP, also where they repeat', () => {
		const base64 = (text: string) => Buffer.from(text).toString('base64');
		const documents = [`^application^pdf^Base64^${base64('%PDF-1')}`, `^application^pdf^Base64^${base64('%PDF-2')}`].join('~');
		const found = report(obr(), obx('ED', 'D^Report^L', documents), obx('RP', 'E^Link^L', 'http://h/r.pdf^^application^PDF', 2));
		assert.deepEqual(
			((found.resource['presentedForm'] ?? []) as JsonObject[]).map(({ contentType, url, data, title }) => [
				contentType,
				url ?? Buffer.from(String(data), 'base64').toString(),
				title,
			]),
			[
				['application/pdf', '%PDF-1', 'CT head'],
				['application/pdf', '%PDF-2', 'CT head'],
				['application/pdf', 'http://h/r.pdf', 'CT head'],
			],
		);
	});
});

describe('values that are not what OBX-2 says', () => {
	for (const [type, value, lacks] of [
		['ED', '^AP^PDF^Base64', 'data (ED-5)'],
		['RP', '^PACS^AP^PDF', 'pointer (RP-1)'],
	] as const) {
		test(`${type} without its ${lacks} is flagged`, () => {
			const set = read('ORU^R01', ['PID|1||100', 'OBR|1||F1', `OBX|1|${type}|K^K^L||${value}||||||F`]);
			assert.deepEqual(set.flags, [{ code: 'unreadable-value', text: `OBX-5 is of the type ${type} and has no ${lacks}` }]);
		});
	}
	test('a DT that was sent with a time keeps it, and is flagged', () => {
		const set = read('ORU^R01', ['PID|1||100', 'OBR|1||F1', 'OBX|1|DT|K^K^L||202401021530+0100||||||F']);
		assert.equal(set.changes.find((change) => change.kind === 'observation')?.resource['valueDateTime'], '2024-01-02T15:30:00+01:00');
		const text = 'OBX-5 has a time, which the type DT that OBX-2 names has not; read as a time';
		assert.deepEqual(set.flags, [{ code: 'unreadable-value', text }]);
	});
});

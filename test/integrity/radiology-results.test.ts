import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Laboratory } from '#test/support/laboratory.ts';
import type { FhirBody } from '#test/support/service.ts';

let laboratory: Laboratory;

before(async () => {
	laboratory = await Laboratory.open();
});

after(() => laboratory[Symbol.asyncDispose]());

/** Sends a message about a patient; returns its flags. */
const send = (patient: string, ...segments: string[]) => laboratory.send(`PID|1||${patient}^^^H^MR||A^B||19800101|F`, ...segments);

/** An OBR of the order that all messages about the patient name. */
const obr = (patient: string, code: string, { status = 'F', hour = '10', section = 'CT', set = 1 } = {}) =>
	`OBR|${set}||F${patient}|${code}|||20260105080000|||||||||||||||20260106${hour}0000||${section}|${status}`;
const text = (value: string, { code = '18748-4^Report^LN', subId = '', status = 'F' } = {}) =>
	`OBX|1|TX|${code}|${subId}|${value}||||||${status}`;

const chest = 'CTC^CT Chest^L';
const abdomen = 'CTA^CT Abdomen^L';

const formOf = ({ presentedForm: [form] }: FhirBody) => Buffer.from(form.data, 'base64').toString();

/** Status and text of each report of a patient, by its name. */
async function reports(patient: string): Promise<Record<string, string[]>> {
	const found = await laboratory.all('DiagnosticReport', patient);
	return Object.fromEntries(found.map((report) => [report.code.text, [report.status, formOf(report)]]));
}

/** The texts and units of a patient's observations, by their codes. */
async function values(patient: string): Promise<Record<string, string[]>> {
	const found: Record<string, string[]> = {};
	for (const { code, valueString, valueQuantity, status } of await laboratory.all('Observation', patient)) {
		const name = code.coding[0].code;
		found[name] = [...(found[name] ?? []), `${valueString ?? `${valueQuantity.value} ${valueQuantity.unit}`} ${status}`].sort();
	}
	return found;
}

describe('a message with the reports of two procedures of one order', () => {
	const both = (patient: string, status: string, hour: string) => [
		obr(patient, chest, { status, hour }),
		text(`chest ${status}`, { status }),
		obr(patient, abdomen, { status, hour, set: 2 }),
		text(`abdomen ${status}`, { status }),
	];

	test('has two reports, each with its text, from the draft to the correction', async () => {
		await send('A', ...both('A', 'P', '10'));
		assert.deepEqual(await reports('A'), { 'CT Chest': ['preliminary', 'chest P'], 'CT Abdomen': ['preliminary', 'abdomen P'] });
		await send('A', ...both('A', 'F', '11'));
		assert.deepEqual(await reports('A'), { 'CT Chest': ['final', 'chest F'], 'CT Abdomen': ['final', 'abdomen F'] });
		const correction = [obr('A', abdomen, { status: 'C', hour: '12' }), text('abdomen C', { status: 'C' })];
		const flags = ['repeated-observation', 'text-left-out'];
		assert.deepEqual(await send('A', ...correction), flags, 'which of the results is meant is in doubt');
		assert.deepEqual(await reports('A'), { 'CT Chest': ['final', 'chest F'], 'CT Abdomen': ['corrected', 'abdomen C'] });
	});

	test('keeps the text of the first under its name, where the second has none', async () => {
		await send('B', obr('B', chest), text('chest'), obr('B', abdomen, { set: 2 }));
		const found = await laboratory.all('DiagnosticReport', 'B');
		assert.deepEqual(
			found.map((report) => [report.code.text, report.status, report.presentedForm === undefined ? undefined : formOf(report)]).sort(),
			[
				['CT Abdomen', 'final', undefined],
				['CT Chest', 'final', 'chest'],
			],
		);
	});

	test('of the same procedure has one report for each', async () => {
		await send('C', obr('C', chest), text('first'), obr('C', chest, { set: 2 }), text('second'));
		const found = await laboratory.all('DiagnosticReport', 'C');
		assert.deepEqual(found.map(formOf).sort(), ['first', 'second']);
	});

	test('has one report where a later message has another name for the procedure', async () => {
		await send('D', obr('D', 'CT^CT^L', { status: 'P' }), text('draft', { status: 'P' }));
		await send('D', obr('D', chest, { hour: '11' }), text('final'));
		assert.deepEqual(await reports('D'), { 'CT Chest': ['final', 'final'] });
	});
});

describe('the parts of a report', () => {
	const part = (suffix: string, value: string, status = 'F') => text(value, { code: `71250&${suffix}^CT CHEST^L`, status });

	test('are told apart by the suffix of OBX-3, also in a correction of one of them', async () => {
		assert.deepEqual(await send('S', obr('S', chest), part('GDT', 'Findings'), part('IMP', 'Impression')), []);
		assert.deepEqual(await values('S'), { '71250&GDT': ['Findings final'], '71250&IMP': ['Impression final'] });
		const correction = [obr('S', chest, { status: 'C', hour: '11' }), part('IMP', 'Corrected', 'C')];
		assert.deepEqual(await send('S', ...correction), []);
		assert.deepEqual(await values('S'), { '71250&GDT': ['Findings final'], '71250&IMP': ['Corrected corrected'] });
		const [report] = await laboratory.all('DiagnosticReport', 'S');
		assert.deepEqual([report?.conclusion, report?.result.length], ['Corrected', 2]);
	});

	test('keep the blank lines between paragraphs, each line with its own OBX-4', async () => {
		const lines = ['', 'one', '', 'two', ''].map((line, index) => text(line, { subId: String(index + 1) }));
		await send('L', obr('L', chest), ...lines);
		assert.deepEqual(await reports('L'), { 'CT Chest': ['final', 'one\n\ntwo'] });
	});

	test('keep lines behind an LF alone, where another segment goes on in ADD', async () => {
		await send('K', obr('K', chest), text('part one \rADD|and two'), text('line one\nline two', { code: '2^two^L' }));
		assert.deepEqual(await values('K'), { '18748-4': ['part one and two final'], '2': ['line one\nline two final'] });
	});
});

describe('results of a laboratory', () => {
	const number = (unit: string, range = '') => `OBX|1|NM|6690-2^WBC^LN||5.2|${unit}|${range}||||F`;

	test('have the unit that was meant, where a power is not escaped', async () => {
		for (const [index, [sent, unit]] of [
			['10^9/L', '10^9/L'],
			['x10^3/uL', 'x10^3/uL'],
			['kg/m^2', 'kg/m^2'],
			['10\\S\\9/L', '10^9/L'],
			['10*9/L^10*9/L^UCUM', '10*9/L'],
			['mmol^mmol/L', 'mmol/L'],
			['mmol/L^10 mmol/L', '10 mmol/L'],
		].entries()) {
			const patient = `U${index}`;
			const flags = await send(patient, obr(patient, 'CBC^CBC^L', { section: 'LAB' }), number(sent ?? '', '4-10'));
			assert.deepEqual(flags, sent?.includes('^') && sent.replaceAll('\\S\\', '') === unit ? ['unreadable-value'] : [], sent);
			assert.deepEqual(await values(patient), { '6690-2': [`5.2 ${unit} final`] }, sent);
		}
	});

	test('leave a corrected report as it is when they come again as final', async () => {
		const panel = (status: string, hour: string) => obr('Z', 'CBC^CBC^L', { section: 'LAB', status, hour });
		const value = (status: string, of: string) => `OBX|1|NM|6690-2^WBC^LN||${of}|g/L|||||${status}`;
		await send('Z', panel('F', '10'), value('F', '5'));
		await send('Z', panel('C', '12'), value('C', '6'));
		const before = await laboratory.all('DiagnosticReport', 'Z');
		assert.deepEqual(await send('Z', panel('F', '13'), value('F', '7')), ['late-result']);
		assert.deepEqual(await laboratory.all('DiagnosticReport', 'Z'), before);
		await send('Z', panel('F', '14'), 'OBX|1|NM|718-7^Hgb^LN||9|g/L|||||F');
		const [after] = await laboratory.all('DiagnosticReport', 'Z');
		assert.deepEqual([after?.status, after?.issued, after?.result.length], ['corrected', before[0]?.issued, 2]);
	});
});

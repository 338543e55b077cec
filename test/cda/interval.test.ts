import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { clinicalDocument, entry, faultsOf, readDocument, section } from '#test/support/cda-sections.ts';
import { fc } from '#test/support/fuzzing.ts';

function result(content: string): { resource: JsonObject; flags: string } {
	const statement = `<observation classCode="OBS" moodCode="EVN"><code code="1" codeSystem="1.2.9"/>${content}</observation>`;
	const { entries, flags } = readDocument(clinicalDocument(section('30954-2', entry(statement))));
	assert.deepEqual(faultsOf(entries, false), []);
	const [first] = entries;
	assert.ok(first !== undefined, 'there is no result');
	return { resource: JSON.parse(JSON.stringify(first.resource)), flags: flags.join() };
}
const unit = { unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' };
const mg = (name: string, value: string) => `<${name} value="${value}" unit="mg"/>`;
const interval = (content: string) => result(`<value xsi:type="IVL_PQ">${content}</value>`);
const timed = (content: string) => result(`<effectiveTime>${content}</effectiveTime>`);

describe('an interval of quantities that states its width', () => {
	for (const [content, low, high] of [
		[mg('low', '10') + mg('width', '5'), 10, 15],
		[mg('width', '2') + mg('high', '5'), 3, 5],
		[mg('center', '5') + mg('width', '2'), 4, 6],
		[mg('center', '5') + mg('width', '2.5'), 3.75, 6.25],
		[`<low nullFlavor="UNK"/>${mg('high', '0.3')}${mg('width', '0.1')}`, 0.2, 0.3],
		[mg('low', '1e3') + mg('width', '1'), 1000, 1001],
		[mg('low', '-0.5') + mg('width', '1.25'), -0.5, 0.75],
		[mg('low', '1') + mg('high', '2') + mg('width', '9'), 1, 2],
	] as const) {
		test(`${content} is from ${low} to ${high}`, () => {
			const { resource, flags } = interval(content);
			assert.deepEqual(resource['valueRange'], { low: { value: low, ...unit }, high: { value: high, ...unit } });
			assert.equal(flags, '');
		});
	}

	test('has both bounds as a reference range, and without a type', () => {
		const range = `<referenceRange><observationRange><value xsi:type="IVL_PQ">${mg('low', '1')}${mg('width', '5')}</value></observationRange></referenceRange>`;
		const expected = { low: { value: 1, ...unit }, high: { value: 6, ...unit } };
		assert.deepEqual(result(range).resource['referenceRange'], [expected]);
		assert.deepEqual(result(`<value>${mg('center', '3.5')}${mg('width', '5')}</value>`).resource['valueRange'], expected);
	});

	for (const [content, expected] of [
		[`${mg('low', '10')}<width value="5" unit="g"/>`, { value: 10, comparator: '>=', ...unit }],
		[mg('low', '10') + mg('width', '-5'), { value: 10, comparator: '>=', ...unit }],
		[`${mg('center', '5')}<width value="2"/>`, { value: 5, ...unit }],
		[mg('low', '100000000000000000') + mg('width', '0.1'), { value: 1e17, comparator: '>=', ...unit }],
		[mg('width', '5'), undefined],
	] as const) {
		test(`${content} keeps what it states, and the width is noted`, () => {
			const { resource, flags } = interval(content);
			assert.deepEqual(resource['valueQuantity'], expected);
			assert.match(flags, /value\/width gives no bound with what stands beside it and was left out/);
		});
	}

	test('is exact, whatever the digits', () => {
		const hundredths = fc.integer({ min: -100_000, max: 100_000 });
		const text = (number: number) =>
			`${number < 0 ? '-' : ''}${Math.floor(Math.abs(number) / 100)}.${String(Math.abs(number) % 100).padStart(2, '0')}`;
		fc.assert(
			fc.property(hundredths, fc.nat(100_000), (low, width) => {
				const { valueRange } = interval(mg('low', text(low)) + mg('width', text(width))).resource as {
					valueRange: { high: { value: number } };
				};
				assert.equal(valueRange.high.value, (low + width) / 100);
			}),
		);
	});
});

test('bounds in different units are not compared as if they were in one', () => {
	const { resource, flags } = interval(`${mg('low', '500')}<high value="1" unit="g"/>`);
	assert.ok(resource['valueRange'] !== undefined);
	assert.equal(flags, '');
});

describe('an interval of time that states its width', () => {
	const low = (value: string) => `<low value="${value}"/>`;
	const width = (value: string, code: string) => `<width value="${value}" unit="${code}"/>`;
	for (const [content, start, end] of [
		[low('20250610080000+0200') + width('2', 'h'), '2025-06-10T08:00:00+02:00', '2025-06-10T10:00:00+02:00'],
		[low('202506102330+0200') + width('45', 'min'), '2025-06-10T23:30:00+02:00', '2025-06-11T00:15:00+02:00'],
		[low('20250610080000+0200') + width('1.5', 'd'), '2025-06-10T08:00:00+02:00', '2025-06-11T20:00:00+02:00'],
		[low('20250227') + width('3', 'd'), '2025-02-27', '2025-03-02'],
		[low('20250101') + width('2', 'wk'), '2025-01-01', '2025-01-15'],
		[low('20250131') + width('1', 'mo'), '2025-01-31', '2025-02-28'],
		[low('20240229083000+0100') + width('1', 'a'), '2024-02-29T08:30:00+01:00', '2025-02-28T08:30:00+01:00'],
		[low('202511') + width('3', 'mo'), '2025-11', '2026-02'],
		[low('2020') + width('1', 'a'), '2020', '2021'],
		[`${width('36', 'h')}<high value="20250612120000+0000"/>`, '2025-06-11T00:00:00+00:00', '2025-06-12T12:00:00+00:00'],
		[`<center value="20250610"/>${width('2', 'd')}`, '2025-06-09', '2025-06-11'],
		[`<center value="20250610120000+0000"/>${width('1', 'h')}`, '2025-06-10T11:30:00+00:00', '2025-06-10T12:30:00+00:00'],
	] as const) {
		test(`${content} is from ${start} to ${end}`, () => {
			const { resource, flags } = timed(content);
			assert.deepEqual(resource['effectivePeriod'], { start, end });
			assert.equal(flags, '');
		});
	}

	for (const [content, element, expected] of [
		// In UCUM, m is the metre; the samples of C-CDA write minutes so.
		[low('20250610080000+0200') + width('15', 'm'), 'effectivePeriod', { start: '2025-06-10T08:00:00+02:00' }],
		[low('20250610') + width('2', 'h'), 'effectivePeriod', { start: '2025-06-10' }],
		[low('2025') + width('2', 'wk'), 'effectivePeriod', { start: '2025' }],
		[low('20250131') + width('1.5', 'mo'), 'effectivePeriod', { start: '2025-01-31' }],
		[low('20250610080000+0200') + width('-2', 'h'), 'effectivePeriod', { start: '2025-06-10T08:00:00+02:00' }],
		[low('20250610080000+0200') + width('999999999', 'wk'), 'effectivePeriod', { start: '2025-06-10T08:00:00+02:00' }],
		[low('9999') + width('1', 'a'), 'effectivePeriod', { start: '9999' }],
		[`<high value="00010101"/>${width('1', 'd')}`, 'effectivePeriod', { end: '0001-01-01' }],
		[`<center value="20250610"/>${width('1', 'd')}`, 'effectiveDateTime', '2025-06-10'],
		[width('1', 'd'), 'effectivePeriod', undefined],
	] as const) {
		test(`${content} keeps what it states, and the width is noted`, () => {
			const { resource, flags } = timed(content);
			assert.deepEqual(resource[element], expected);
			assert.match(flags, /effectiveTime\/width gives no time with what stands beside it and was left out/);
		});
	}

	test('is a value, too', () => {
		const { resource } = result(`<value xsi:type="IVL_TS">${low('20250101')}${width('3', 'd')}</value>`);
		assert.deepEqual(resource['valuePeriod'], { start: '2025-01-01', end: '2025-01-04' });
	});
});

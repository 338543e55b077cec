import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { clinicalDocument, entry, faultsOf, readDocument, section } from '#test/support/cda-sections.ts';

/** The one result with this content, and what was noted. */
function result(content: string, text = ''): { resource: JsonObject; flags: string[] } {
	const statement = `<observation classCode="OBS" moodCode="EVN"><code code="26515-7" codeSystem="2.16.840.1.113883.6.1"/>${content}</observation>`;
	const { entries, flags } = readDocument(clinicalDocument(section('30954-2', entry(statement), text)));
	assert.deepEqual(faultsOf(entries), []);
	const [first] = entries;
	assert.ok(first !== undefined, 'there is no result');
	return { resource: JSON.parse(JSON.stringify(first.resource)), flags };
}

const value = (type: string, content: string, attributes = '') => `<value xsi:type="${type}" ${attributes}>${content}</value>`;
const range = (content: string) => `<referenceRange><observationRange>${content}</observationRange></referenceRange>`;

describe('a quantity in a unit that is not of UCUM', () => {
	const thousand = (number: string) =>
		`<translation value="${number}" nullFlavor="OTH"><originalText>THOUS/MCL</originalText></translation>`;
	const noUnit = 'nullFlavor="OTH"';

	test('is that of its translation, as is its reference range', () => {
		const bounds = `<low ${noUnit}>${thousand('150')}</low><high ${noUnit}>${thousand('400')}</high>`;
		const { resource, flags } = result(value('PQ', thousand('152'), noUnit) + range(value('IVL_PQ', bounds)));
		assert.deepEqual(resource['valueQuantity'], { value: 152, unit: 'THOUS/MCL' });
		assert.equal(resource['dataAbsentReason'], undefined);
		assert.deepEqual(resource['referenceRange'], [{ low: { value: 150, unit: 'THOUS/MCL' }, high: { value: 400, unit: 'THOUS/MCL' } }]);
		assert.deepEqual(flags, []);
	});

	for (const [translations, expected] of [
		[
			'<translation value="7.50" code="U7" codeSystem="1.2.3" displayName="funny units"/>',
			{ unit: 'funny units', system: 'urn:oid:1.2.3', code: 'U7' },
		],
		['<translation value="7.50" code="U7"/>', { unit: 'U7' }],
		['<translation value="7.50" nullFlavor="OTH"><originalText><reference value="#u"/></originalText></translation>', { unit: 'cells' }],
		[
			`${thousand('1')}<translation value="7.50" code="10*3/uL" codeSystem="2.16.840.1.113883.6.8"/>`,
			{ unit: '10*3/uL', system: 'http://unitsofmeasure.org', code: '10*3/uL' },
		],
		[`<translation code="U7"/>${thousand('7.50')}`, { unit: 'THOUS/MCL' }],
	] as const) {
		test(`${translations} is ${JSON.stringify(expected)}`, () => {
			const { resource, flags } = result(value('PQ', translations, noUnit), '<content ID="u">cells</content>');
			assert.deepEqual(resource['valueQuantity'], { value: 7.5, ...expected });
			assert.deepEqual(flags, []);
		});
	}

	test('counts in ratios, and in a range of one value', () => {
		const ratio = value('RTO_PQ_PQ', `<numerator ${noUnit}>${thousand('3')}</numerator><denominator value="1" unit="min"/>`);
		const { resource } = result(ratio + range(value('PQ', thousand('5'), noUnit)));
		assert.deepEqual((resource['valueRatio'] as JsonObject)['numerator'], { value: 3, unit: 'THOUS/MCL' });
		assert.deepEqual(resource['referenceRange'], [{ text: '5 THOUS/MCL' }]);
	});

	test('is noted where the translation has no number, or no unit', () => {
		const many = result(value('PQ', thousand('many'), noUnit));
		assert.equal(many.resource['valueQuantity'], undefined);
		assert.match(many.flags.join(), /translation is no number and was left out/);
		const bare = result(value('PQ', '<translation value="7" nullFlavor="OTH"/>', noUnit));
		assert.deepEqual(bare.resource['valueQuantity'], { value: 7 });
		assert.match(bare.flags.join(), /names no unit; its number was kept without one/);
	});

	test('does not replace a value in UCUM', () => {
		const { resource } = result(value('PQ', thousand('5'), 'value="5.0" unit="10*9/L"'));
		assert.equal((resource['valueQuantity'] as JsonObject)['unit'], '10*9/L');
	});
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainText } from '#cda/narrative.ts';
import { readXml } from '#hl7v3/read.ts';
import { clinicalDocument, entry, readDocument, section } from '#test/support/cda-sections.ts';
import { fc } from '#test/support/fuzzing.ts';
import { defaultLimits } from '../../src/limits.ts';

const plain = (narrative: string) => plainText(readXml(Buffer.from(`<text xmlns="urn:hl7-org:v3">${narrative}</text>`), defaultLimits));

describe('raised and lowered text', () => {
	for (const [narrative, expected] of [
		['Platelets 10<sup>9</sup>/L', 'Platelets 10^9/L'],
		['5 x 10<sup>-3</sup>', '5 x 10^-3'],
		['10 <sup>9</sup>/L', '10 ^9/L'],
		['<content>10</content><sup>9</sup>', '10^9'],
		['mL/min/1.73 m<sup>2</sup>', 'mL/min/1.73 m^2'],
		['Hb 12.5<sup>1</sup>', 'Hb 12.5^1'],
		['(a + b)<sup>2</sup>', '(a + b)^2'],
		['e<sup>2 + 1</sup>', 'e^(2 + 1)'],
		['10<sup>10<sup>2</sup></sup>', '10^(10^2)'],
		['x<sup>2</sup>3 and 2<sup>9<br/></sup>', 'x^2 3 and 2^9'],
		['<table><tr><td>10</td><td><sup>9</sup></td></tr></table>', '10\t9'],
		['2<sup>nd</sup> rib, CD4<sup>+</sup>, Ca<sup>2+</sup>', '2nd rib, CD4+, Ca^2+'],
		['740 MBq <sup>99m</sup>Tc, 3 <sup>131</sup>I, (<sup>18</sup>F)', '740 MBq 99mTc, 3 131I, (18F)'],
		['H<sub>2</sub>O, HbA<sub>1c</sub>, SpO<sub>2 </sub>high', 'H2O, HbA1c, SpO2 high'],
		['PO<sub>4</sub><sup>3-</sup>', 'PO4^3-'],
		['101<sub>2</sub>, log<sub>10</sub>5', '101_2, log10 5'],
		['10<sup revised="delete">9</sup><sup> </sup>', '10'],
	] as const) {
		test(`${narrative} is ${expected}`, () => assert.equal(plain(narrative), expected));
	}

	test('with digits never becomes a part of the number beside it', () => {
		const digits = fc.stringMatching(/^[0-9]{1,4}$/);
		const script = fc.constantFrom('sub', 'sup');
		fc.assert(
			fc.property(digits, script, digits, digits, (before, name, raised, after) => {
				assert.deepEqual(plain(`${before}<${name}>${raised}</${name}>${after}`).match(/\d+/g), [before, raised, after]);
			}),
		);
	});

	test('is so in a value, also beside a reference', () => {
		const value = (content: string) => {
			const statement = `<observation classCode="OBS" moodCode="EVN"><code code="1"/><value xsi:type="ED">${content}</value></observation>`;
			return readDocument(clinicalDocument(section('30954-2', entry(statement)))).entries[0]?.resource['valueString'];
		};
		assert.equal(value('10<sup>3</sup>'), '10^3');
		assert.equal(value('10<sup>3</sup> a mL<reference value="#x"/><thumbnail>picture</thumbnail>'), '10^3 a mL');
	});
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { entry, resourcesOf, section } from '#test/support/cda-sections.ts';

const snomed = 'codeSystem="2.16.840.1.113883.6.96"';
const qualifier = (value: string) => `<qualifier><name code="272741003" ${snomed}/>${value}</qualifier>`;
const left = qualifier(`<value code="7771000" ${snomed} displayName="Left"/>`);
const kidney = (content: string, name = 'displayName="Kidney"') =>
	`<targetSiteCode code="64033007" ${snomed} ${name}>${content}</targetSiteCode>`;

/** The site of a procedure, as its text. */
function siteOf(site: string, text = ''): unknown {
	const statement = `<procedure classCode="PROC" moodCode="EVN"><code code="80146002" ${snomed} displayName="Operation"/>${site}</procedure>`;
	const [resource] = resourcesOf(section('47519-4', entry(statement), text));
	return (resource?.['bodySite'] as JsonObject[] | undefined)?.[0]?.['text'];
}

describe('what qualifies a code', () => {
	for (const [name, site, expected] of [
		['behind an original text', kidney(`<originalText>Kidney</originalText>${left}`), 'Kidney (Left)'],
		['behind a text of the narrative', kidney(`<originalText><reference value="#k"/></originalText>${left}`), 'kidney of the donor (Left)'],
		['behind a display name', kidney(left), 'Kidney (Left)'],
		['behind the code, where nothing else names it', kidney(left, ''), '64033007 (Left)'],
		['not where the text says it', kidney(`<originalText>LEFT kidney</originalText>${left}`), 'LEFT kidney'],
		['where the text has it within a word', kidney(`<originalText>Cleft kidney</originalText>${left}`), 'Cleft kidney (Left)'],
		['by the code of a side', kidney(qualifier(`<value code="24028007" ${snomed}/>`)), 'Kidney (Right)'],
		['by a code of which nothing is known', kidney(qualifier('<value code="7771000" codeSystem="1.2.9"/>')), 'Kidney (7771000)'],
		['by its original text', kidney(qualifier('<value nullFlavor="OTH"><originalText>lower</originalText></value>')), 'Kidney (lower)'],
		[
			'once, and others beside it',
			kidney(left + left + qualifier('<value code="1" displayName="Lower pole"/>')),
			'Kidney (Left, Lower pole)',
		],
		['of a translation', kidney(`<translation code="T1" codeSystem="1.2.9">${left}</translation>`), 'Kidney (Left)'],
	] as const) {
		test(`is told ${name}`, () => assert.equal(siteOf(site, '<content ID="k">kidney of the donor</content>'), expected));
	}

	test('of a problem is told with its original text (C-CDA Examples, Problem Value, Translation, Qualifier)', () => {
		const associated = (display: string) => qualifier(`<value code="1" ${snomed} displayName="${display}"/>`);
		const value =
			`<value xsi:type="CD" code="8801005" ${snomed} displayName="Secondary diabetes mellitus"><originalText>Diabetes mellitus due to underlying ` +
			'condition with chronic kidney disease on chronic dialysis (CMS/HCC)</originalText>' +
			`${associated('Dependence on renal dialysis')}${associated('Chronic kidney disease')}</value>`;
		const statement = `<observation classCode="OBS" moodCode="EVN"><code code="55607006" ${snomed}/>${value}</observation>`;
		const [resource] = resourcesOf(section('11450-4', entry(statement)));
		assert.equal(
			(resource?.['code'] as JsonObject | undefined)?.['text'],
			'Diabetes mellitus due to underlying condition with chronic kidney disease on chronic dialysis (CMS/HCC) (Dependence on renal dialysis)',
		);
	});
});

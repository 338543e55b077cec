import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { clinicalDocument, entry, entryTemplate, readDocument, resourcesOf, section } from '#test/support/cda-sections.ts';

const snomed = 'codeSystem="2.16.840.1.113883.6.96"';
const value = (code: string) => `<value xsi:type="CD" code="${code}" ${snomed}/>`;
const substance = (content: string) =>
	`<participant typeCode="CSM"><participantRole classCode="MANU"><playingEntity classCode="MMAT">${content}</playingEntity></participantRole></participant>`;
const penicillin = substance('<code code="7980" codeSystem="2.16.840.1.113883.6.88" displayName="Penicillin"/>');
const related = (template: number, content: string, typeCode = 'SUBJ') =>
	`<entryRelationship typeCode="${typeCode}" inversionInd="true"><observation classCode="OBS" moodCode="EVN">${entryTemplate(template)}${content}</observation></entryRelationship>`;
const severity = (code: string) => related(8, `<code code="SEV" codeSystem="2.16.840.1.113883.5.4"/>${value(code)}`);
const reaction = (content: string) => related(9, content, 'MFST');
const hives = `<value xsi:type="CD" code="247472004" ${snomed} displayName="Hives"/>`;

const concern = (observation: string, attributes = '', status = 'active', act = '') =>
	entry(
		`<act classCode="ACT" moodCode="EVN" ${act}>${entryTemplate(30)}<statusCode code="${status}"/><entryRelationship typeCode="SUBJ">` +
			`<observation classCode="OBS" moodCode="EVN" ${attributes}>${entryTemplate(7)}${observation}</observation></entryRelationship></act>`,
	);
function allergy(observation: string, attributes = '', status = 'active', act = ''): JsonObject {
	return resourcesOf(section('48765-2', concern(observation, attributes, status, act)))[0] ?? assert.fail('there is no allergy');
}
const codeIn = (resource: JsonObject, element: string) =>
	(resource[element] as { coding: { code: string }[] } | undefined)?.coding[0]?.code;

describe('an allergy observation', () => {
	test('becomes an AllergyIntolerance with all that it says', () => {
		const resource = allergy(
			'<id root="1.2.3" extension="A1"/><code code="ASSERTION" codeSystem="2.16.840.1.113883.5.4"/><statusCode code="completed"/>' +
				`<effectiveTime><low value="20080501"/></effectiveTime>${value('416098002')}${penicillin}` +
				reaction(`<effectiveTime><low value="20080502"/></effectiveTime>${hives}${severity('6736007')}`) +
				related(145, '<code code="82606-5"/><value xsi:type="CD" code="CRITH" codeSystem="2.16.840.1.113883.5.1063"/>'),
		);
		assert.deepEqual(resource, {
			identifier: [{ value: 'A1', system: 'urn:oid:1.2.3' }],
			clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }] },
			verificationStatus: {
				coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-verification', code: 'confirmed' }],
			},
			type: 'allergy',
			category: ['medication'],
			criticality: 'high',
			code: {
				coding: [{ system: 'http://www.nlm.nih.gov/research/umls/rxnorm', code: '7980', display: 'Penicillin' }],
				text: 'Penicillin',
			},
			onsetDateTime: '2008-05-01',
			reaction: [
				{
					manifestation: [{ coding: [{ system: 'http://snomed.info/sct', code: '247472004', display: 'Hives' }], text: 'Hives' }],
					onset: '2008-05-02',
					severity: 'moderate',
				},
			],
		});
	});

	for (const [code, type, category] of [
		['419511003', undefined, 'medication'],
		['235719002', 'intolerance', 'food'],
		['232347008', 'allergy', 'environment'],
		['419199007', 'allergy', undefined],
		['420134006', undefined, undefined],
		['DNAINT', 'intolerance', 'medication'],
	] as const) {
		test(`${code} is of type ${type} and category ${category}`, () => {
			const resource = allergy(value(code) + penicillin);
			assert.deepEqual([resource['type'], (resource['category'] as string[] | undefined)?.[0]], [type, category]);
		});
	}

	test('what it is to: the substance, its name, its original text, else the value', () => {
		const textOf = (content: string) => (allergy(content)['code'] as { text: string }).text;
		assert.equal(textOf(value('419199007') + substance('<code nullFlavor="UNK"/><name>Dust</name>')), 'Dust');
		assert.equal(textOf(value('419199007') + substance('<code nullFlavor="OTH"><originalText>Cats</originalText></code>')), 'Cats');
		assert.equal(textOf(`<value xsi:type="CD" code="300913006" ${snomed} displayName="Shellfish allergy"/>`), 'Shellfish allergy');
	});

	test('negated it is refuted, and without a substance there is no known one', () => {
		const refuted = allergy(value('416098002') + penicillin, 'negationInd="true"');
		assert.deepEqual([codeIn(refuted, 'verificationStatus'), codeIn(refuted, 'code')], ['refuted', '7980']);
		// Allergy to penicillin, told by the value: denied, it is no denial of every allergy.
		const one = allergy(value('91936005'), 'negationInd="true"');
		assert.deepEqual([codeIn(one, 'verificationStatus'), codeIn(one, 'code')], ['refuted', '91936005']);
		for (const [code, none] of [
			['419199007', '716186003'],
			['416098002', '409137002'],
			['414285001', '429625007'],
			['426232007', '428607008'],
			['999', '716186003'],
		] as const) {
			const resource = allergy(value(code) + substance('<code nullFlavor="NA"/>'), 'negationInd="true"');
			assert.deepEqual([codeIn(resource, 'verificationStatus'), codeIn(resource, 'code')], ['confirmed', none]);
		}
	});

	test('is denied and entered in error with its act', () => {
		const refuted = allergy(value('416098002') + penicillin, '', 'active', 'negationInd="true"');
		assert.deepEqual([codeIn(refuted, 'verificationStatus'), codeIn(refuted, 'code')], ['refuted', '7980']);
		const none = allergy(value('416098002'), '', 'active', 'negationInd="true"');
		assert.deepEqual([codeIn(none, 'verificationStatus'), codeIn(none, 'code')], ['confirmed', '409137002']);
		const error = allergy(value('416098002') + penicillin, '', 'nullified');
		assert.deepEqual([codeIn(error, 'verificationStatus'), error['clinicalStatus']], ['entered-in-error', undefined]);
	});

	test('its clinical status: the status observation, an end, the act', () => {
		const end = '<effectiveTime><high value="2010"/></effectiveTime>';
		const of = (content: string, status?: string) =>
			codeIn(allergy(value('419199007') + penicillin + content, '', status), 'clinicalStatus');
		assert.equal(of(related(28, value('73425007'))), 'inactive');
		assert.equal(of(end), 'resolved');
		assert.equal(of('', 'completed'), 'inactive');
		assert.deepEqual(allergy(value('419199007') + penicillin + end)['extension'], [
			{ url: 'http://hl7.org/fhir/StructureDefinition/allergyintolerance-abatement', valueDateTime: '2010' },
		]);
		const error = allergy(`<statusCode code="nullified"/>${value('419199007')}${penicillin}`);
		assert.deepEqual([codeIn(error, 'verificationStatus'), error['clinicalStatus']], ['entered-in-error', undefined]);
	});

	test('a severity of the allergy is that of reactions without their own', () => {
		const resource = allergy(
			value('419199007') + penicillin + reaction(hives) + reaction(hives + severity('255604002')) + severity('24484000'),
		);
		assert.deepEqual(
			(resource['reaction'] as JsonObject[]).map((one) => one['severity']),
			['severe', 'mild'],
		);
		const { flags } = readDocument(clinicalDocument(section('48765-2', concern(value('419199007') + penicillin + severity('24484000')))));
		assert.match(flags.join(), /no reaction is stated/);
	});

	test('to several substances is an allergy to each, which is flagged', () => {
		const aspirin = substance('<code code="1191" codeSystem="2.16.840.1.113883.6.88" displayName="Aspirin"/>');
		const document = (content: string) => readDocument(clinicalDocument(section('48765-2', concern(`<id root="1.7"/>${content}`))));
		const { entries, flags } = document(value('416098002') + penicillin + aspirin + aspirin + reaction(hives));
		assert.deepEqual(
			entries.map(({ resource }) => [codeIn(resource, 'code'), (resource['reaction'] as JsonObject[]).length]),
			[
				['7980', 1],
				['1191', 1],
			],
		);
		assert.equal(new Set(entries.map(({ item }) => item)).size, 2);
		assert.match(flags.join(), /act\/entryRelationship\/observation names 2 substances; each is an allergy here/);
		const long = document(`${value('416098002')}${penicillin}${aspirin}${reaction(`<text>${'x'.repeat(5000)}</text>`)}`);
		assert.equal(long.entries.length, 1);
		assert.match(long.flags.join(), /1 more substances, for which what it says is too long/);
	});

	test('a reaction that says nothing is noted, one by its text is kept', () => {
		const { entries, flags } = readDocument(
			clinicalDocument(
				section(
					'48765-2',
					concern(
						`${value('419199007')}${penicillin}${reaction('<value xsi:type="CD" nullFlavor="UNK"/>')}${reaction('<text>Swelling</text>')}`,
					),
				),
			),
		);
		assert.deepEqual(entries[0]?.resource['reaction'], [{ manifestation: [{ text: 'Swelling' }] }]);
		assert.match(flags.join(), /the reaction says nothing/);
	});

	test('without templates the reaction may be stated, of which the allergy is the cause', () => {
		const code = (number: string, display: string) => `<code code="${number}" ${snomed} displayName="${display}"/>`;
		const [resource] = resourcesOf(
			section(
				'10155-0',
				entry(
					`<observation classCode="OBS" moodCode="EVN">${code('247472004', 'Hives')}<entryRelationship typeCode="MFST">` +
						`<observation classCode="OBS" moodCode="EVN">${code('91936005', 'Allergy to penicillin')}</observation></entryRelationship></observation>`,
				),
			),
		);
		assert.equal(resource && codeIn(resource, 'code'), '91936005');
		const [shown] = (resource?.['reaction'] as { manifestation: { text: string }[] }[] | undefined) ?? [];
		assert.equal(shown?.manifestation[0]?.text, 'Hives');
	});
});

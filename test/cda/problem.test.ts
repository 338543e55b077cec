import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { clinicalDocument, entry, entryTemplate, readDocument, resourcesOf, section } from '#test/support/cda-sections.ts';

const snomed = 'codeSystem="2.16.840.1.113883.6.96"';
const asthma = `<value xsi:type="CD" code="195967001" ${snomed} displayName="Asthma"/>`;

/** A problem concern act around one problem observation. */
const concern = (observation: string, { status = 'active', attributes = '', more = '', act = '' } = {}) =>
	entry(
		`<act classCode="ACT" moodCode="EVN" ${act}>${entryTemplate(3)}<statusCode code="${status}"/>${more}<entryRelationship typeCode="SUBJ">` +
			`<observation classCode="OBS" moodCode="EVN" ${attributes}>${entryTemplate(4)}${observation}</observation></entryRelationship></act>`,
	);
const related = (template: string | number, value: string, typeCode = 'REFR') =>
	`<entryRelationship typeCode="${typeCode}"><observation classCode="OBS" moodCode="EVN">${entryTemplate(template)}${value}</observation></entryRelationship>`;
const status = (code: string) => related(6, `<value xsi:type="CD" code="${code}" ${snomed}/>`);
const period = (low: string, high: string) => `<effectiveTime>${low}${high}</effectiveTime>`;

const problems = (entries: string, text = '') => resourcesOf(section('11450-4', entries, text));
function problem(observation: string, options: { status?: string; attributes?: string; more?: string; act?: string } = {}): JsonObject {
	return problems(concern(observation, options))[0] ?? assert.fail('there is no problem');
}
const codeIn = (resource: JsonObject, element: string) =>
	(resource[element] as { coding: { code: string }[] } | undefined)?.coding[0]?.code;

describe('a problem observation', () => {
	test('becomes a Condition with all that it says', () => {
		const author =
			'<author><time value="20140104"/><assignedAuthor><id root="2.16.840.1.113883.4.6" extension="99"/>' +
			'<assignedPerson><name><given>Ann</given><family>Author</family></name></assignedPerson></assignedAuthor></author>';
		const comment =
			`<entryRelationship typeCode="SUBJ" inversionInd="true"><act classCode="ACT" moodCode="EVN">${entryTemplate(64)}` +
			`<code code="48767-8" codeSystem="2.16.840.1.113883.6.1"/><text>worse at night</text>${author}</act></entryRelationship>`;
		const [resource] = problems(
			concern(
				'<id root="1.2.3" extension="P1"/><code code="55607006" codeSystem="2.16.840.1.113883.6.96" displayName="Problem"/>' +
					`<statusCode code="completed"/>${period('<low value="20120806"/>', '')}` +
					`<value xsi:type="CD" code="195967001" ${snomed} displayName="Asthma"><originalText><reference value="#p1"/></originalText>` +
					'<translation code="J45.9" codeSystem="2.16.840.1.113883.6.90"/></value>' +
					`<targetSiteCode code="39607008" ${snomed} displayName="Lung"><qualifier><name code="272741003" ${snomed}/><value code="7771000" ${snomed} displayName="Left"/></qualifier></targetSiteCode>` +
					`${author}<informant><relatedEntity classCode="PRS"><relatedPerson><name><given>Mo</given><family>Ther</family></name></relatedPerson></relatedEntity></informant>` +
					related(8, `<code code="SEV"/><value xsi:type="CD" code="24484000" ${snomed} displayName="Severe"/>`, 'SUBJ') +
					comment,
			),
			'<table><tbody><tr><td ID="p1">Bronchial <content styleCode="Bold">asthma</content></td></tr></tbody></table>',
		);
		const person = { type: 'Practitioner', identifier: { system: 'urn:oid:2.16.840.1.113883.4.6', value: '99' }, display: 'Ann Author' };
		assert.deepEqual(resource, {
			identifier: [{ value: 'P1', system: 'urn:oid:1.2.3' }],
			clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }] },
			verificationStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-ver-status', code: 'confirmed' }] },
			category: [
				{
					coding: [
						{ system: 'http://terminology.hl7.org/CodeSystem/condition-category', code: 'problem-list-item', display: 'Problem List Item' },
					],
				},
				{ coding: [{ system: 'http://snomed.info/sct', code: '55607006', display: 'Problem' }], text: 'Problem' },
			],
			severity: { coding: [{ system: 'http://snomed.info/sct', code: '24484000', display: 'Severe' }], text: 'Severe' },
			code: {
				coding: [
					{ system: 'http://snomed.info/sct', code: '195967001', display: 'Asthma' },
					{ system: 'http://hl7.org/fhir/sid/icd-10-cm', code: 'J45.9' },
				],
				text: 'Bronchial asthma',
			},
			bodySite: [{ coding: [{ system: 'http://snomed.info/sct', code: '39607008', display: 'Lung' }], text: 'Lung (Left)' }],
			onsetDateTime: '2012-08-06',
			recordedDate: '2014-01-04',
			recorder: person,
			asserter: { type: 'RelatedPerson', display: 'Mo Ther' },
			note: [{ authorString: 'Ann Author', time: '2014-01-04', text: 'worse at night' }],
		});
	});

	const high = '<high value="20200101"/>';
	for (const [name, observation, act, expected] of [
		['the status observation', status('73425007'), 'active', 'inactive'],
		['a status of C32', status('255227004'), 'active', 'recurrence'],
		['the act, where there is no status observation', '', 'completed', 'inactive'],
		['the act, where the status is not one', status('1'), 'active', 'active'],
		['an end', period('', high), 'active', 'resolved'],
		['an unknown end', period('', '<high nullFlavor="UNK"/>'), 'active', 'resolved'],
		['no information of an end', period('', '<high nullFlavor="NI"/>'), 'active', 'active'],
		['an end of what is said to be active', period('', high) + status('55561003'), 'active', 'inactive'],
		['an end of what is in remission', period('', high) + status('277022003'), 'active', 'remission'],
	] as const) {
		test(`its clinical status comes from ${name}`, () => {
			assert.equal(codeIn(problem(asthma + observation, { status: act }), 'clinicalStatus'), expected);
		});
	}

	test('an unknown end is one that has no date', () => {
		const { _abatementDateTime, abatementDateTime } = problem(asthma + period('', '<high nullFlavor="UNK"/>'));
		assert.equal(abatementDateTime, undefined);
		assert.deepEqual(_abatementDateTime, {
			extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
		});
	});

	test('negated it is refuted, of any problem there are none', () => {
		const refuted = problem(asthma, { attributes: 'negationInd="true"' });
		assert.deepEqual([codeIn(refuted, 'verificationStatus'), codeIn(refuted, 'code')], ['refuted', '195967001']);
		const none = problem(`<value xsi:type="CD" code="55607006" ${snomed}/>`, { attributes: 'negationInd="true"' });
		assert.deepEqual([codeIn(none, 'verificationStatus'), codeIn(none, 'code')], ['confirmed', '160245001']);
	});

	test('entered in error it has neither a clinical status nor an end', () => {
		const resource = problem(`<statusCode code="nullified"/>${asthma}${period('', high)}`);
		assert.equal(codeIn(resource, 'verificationStatus'), 'entered-in-error');
		assert.deepEqual([resource['clinicalStatus'], resource['abatementDateTime']], [undefined, undefined]);
	});

	test('is denied and entered in error with its act', () => {
		const act = 'negationInd="true"';
		const refuted = problem(asthma, { act });
		assert.deepEqual([codeIn(refuted, 'verificationStatus'), codeIn(refuted, 'code')], ['refuted', '195967001']);
		const none = problem(`<value xsi:type="CD" code="55607006" ${snomed}/>`, { act });
		assert.deepEqual([codeIn(none, 'verificationStatus'), codeIn(none, 'code')], ['confirmed', '160245001']);
		const error = problem(asthma + period('', high), { status: 'nullified', act });
		assert.equal(codeIn(error, 'verificationStatus'), 'entered-in-error');
		assert.deepEqual([error['clinicalStatus'], error['abatementDateTime']], [undefined, undefined]);
	});

	test('negated in a negated act it is left out and noted', () => {
		const negated = concern(asthma, { act: 'negationInd="true"', attributes: 'negationInd="true"' });
		const { entries, flags } = readDocument(clinicalDocument(section('11450-4', negated)));
		assert.deepEqual(entries, []);
		assert.match(flags.join(), /observation was left out: it is negated within an act that is negated, too$/);
	});

	test('the date of the diagnosis stands beside it', () => {
		const act =
			'<entryRelationship typeCode="COMP"><act classCode="ACT" moodCode="EVN"><code code="77975-1"/><effectiveTime value="2012"/></act></entryRelationship>';
		assert.deepEqual(problem(asthma + act)['extension'], [
			{ url: 'http://hl7.org/fhir/StructureDefinition/condition-assertedDate', valueDateTime: '2012' },
		]);
	});

	test('ruled out it is refuted', () => {
		assert.equal(codeIn(problem(asthma + status('410516002')), 'verificationStatus'), 'refuted');
	});

	test('the age at onset stands where there is no date', () => {
		const age = related(31, '<value xsi:type="PQ" value="57" unit="a"/>', 'SUBJ');
		assert.deepEqual(problem(asthma + age)['onsetAge'], { value: 57, unit: 'a', system: 'http://unitsofmeasure.org', code: 'a' });
		assert.equal(problem(asthma + period('<low value="2001"/>', '') + age)['onsetAge'], undefined);
		assert.equal(problem(asthma + related(31, '<value xsi:type="PQ" value="-1" unit="a"/>', 'SUBJ'))['onsetAge'], undefined);
	});
});

describe('what the problem is', () => {
	const text = '<content ID="n1">Chronic cough</content>';
	for (const [name, observation, expected] of [
		[
			'a null value with original text',
			'<value xsi:type="CD" nullFlavor="OTH"><originalText>cough</originalText></value>',
			{ text: 'cough' },
		],
		[
			'a null value with a translation',
			'<value xsi:type="CD" nullFlavor="OTH"><translation code="R05" codeSystem="2.16.840.1.113883.6.90" displayName="Cough"/></value>',
			{ coding: [{ system: 'http://hl7.org/fhir/sid/icd-10-cm', code: 'R05', display: 'Cough' }], text: 'Cough' },
		],
		['the narrative', '<text><reference value="#n1"/></text><value xsi:type="CD" nullFlavor="UNK"/>', { text: 'Chronic cough' }],
		['a text', '<value xsi:type="ST">coughing</value>', { text: 'coughing' }],
		[
			'the code of an observation without value',
			`<code code="49727002" ${snomed} displayName="Cough"/>`,
			{ coding: [{ system: 'http://snomed.info/sct', code: '49727002', display: 'Cough' }], text: 'Cough' },
		],
	] as const) {
		test(`is told by ${name}`, () => {
			assert.deepEqual(problems(concern(observation), text)[0]?.['code'], expected);
		});
	}

	test('is told by nothing: it is left out and noted', () => {
		const { entries, flags } = readDocument(
			clinicalDocument(section('11450-4', concern('<code code="55607006"/><value xsi:type="CD" nullFlavor="UNK"/>'))),
		);
		assert.deepEqual(entries, []);
		assert.deepEqual(flags, [
			'/ClinicalDocument/component/structuredBody/component/section/entry/act/entryRelationship/observation was left out: neither a code nor a text says what it is',
		]);
	});
});

describe('where problems stand', () => {
	const observation = `<observation classCode="OBS" moodCode="EVN">${entryTemplate(4)}${asthma}</observation>`;
	const categoryOf = (sections: string) => {
		const [resource] = resourcesOf(sections);
		return (resource?.['category'] as { coding: { code: string }[] }[] | undefined)?.[0]?.coding[0]?.code;
	};
	test('a past history is of the problem list, a diagnosis of an encounter', () => {
		assert.equal(categoryOf(section('11348-0', entry(observation))), 'problem-list-item');
		assert.equal(categoryOf(section('11535-2', entry(observation))), 'encounter-diagnosis');
		const diagnosis = `<act classCode="ACT" moodCode="EVN">${entryTemplate(80)}<entryRelationship typeCode="SUBJ">${observation}</entryRelationship></act>`;
		const encounter = `<encounter classCode="ENC" moodCode="EVN">${entryTemplate(49)}<entryRelationship typeCode="COMP">${diagnosis}</entryRelationship></encounter>`;
		assert.equal(categoryOf(section('46240-8', entry(encounter))), 'encounter-diagnosis');
	});

	test('a section that nothing is known of has them by template or class', () => {
		assert.equal(categoryOf(section('99999-9', entry(observation))), 'problem-list-item');
		const own = `<observation classCode="COND" moodCode="EVN">${asthma}</observation>`;
		assert.equal(categoryOf(section('51848-0', entry(own))), 'encounter-diagnosis');
	});

	test('those of relatives, planned ones and no information are left out', () => {
		const of = (statement: string) => readDocument(clinicalDocument(section('11450-4', entry(statement))));
		const subject = '<subject><relatedSubject classCode="PRS"/></subject>';
		for (const [statement, reason] of [
			[`<observation classCode="OBS" moodCode="EVN">${asthma}${subject}</observation>`, /somebody else/],
			[`<observation classCode="OBS" moodCode="INT">${asthma}</observation>`, /planned/],
			[`<observation classCode="OBS" moodCode="EVN" nullFlavor="NI">${asthma}</observation>`, /no information/],
			['<act classCode="ACT" moodCode="EVN"/>', /holds no observation/],
			['<supply classCode="SPLY" moodCode="EVN"/>', /1 of its entries/],
		] as const) {
			const { entries, flags } = of(statement);
			assert.deepEqual(entries, []);
			assert.match(flags.join(), reason);
		}
	});
});

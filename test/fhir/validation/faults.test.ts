import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exactDecimal, type JsonObject } from '#core/json.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import {
	allergy,
	bundle,
	code,
	coded,
	condition,
	document,
	encounter,
	extended,
	mmHg,
	narrated,
	observation,
	patient,
	period,
	practitioner,
	range,
	terminology,
	timed,
	without,
} from '#test/support/fhir-samples.ts';

function issuesOf(resource: JsonObject): string[] {
	return validateResource(resource).map((issue) => `${issue.code} ${issue.expression}`);
}

type Row = [title: string, resource: JsonObject, ...issues: string[]];

const structure: Row[] = [
	['no type', {}, 'required resourceType'],
	['a type that R4 does not have', { resourceType: 'Person2' }, 'structure resourceType'],
	['an abstract type', { resourceType: 'DomainResource' }, 'structure resourceType'],
	['an unknown element', patient({ name1: 'x' }), 'structure Patient.name1'],
	['an unknown element further in', patient({ name: [{ family: 'a', middle: 'b' }] }), 'structure Patient.name[0].middle'],
	['an element of another type', patient({ status: 'final' }), 'structure Patient.status'],
	['an element with what could be data in its name', patient({ 'Smith 1970': true }), 'structure Patient'],
	['constructor, which every object has', patient({ constructor: {} }), 'structure Patient.constructor'],
	['a sibling of what is no primitive', patient({ _address: [{ id: 'a' }] }), 'structure Patient._address'],
	['two members missing', without(observation(), 'status', 'code'), 'required Observation.status', 'required Observation.code'],
	['a member missing within a list', patient({ link: [{ type: 'refer' }] }), 'required Patient.link[0].other'],
	['a list where one value is meant', patient({ birthDate: ['2000-01-01'] }), 'structure Patient.birthDate'],
	['one value where a list is meant', patient({ name: { family: 'a' } }), 'structure Patient.name'],
	['an empty list', patient({ name: [] }), 'structure Patient.name'],
	['an empty object', patient({ name: [{}] }), 'invariant Patient.name[0]'],
	['an element with nothing but an id', observation({ code: { id: 'a' } }), 'invariant Observation.code'],
	['an empty text', patient({ name: [{ family: '' }] }), 'value Patient.name[0].family'],
	['null', patient({ birthDate: null }), 'structure Patient.birthDate'],
	['a text where an object is meant', patient({ maritalStatus: 'M' }), 'structure Patient.maritalStatus'],
	['an object where a text is meant', patient({ birthDate: {} }), 'structure Patient.birthDate'],
	['a number where a text is meant', patient({ language: 1 }), 'structure Patient.language'],
	['a decimal where an object is meant', patient({ maritalStatus: exactDecimal('1.0') }), 'structure Patient.maritalStatus'],
	['two forms of a choice', patient({ deceasedBoolean: true, deceasedDateTime: '2020' }), 'structure Patient.deceased'],
	[
		'two forms of a choice, one by its sibling',
		observation({ valueString: 'a', _valueInteger: { extension: [{ url: 'a', valueCode: 'b' }] } }),
		'structure Observation.value',
	],
	['a form that a choice does not have', observation({ valueAddress: { city: 'a' } }), 'structure Observation.valueAddress'],
];

const primitives: Row[] = [
	['a code that is not in its value set', patient({ gender: 'M' }), 'code-invalid Patient.gender'],
	['a code with a space at the end', patient({ language: 'en ' }), 'value Patient.language'],
	['a date with a time', patient({ birthDate: '2000-01-01T00:00:00Z' }), 'value Patient.birthDate'],
	['a month that there is not', patient({ birthDate: '2000-13' }), 'value Patient.birthDate'],
	['a day that the calendar does not have', patient({ birthDate: '2023-02-29' }), 'value Patient.birthDate'],
	['a century without leap day', patient({ birthDate: '1900-02-29' }), 'value Patient.birthDate'],
	['the year 0', patient({ birthDate: '0000' }), 'value Patient.birthDate'],
	['a time without seconds', observation({ effectiveDateTime: '2020-01-01T10:00Z' }), 'value Observation.effective'],
	['a time without zone', observation({ effectiveDateTime: '2020-01-01T10:00:00' }), 'value Observation.effective'],
	['an instant without time', observation({ issued: '2020-01-01' }), 'value Observation.issued'],
	['the hour 24', observation({ valueTime: '24:00:00' }), 'value Observation.value'],
	['a whole number with a fraction', observation({ valueInteger: exactDecimal('1.0') }), 'value Observation.value'],
	['a whole number beyond 31 bits', observation({ valueInteger: 2_147_483_648 }), 'value Observation.value'],
	['zero, where a positive number is meant', patient({ telecom: [{ rank: 0 }] }), 'value Patient.telecom[0].rank'],
	['a negative size', document({ url: 'http://example.org', size: -1 }), 'value DocumentReference.content[0].attachment.size'],
	['a number in quotes', observation({ valueQuantity: { value: '1.0' } }), 'structure Observation.value.value'],
	['a decimal beyond reason', observation({ valueQuantity: { value: exactDecimal('1e999') } }), 'value Observation.value.value'],
	[
		'a decimal of many digits',
		observation({ valueQuantity: { value: exactDecimal(`0.${'1'.repeat(70)}`) } }),
		'value Observation.value.value',
	],
	['true in quotes', patient({ active: 'true' }), 'structure Patient.active'],
	['an id with an underscore', patient({ id: 'a_b' }), 'value Patient.id'],
	['an id of 65 characters', patient({ id: 'a'.repeat(65) }), 'value Patient.id'],
	['a URI with a space', patient({ identifier: [{ system: 'http://a b' }] }), 'value Patient.identifier[0].system'],
	['an OID that is none', extended({ valueOid: 'urn:oid:1.02' }), 'value Patient.extension[0].value'],
	['a UUID in capitals', extended({ valueUuid: 'urn:uuid:0C369B60-4D48-4B57-B3B4-9AC24F7EC6A5' }), 'value Patient.extension[0].value'],
	['base64 cut short', document({ contentType: 'text/plain', data: 'abc' }), 'value DocumentReference.content[0].attachment.data'],
	['a media type that is none', document({ contentType: 'a plain text' }), 'value DocumentReference.content[0].attachment.contentType'],
	['a control character', patient({ name: [{ text: 'a\u0000b' }] }), 'value Patient.name[0].text'],
	['a currency in small letters', extended({ valueMoney: { currency: 'eur' } }), 'value Patient.extension[0].value.currency'],
	['an id of an element with a space', patient({ name: [{ id: 'a b', family: 'a' }] }), 'value Patient.name[0].id'],
];

const siblings: Row[] = [
	['null without an extension beside it', patient({ name: [{ given: ['a', null] }] }), 'structure Patient.name[0].given[1]'],
	['null beside null', patient({ name: [{ given: ['a', null], _given: [{ id: 'b' }, null] }] }), 'structure Patient.name[0].given[1]'],
	['a null too many in the siblings', patient({ name: [{ given: ['a'], _given: [null, null] }] }), 'structure Patient.name[0].given[1]'],
	['a sibling with an id and no value', patient({ _birthDate: { id: 'a' } }), 'invariant Patient.birthDate'],
	['an empty sibling', patient({ birthDate: '2000', _birthDate: {} }), 'invariant Patient.birthDate'],
	['a sibling that is a text', patient({ birthDate: '2000', _birthDate: 'a' }), 'structure Patient.birthDate'],
	['a value in a sibling', patient({ birthDate: '2000', _birthDate: { value: 'a' } }), 'structure Patient.birthDate.value'],
	['one sibling for a list', patient({ name: [{ given: ['a'], _given: { id: 'b' } }] }), 'structure Patient.name[0].given'],
	[
		'an extension of a sibling with a fault',
		patient({ _birthDate: { extension: [{ valueString: 'a' }] } }),
		'required Patient.birthDate.extension[0].url',
	],
];

const bindings: Row[] = [
	[
		'a concept of another system',
		condition({ clinicalStatus: coded('http://example.org', 'active') }),
		'code-invalid Condition.clinicalStatus',
	],
	['a concept that is only text', condition({ clinicalStatus: { text: 'active' } }), 'code-invalid Condition.clinicalStatus'],
	[
		'a code that a value set does not have',
		allergy({ verificationStatus: coded(`${terminology}/allergyintolerance-verification`, 'sure') }),
		'code-invalid AllergyIntolerance.verificationStatus',
	],
	['a reference to another type', observation({ encounter: { reference: 'Patient/1' } }), 'value Observation.encounter'],
	[
		'a URL to another type',
		observation({ subject: { reference: 'https://example.org/fhir/Practitioner/1' } }),
		'value Observation.subject',
	],
	['a type in words to another', observation({ subject: { type: 'Medication', display: 'a' } }), 'value Observation.subject'],
	['two types that differ', observation({ subject: { type: 'Group', reference: 'Patient/1' } }), 'value Observation.subject.type'],
	['a reference to a type that there is not', observation({ subject: { reference: 'Persons/1' } }), 'value Observation.subject.reference'],
	['a reference without id', observation({ subject: { reference: 'Patient/' } }), 'value Observation.subject.reference'],
	[
		'a reference with an id too long',
		observation({ subject: { reference: `Patient/${'a'.repeat(65)}` } }),
		'value Observation.subject.reference',
	],
	['a UUID that is none', observation({ subject: { reference: 'urn:uuid:1' } }), 'value Observation.subject.reference'],
	['a reference by a search', observation({ subject: { reference: 'Patient?identifier=1' } }), 'value Observation.subject.reference'],
];

const containment: Row[] = [
	[
		'a reference to what is not contained',
		patient({ managingOrganization: { reference: '#a' } }),
		'invariant Patient.managingOrganization.reference',
	],
	['a reference to the resource itself', observation({ hasMember: [{ reference: '#' }] }), 'invariant Observation.hasMember[0].reference'],
	[
		'a contained resource of another type than is meant',
		patient({ contained: [practitioner], managingOrganization: { reference: '#gp' } }),
		'value Patient.managingOrganization',
	],
	['a contained resource without id', patient({ contained: [without(practitioner, 'id')] }), 'required Patient.contained[0].id'],
	['a contained resource without type', patient({ contained: [{ id: 'a' }] }), 'required Patient.contained[0].resourceType'],
	[
		'a contained resource of no type',
		patient({ contained: [{ resourceType: 'Doctor', id: 'a' }] }),
		'structure Patient.contained[0].resourceType',
	],
	['a contained text', patient({ contained: ['a'] }), 'structure Patient.contained[0]'],
	[
		'a fault in a contained resource',
		patient({ contained: [{ ...practitioner, gender: 'M' }] }),
		'code-invalid Patient.contained[0].gender',
	],
	[
		'a contained resource of a type that is seldom contained',
		patient({ contained: [{ resourceType: 'Account', id: 'a', status: 'active', any: 1 }] }),
		'structure Patient.contained[0].any',
	],
	[
		'contained in contained (dom-2)',
		patient({ contained: [{ ...practitioner, contained: [{ resourceType: 'Organization', id: 'o' }] }] }),
		'invariant Patient.contained[0].contained',
	],
	[
		'a version of a contained resource (dom-4)',
		patient({ contained: [{ ...practitioner, meta: { versionId: '1' } }] }),
		'invariant Patient.contained[0].meta',
	],
	[
		'a label of a contained resource (dom-5)',
		patient({ contained: [{ ...practitioner, meta: { security: [{ code: 'R' }] } }] }),
		'invariant Patient.contained[0].meta.security',
	],
	['two contained with one id', patient({ contained: [practitioner, practitioner] }), 'value Patient.contained[1].id'],
];

const invariants: Row[] = [
	['ext-1: neither value nor extensions', extended({}), 'invariant Patient.extension[0]'],
	['ext-1: both', extended({ valueCode: 'a', extension: [{ url: 'b', valueCode: 'c' }] }), 'invariant Patient.extension[0]'],
	['pat-1', patient({ contact: [{ gender: 'female' }] }), 'invariant Patient.contact[0]'],
	['cpt-2', patient({ telecom: [{ value: '1' }] }), 'invariant Patient.telecom[0]'],
	['per-1', period('2020-01-02', '2020-01-01'), 'invariant Observation.effective'],
	['per-1 across zones', period('2020-01-01T12:00:00Z', '2020-01-01T13:00:00+02:00'), 'invariant Observation.effective'],
	['qty-3', observation({ valueQuantity: { value: 1, code: 'kg' } }), 'invariant Observation.value'],
	[
		'a comparator in a SimpleQuantity',
		observation({ referenceRange: [{ low: { value: 1, comparator: '<' } }] }),
		'structure Observation.referenceRange[0].low.comparator',
	],
	['age-1', condition({ onsetAge: { value: 1, unit: 'year' } }), 'invariant Condition.onset'],
	['drt-1', encounter({ length: { value: 1, system: 'http://example.org', code: 'min' } }), 'invariant Encounter.length'],
	['rng-2', range({ value: exactDecimal('2.0'), ...mmHg }, { value: 1, ...mmHg }), 'invariant Observation.value'],
	['rat-1', observation({ valueRatio: { numerator: { value: 1 } } }), 'invariant Observation.value'],
	['att-1', document({ data: 'YQ==' }), 'invariant DocumentReference.content[0].attachment'],
	[
		'sampled data',
		observation({ valueSampledData: { origin: { value: 0 }, period: 1, dimensions: 1, data: '1  2' } }),
		'invariant Observation.value.data',
	],
	['tim-1', timed({ duration: 1 }), 'invariant Observation.effective.repeat'],
	['tim-2', timed({ period: 1 }), 'invariant Observation.effective.repeat'],
	['tim-4', timed({ duration: -1, durationUnit: 'h' }), 'invariant Observation.effective.repeat.duration'],
	['tim-9', timed({ offset: 1, when: ['C'] }), 'invariant Observation.effective.repeat'],
	['tim-10', timed({ timeOfDay: ['10:00:00'], when: ['HS'] }), 'invariant Observation.effective.repeat'],
	['con-1', condition({ stage: [{ type: code }] }), 'invariant Condition.stage[0]'],
	['con-2', condition({ evidence: [{ id: 'a', extension: [{ url: 'a', valueCode: 'b' }] }] }), 'invariant Condition.evidence[0]'],
	[
		'con-4',
		condition({ abatementString: 'a', clinicalStatus: coded(`${terminology}/condition-clinical`, 'active') }),
		'invariant Condition.clinicalStatus',
	],
	[
		'con-5',
		condition({
			clinicalStatus: coded(`${terminology}/condition-clinical`, 'active'),
			verificationStatus: coded(`${terminology}/condition-ver-status`, 'entered-in-error'),
		}),
		'invariant Condition.clinicalStatus',
	],
	['ait-1', without(allergy(), 'clinicalStatus'), 'invariant AllergyIntolerance.clinicalStatus'],
	[
		'ait-2',
		allergy({ verificationStatus: coded(`${terminology}/allergyintolerance-verification`, 'entered-in-error') }),
		'invariant AllergyIntolerance.clinicalStatus',
	],
	['obs-3', observation({ referenceRange: [{ type: code }] }), 'invariant Observation.referenceRange[0]'],
	['obs-6', observation({ valueString: 'a', dataAbsentReason: code }), 'invariant Observation.dataAbsentReason'],
	[
		'obs-7',
		observation({ code: coded('http://loinc.org', '1-8'), valueString: 'a', component: [{ code: coded('http://loinc.org', '1-8') }] }),
		'invariant Observation.component',
	],
];

const narratives: Row[] = [
	['no div', patient({ text: { status: 'generated' } }), 'required Patient.text.div'],
	[
		'an extension in the place of a div',
		patient({ text: { status: 'generated', _div: { extension: [{ url: 'a', valueCode: 'b' }] } } }),
		'structure Patient.text._div',
		'required Patient.text.div',
	],
	['text alone', patient({ text: { status: 'generated', div: 'a' } }), 'value Patient.text.div'],
	['a div of no namespace', patient({ text: { status: 'generated', div: '<div>a</div>' } }), 'value Patient.text.div'],
	['two divs', narrated('a</div><div xmlns="http://www.w3.org/1999/xhtml">b'), 'value Patient.text.div'],
	['nothing in it (txt-2)', narrated('<p> </p>'), 'value Patient.text.div'],
	['tags that cross', narrated('<p><b>a</p></b>'), 'value Patient.text.div'],
	['a tag that does not end', narrated('<p>a'), 'value Patient.text.div'],
	['a script', narrated('<script>a</script>'), 'value Patient.text.div'],
	['a form', narrated('<form><input/></form>'), 'value Patient.text.div'],
	['an event', narrated('<p onclick="a()">a</p>'), 'value Patient.text.div'],
	['a script in a link', narrated('<a href=" java\nscript:a()">a</a>'), 'value Patient.text.div'],
	['an attribute without quotes', narrated('<p class=a>a</p>'), 'value Patient.text.div'],
	['an ampersand alone', narrated('<p>a & b</p>'), 'value Patient.text.div'],
	['a document type', narrated('<!DOCTYPE html><p>a</p>'), 'value Patient.text.div'],
	['a thousand divs', narrated(`${'<div>'.repeat(1000)}a${'</div>'.repeat(1000)}`), 'value Patient.text.div'],
];

const request = { method: 'POST', url: 'Patient' };
const bundles: Row[] = [
	['no type', without(bundle('batch'), 'type', 'entry'), 'required Bundle.type'],
	['bdl-1', { ...bundle('batch', { request }), total: 1 }, 'invariant Bundle.total'],
	['bdl-2', bundle('collection', { resource: patient(), search: { mode: 'match' } }), 'invariant Bundle.entry'],
	['bdl-3', bundle('transaction', { resource: patient() }), 'invariant Bundle.entry[0].request'],
	['bdl-4', bundle('batch-response', { resource: patient() }), 'invariant Bundle.entry[0].response'],
	['bdl-5', bundle('collection', { fullUrl: 'http://example.org' }), 'invariant Bundle.entry[0]'],
	[
		'bdl-7',
		bundle('collection', { fullUrl: 'http://a', resource: patient() }, { fullUrl: 'http://a', resource: patient() }),
		'invariant Bundle.entry',
	],
	['bdl-8', bundle('collection', { fullUrl: 'http://a/Patient/1/_history/1', resource: patient() }), 'invariant Bundle.entry[0].fullUrl'],
	['a fault in an entry', bundle('collection', { resource: patient({ gender: 'M' }) }), 'code-invalid Bundle.entry[0].resource.gender'],
	[
		'an entry of no type',
		bundle('collection', { resource: { resourceType: 'Doctor' } }),
		'structure Bundle.entry[0].resource.resourceType',
	],
	[
		'a reference to what another entry contains',
		bundle(
			'collection',
			{ resource: patient({ contained: [practitioner] }) },
			{ resource: patient({ generalPractitioner: [{ reference: '#gp' }] }) },
		),
		'invariant Bundle.entry[1].resource.generalPractitioner[0].reference',
	],
	[
		'inv-1',
		{ resourceType: 'Parameters', parameter: [{ name: 'a', valueCode: 'b', part: [{ name: 'c', valueCode: 'd' }] }] },
		'invariant Parameters.parameter[0]',
	],
	[
		'inv-1 in a part',
		{ resourceType: 'Parameters', parameter: [{ name: 'a', part: [{ name: 'c' }] }] },
		'invariant Parameters.parameter[0].part[0]',
	],
];

for (const [title, rows] of Object.entries({ structure, primitives, siblings, bindings, containment, invariants, narratives, bundles })) {
	describe(`what is refused: ${title}`, () => {
		for (const [name, resource, ...issues] of rows) {
			test(name, () => {
				assert.deepEqual(issuesOf(resource), issues);
			});
		}
	});
}

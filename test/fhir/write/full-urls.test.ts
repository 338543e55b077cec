import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { primitiveTypeAt } from '#fhir/validation/type-at.ts';
import { FullUrls } from '#fhir/write/full-urls.ts';
import { relinked } from '#fhir/write/narrative-links.ts';

const [here, there] = ['http://here.example/fhir', 'https://there.example/r4'];
const entry = (fullUrl: string, method: string, url: string, resource: JsonObject = {}) => ({
	fullUrl,
	resource,
	request: { method, url },
});
const entries = [
	entry(`${there}/Patient/1`, 'POST', 'Patient', { meta: { versionId: '4' } }),
	entry(`${there}/Patient/2`, 'PUT', 'Patient/2'),
	entry(`${there}/Patient/3`, 'GET', 'Patient/3'),
	entry(`${here}/Patient/1`, 'POST', 'Patient'),
];

describe('a reference in an entry', () => {
	const cases: [fullUrl: string | undefined, reference: string, inTransaction: string, inBatch?: string][] = [
		[`${there}/Observation/9`, 'Patient/1', `${there}/Patient/1`],
		[`${there}/Observation/9`, 'Patient/1/_history/4', `${there}/Patient/1`, `${there}/Patient/1/_history/4`],
		[`${there}/Observation/9`, 'Patient/1/_history/3', `${there}/Patient/1/_history/3`],
		[`${there}/Observation/9`, 'Patient/2', `${there}/Patient/2`, 'Patient/2'],
		[`${there}/Observation/9`, 'Patient/3', `${there}/Patient/3`],
		[`${there}/Observation/9`, 'Organization/1', `${there}/Organization/1`],
		[`${there}/Observation/9`, `${there}/Patient/2`, `${there}/Patient/2`, 'Patient/2'],
		[`${there}/Observation/9`, `${here}/Patient/7`, `${here}/Patient/7`],
		[`${there}/Observation/9`, '#p', '#p'],
		[`${there}/Observation/9`, 'Patient?identifier=1', 'Patient?identifier=1'],
		[`${there}/Observation/9`, 'urn:uuid:00000000-0000-4000-8000-000000000001', 'urn:uuid:00000000-0000-4000-8000-000000000001'],
		[`${here}/Observation/9`, 'Patient/1', `${here}/Patient/1`, 'Patient/1'],
		[`${here}/Observation/9`, 'Patient/2', 'Patient/2'],
		['http://Here.Example/fhir/Observation/9', 'Patient/2', 'Patient/2'],
		['urn:uuid:00000000-0000-4000-8000-000000000009', 'Patient/1', 'Patient/1'],
		['http://there.example/documents/9', 'Patient/1', 'Patient/1'],
		[undefined, 'Patient/1', 'Patient/1'],
		[undefined, `${there}/Patient/1/_history/4`, `${there}/Patient/1`, `${there}/Patient/1/_history/4`],
	];
	for (const [fullUrl, reference, inTransaction, inBatch = inTransaction] of cases) {
		test(`of ${fullUrl ?? 'no URL'} to ${reference}`, () => {
			for (const [type, expected] of [
				['transaction', inTransaction],
				['batch', inBatch],
			] as const) {
				const resource: JsonObject = { resourceType: 'Observation', subject: { reference }, valueString: reference };
				new FullUrls(entries, type, here).relate(resource, fullUrl);
				assert.deepEqual(resource, { resourceType: 'Observation', subject: { reference: expected }, valueString: reference }, type);
			}
		});
	}
});

test('a full URL is canonical where its resource says so', () => {
	const url = 'http://example.org/Questionnaire/q';
	const urls = new FullUrls([entry(url, 'PUT', 'Questionnaire/q', { url }), ...entries], 'transaction', here);
	assert.deepEqual([urls.isCanonical(url), urls.isCanonical(`${there}/Patient/1`)], [true, false]);
});

describe('the links of a narrative', () => {
	const cases: [string, string][] = [
		['<a href="urn:x">urn:x</a>', '<a href="new&amp;">urn:x</a>'],
		["<img alt='>' src='urn:x'/>", '<img alt=\'>\' src="new&amp;"/>'],
		['<a\n\thref = "&#117;rn:&#x78;">a</a>', '<a\n\thref = "new&amp;">a</a>'],
		['<a href=" urn:x ">a</a><a href="urn:y">b</a>', '<a href="new&amp;">a</a><a href="urn:y">b</a>'],
		['<a title=" href=\'urn:x\'" name="urn:x">a</a>', '<a title=" href=\'urn:x\'" name="urn:x">a</a>'],
		[
			'<q cite="urn:x">a</q><!-- <a href="urn:x"> --><abbr href="urn:x">a</abbr>',
			'<q cite="urn:x">a</q><!-- <a href="urn:x"> --><abbr href="urn:x">a</abbr>',
		],
	];
	for (const [given, expected] of cases) {
		test(given, () => {
			assert.equal(
				relinked(given, (url) => (url === 'urn:x' ? 'new&' : undefined)),
				expected,
			);
		});
	}
});

describe('the type of an element', () => {
	const cases: [type: string, resource: JsonObject, steps: (string | number)[], expected: string | undefined][] = [
		['Patient', {}, ['photo', 0, 'url'], 'url'],
		['Patient', {}, ['_birthDate', 'extension', 0, 'valueUri'], 'uri'],
		['Patient', {}, ['name', 0, '_given', 0, 'extension', 0, 'valueCanonical'], 'canonical'],
		['Claim', {}, ['identifier', 0, 'value'], 'string'],
		['Composition', {}, ['section', 0, 'section', 0, 'text', 'div'], 'xhtml'],
		['Task', {}, ['input', 0, 'valueOid'], 'oid'],
		['QuestionnaireResponse', {}, ['questionnaire'], 'canonical'],
		['Observation', { contained: [{ resourceType: 'Endpoint' }] }, ['contained', 0, 'address'], 'url'],
		['Parameters', { parameter: [{ resource: { resourceType: 'Patient' } }] }, ['parameter', 0, 'resource', 'implicitRules'], 'uri'],
		['Observation', {}, ['subject'], undefined],
		['Observation', {}, ['nothing', 'url'], undefined],
		['Nothing', {}, ['url'], undefined],
	];
	for (const [type, resource, steps, expected] of cases) {
		test(`${type}.${steps.join('.')} is ${expected ?? 'none of a primitive'}`, () => {
			assert.equal(primitiveTypeAt(type, resource, steps), expected);
		});
	}
});

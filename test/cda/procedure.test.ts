import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { clinicalDocument, entry, entryTemplate, readDocument, resourcesOf, section } from '#test/support/cda-sections.ts';

const snomed = 'codeSystem="2.16.840.1.113883.6.96"';
const appendectomy = `<code code="80146002" ${snomed} displayName="Appendectomy"/>`;
const statement = (content: string, { name = 'procedure', mood = 'EVN', template = 14, attributes = '' } = {}) =>
	entry(`<${name} moodCode="${mood}" ${attributes}>${entryTemplate(template)}${content}</${name}>`);
function procedure(content: string, options = {}): JsonObject {
	return resourcesOf(section('47519-4', statement(content, options)))[0] ?? assert.fail('there is no procedure');
}

describe('a procedure', () => {
	test('becomes a Procedure with all that it says', () => {
		const entity = (name: string, more = '') =>
			`<id root="1.3" extension="${name}"/><assignedPerson><name><family>${name}</family></name></assignedPerson>${more}`;
		const resource = procedure(
			`<id root="1.2" extension="X"/>${appendectomy}<statusCode code="completed"/>` +
				'<effectiveTime><low value="201208061000+0000"/><high value="201208061130+0000"/></effectiveTime>' +
				`<targetSiteCode code="66754008" ${snomed} displayName="Appendix"/>` +
				`<performer><assignedEntity>${entity('Hand')}</assignedEntity></performer>` +
				`<author><assignedAuthor>${entity('Pen')}</assignedAuthor></author>` +
				`<participant typeCode="LOC"><participantRole classCode="SDLOC">${entryTemplate(32)}<playingEntity><name>Theatre 2</name></playingEntity></participantRole></participant>` +
				`<entryRelationship typeCode="RSON"><observation classCode="OBS" moodCode="EVN"><value xsi:type="CD" code="74400008" ${snomed} displayName="Appendicitis"/></observation></entryRelationship>` +
				'<entryRelationship typeCode="SUBJ" inversionInd="true"><act classCode="ACT" moodCode="EVN"><code code="48767-8"/><text>uneventful</text></act></entryRelationship>',
		);
		const person = (name: string) => ({ type: 'Practitioner', identifier: { value: name, system: 'urn:oid:1.3' }, display: name });
		assert.deepEqual(resource, {
			identifier: [{ value: 'X', system: 'urn:oid:1.2' }],
			status: 'completed',
			code: { coding: [{ system: 'http://snomed.info/sct', code: '80146002', display: 'Appendectomy' }], text: 'Appendectomy' },
			performedPeriod: { start: '2012-08-06T10:00:00+00:00', end: '2012-08-06T11:30:00+00:00' },
			recorder: person('Pen'),
			performer: [{ actor: person('Hand') }],
			location: { type: 'Location', display: 'Theatre 2' },
			reasonCode: [{ coding: [{ system: 'http://snomed.info/sct', code: '74400008', display: 'Appendicitis' }], text: 'Appendicitis' }],
			bodySite: [{ coding: [{ system: 'http://snomed.info/sct', code: '66754008', display: 'Appendix' }], text: 'Appendix' }],
			note: [{ text: 'uneventful' }],
		});
	});

	for (const [code, status] of [
		['completed', 'completed'],
		['active', 'in-progress'],
		['aborted', 'stopped'],
		['cancelled', 'not-done'],
		['suspended', 'on-hold'],
		['nullified', 'entered-in-error'],
		['', 'unknown'],
	] as const) {
		test(`with status "${code}" is ${status}`, () => {
			assert.equal(procedure(`${appendectomy}<statusCode code="${code}"/>`)['status'], status);
		});
	}

	test('negated was not done', () => {
		assert.equal(procedure(`${appendectomy}<statusCode code="completed"/>`, { attributes: 'negationInd="true"' })['status'], 'not-done');
	});

	test('as act, or as observation with an outcome', () => {
		assert.equal(procedure(appendectomy, { name: 'act', template: 12 })['status'], 'unknown');
		const outcome = `<value xsi:type="CD" code="385669000" ${snomed} displayName="Successful"/>`;
		const resource = procedure(appendectomy + outcome, { name: 'observation', template: 13 });
		assert.equal((resource['outcome'] as { text: string }).text, 'Successful');
	});

	test('planned, without a code, or of another kind is left out and noted', () => {
		const document = clinicalDocument(
			section(
				'47519-4',
				statement(appendectomy, { mood: 'INT' }) + statement('') + entry('<substanceAdministration classCode="SBADM" moodCode="EVN"/>'),
			),
		);
		const { entries, flags } = readDocument(document);
		assert.deepEqual(entries, []);
		assert.deepEqual(
			flags.map((text) => text.replace('/ClinicalDocument/component/structuredBody/component/section', '…')),
			[
				'…/entry[1]/procedure was left out: it is planned, not done (moodCode)',
				'…/entry[2]/procedure was left out: neither a code nor a text says what was done',
				'… was left out: 1 of its entries are of a kind that has no resource here',
			],
		);
	});
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import type { DocumentEntry } from '#record/document.ts';
import { clinicalDocument, entry, faultsOf, readDocument, section } from '#test/support/cda-sections.ts';

const dicom = '1.2.840.10008.2.16.4';
const dicomSection = (code: string, content: string) =>
	`<component><section><code code="${code}" codeSystem="${dicom}"/><title>${code}</title>${content}</section></component>`;
const finding = (id: string) =>
	`<observation classCode="OBS" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.6.2.12"/><code code="121071" codeSystem="${dicom}" displayName="Finding"/>` +
	`<value xsi:type="ED"><reference value="#${id}"/></value></observation>`;
const signed = (code: string) =>
	`<legalAuthenticator><signatureCode code="${code}"/><assignedEntity><id root="1.3" extension="7"/><assignedPerson><name><family>Sign</family></name></assignedPerson></assignedEntity></legalAuthenticator>`;
const header = (more = '', code = '18748-4') =>
	`<id root="1.9" extension="D2"/><setId root="1.9" extension="SET"/><code code="${code}" codeSystem="2.16.840.1.113883.6.1" displayName="Diagnostic imaging study"/><title>Chest X-ray</title>` +
	`<effectiveTime value="20060828170821-0500"/>${more}`;

function reportsOf(
	sections: string,
	more?: string,
	code?: string,
): { report: DocumentEntry; resource: JsonObject; all: DocumentEntry[] }[] {
	const { entries } = readDocument(clinicalDocument(sections, header(more, code)));
	assert.deepEqual(faultsOf(entries), []);
	return entries
		.filter(({ resourceType }) => resourceType === 'DiagnosticReport')
		.map((report) => ({ report, resource: report.resource, all: entries }));
}
const formOf = ({ presentedForm }: JsonObject) =>
	Buffer.from((presentedForm as { data: string }[])[0]?.data ?? '', 'base64').toString('utf8');

const imaging =
	dicomSection(
		'121181',
		entry(
			`<act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.6.2.6"/><id root="1.2.840.9.1"/><code code="113014" codeSystem="${dicom}"/></act>`,
		),
	) +
	dicomSection(
		'121070',
		`<text><paragraph><caption>Lungs</caption><content ID="f1">Round density</content></paragraph></text>${entry(finding('f1'))}`,
	) +
	dicomSection('121072', `<text><paragraph ID="i1">No acute process.</paragraph></text>${entry(finding('i1'))}`);

describe('a diagnostic imaging report', () => {
	test('becomes a DiagnosticReport with its findings, its impression and its study', () => {
		const [found, ...others] = reportsOf(
			imaging,
			'<author><assignedAuthor><id root="1.3" extension="8"/><assignedPerson><name><family>Write</family></name></assignedPerson></assignedAuthor></author>' +
				'<custodian><assignedCustodian><representedCustodianOrganization><name>Clinic</name></representedCustodianOrganization></assignedCustodian></custodian>' +
				'<inFulfillmentOf><order><id root="1.4" extension="ORD"/></order></inFulfillmentOf>' +
				'<documentationOf><serviceEvent><effectiveTime><low value="20060823"/></effectiveTime></serviceEvent></documentationOf>',
		);
		assert.ok(found);
		assert.deepEqual(others, []);
		const { presentedForm, ...rest } = found.resource;
		assert.deepEqual(rest, {
			identifier: [{ value: 'D2', system: 'urn:oid:1.9' }],
			basedOn: [{ type: 'ServiceRequest', identifier: { value: 'ORD', system: 'urn:oid:1.4' } }],
			status: 'final',
			category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0074', code: 'RAD', display: 'Radiology' }] }],
			code: {
				coding: [{ system: 'http://loinc.org', code: '18748-4', display: 'Diagnostic imaging study' }],
				text: 'Diagnostic imaging study',
			},
			effectivePeriod: { start: '2006-08-23' },
			issued: '2006-08-28T17:08:21-05:00',
			performer: [{ type: 'Organization', display: 'Clinic' }],
			resultsInterpreter: [{ type: 'Practitioner', identifier: { value: '8', system: 'urn:oid:1.3' }, display: 'Write' }],
			conclusion: 'No acute process.',
		});
		assert.deepEqual(found.report.studies, { uids: ['1.2.840.9.1'], accession: 'ORD' });
		assert.equal(formOf({ presentedForm: presentedForm ?? [] }), '121070\nLungs\nRound density\n\n121072\nNo acute process.');
		assert.deepEqual(
			found.report.refers?.['result'],
			found.all.filter(({ resourceType }) => resourceType === 'Observation').map(({ resourceType, item }) => ({ resourceType, item })),
		);
		assert.equal(found.report.refers?.['result']?.length, 2);
	});

	test('is recognised by the set of its versions', () => {
		const [first] = reportsOf(imaging);
		const [second] = reportsOf(imaging.replace('No acute process', 'Other'), signed('S'));
		assert.equal(first?.report.item, second?.report.item);
	});

	test('is final unless it is to be signed still', () => {
		assert.equal(reportsOf(imaging)[0]?.resource['status'], 'final');
		assert.equal(reportsOf(imaging, signed('S'))[0]?.resource['status'], 'final');
		assert.equal(reportsOf(imaging, signed('X'))[0]?.resource['status'], 'preliminary');
		assert.deepEqual(reportsOf(imaging, signed('S'))[0]?.resource['resultsInterpreter'], [
			{ type: 'Practitioner', identifier: { value: '7', system: 'urn:oid:1.3' }, display: 'Sign' },
		]);
	});

	test('is known by its sections where the code of the document is another', () => {
		assert.equal(reportsOf(imaging, '', '11111-1').length, 1);
	});
});

describe('other reports', () => {
	const glucose = entry(
		'<act classCode="ACT" moodCode="EVN"><statusCode code="completed"/><entryRelationship typeCode="COMP">' +
			'<observation classCode="OBS" moodCode="EVN"><code code="2345-7" codeSystem="2.16.840.1.113883.6.1"/></observation></entryRelationship></act>',
	);

	test('a laboratory report has the results of its sections', () => {
		const [found] = reportsOf(section('18719-5', glucose, 'Glucose 95'), '', '11502-2');
		assert.ok(found);
		assert.equal((found.resource['category'] as { coding: { code: string }[] }[])[0]?.coding[0]?.code, 'LAB');
		assert.equal(found.report.refers?.['result']?.length, 1);
		assert.equal(formOf(found.resource), 'Title 18719-5\nGlucose 95');
		const active = section('18719-5', glucose.replace('completed', 'active'));
		assert.equal(reportsOf(active, '', '11502-2')[0]?.resource['status'], 'preliminary');
		const service =
			'<documentationOf><serviceEvent><lab:statusCode xmlns:lab="urn:oid:1.3.6.1.4.1.19376.1.3.2" code="active"/></serviceEvent></documentationOf>';
		assert.equal(reportsOf(section('18719-5', glucose), service, '11502-2')[0]?.resource['status'], 'preliminary');
	});

	test('an impression in another document is a report of its own', () => {
		const [found, ...others] = reportsOf(section('19005-8', '', 'Clear lungs') + section('11450-4', '', 'No problems'), '', '11488-4');
		assert.deepEqual(others, []);
		assert.equal(found?.resource['conclusion'], 'Clear lungs');
		assert.equal((found?.resource['code'] as { coding: { code: string }[] } | undefined)?.coding[0]?.code, '19005-8');
	});

	test('a report without content is none, nor is a summary', () => {
		assert.deepEqual(reportsOf('', '', '11502-2'), []);
		assert.deepEqual(reportsOf(section('30954-2', glucose, 'Glucose 95'), '', '34133-9'), []);
	});
});

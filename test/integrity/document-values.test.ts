import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { clinicalDocument, grace, type TestDocument } from '#test/support/cda.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

const results = (statements: readonly string[], narrative = 'Results') =>
	'<component><structuredBody><component><section><code code="30954-2" codeSystem="2.16.840.1.113883.6.1"/><title>Results</title>' +
	`<text>${narrative}</text>${statements.map((statement) => `<entry>${statement}</entry>`).join('')}</section></component></structuredBody></component>`;
const observation = (id: string, content: string) =>
	`<observation classCode="OBS" moodCode="EVN"><id root="1.2.8" extension="${id}"/><code code="26515-7" codeSystem="2.16.840.1.113883.6.1"/>` +
	`<statusCode code="completed"/>${content}</observation>`;

describe('values in documents, from the socket to FHIR', () => {
	let service: TestService;
	let key: string;
	before(async () => {
		service = await testService();
		key = (await service.addSite('values')).key;
	});
	after(() => service[Symbol.asyncDispose]());

	let sent = 0;
	const send = async (patient: string, document: TestDocument) => {
		const body = clinicalDocument({ id: `root="1.2.3.4" extension="${++sent}"`, patients: [grace(patient)], ...document });
		const answer = await fetch(`http://127.0.0.1:${service.port('hl7')}/v3/ingest`, {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': 'application/xml' },
			body,
		});
		assert.equal(answer.status, 200, await answer.text());
	};
	const found = async (type: string, patient: string): Promise<FhirBody[]> => {
		const { body } = await service.fhir(`/fhir/${type}?patient.identifier=urn:oid:1.2.3|${patient}`, key);
		return (body.entry ?? []).map(({ resource }: FhirBody) => resource);
	};

	test('a result and its range in units that are not of UCUM are kept', async () => {
		const translation = (number: number) =>
			`<translation value="${number}" nullFlavor="OTH"><originalText>THOUS/MCL</originalText></translation>`;
		const platelets =
			`<value xsi:type="PQ" nullFlavor="OTH">${translation(152)}</value><referenceRange><observationRange><value xsi:type="IVL_PQ">` +
			`<low nullFlavor="OTH">${translation(150)}</low><high nullFlavor="OTH">${translation(400)}</high></value></observationRange></referenceRange>`;
		await send('V1', { body: results([observation('platelets', platelets)]) });
		const [first] = await found('Observation', 'V1');
		assert.deepEqual(first.valueQuantity, { value: 152, unit: 'THOUS/MCL' });
		assert.deepEqual(first.referenceRange[0].high, { value: 400, unit: 'THOUS/MCL' });
	});

	test('numbers that are raised stay apart from those beside them', async () => {
		const narrative = '<content ID="count">Platelets 152 x 10<sup>9</sup>/L</content>';
		await send('V2', { body: results([observation('text', '<value xsi:type="ED"><reference value="#count"/></value>')], narrative) });
		const [first] = await found('Observation', 'V2');
		assert.equal(first.valueString, 'Platelets 152 x 10^9/L');
	});

	test('the side of the body is told with the original text of the site', async () => {
		const site =
			'<targetSiteCode code="64033007" codeSystem="2.16.840.1.113883.6.96" displayName="Kidney"><originalText>Kidney</originalText>' +
			'<qualifier><name code="272741003" codeSystem="2.16.840.1.113883.6.96"/><value code="7771000" codeSystem="2.16.840.1.113883.6.96"/></qualifier></targetSiteCode>';
		await send('V3', { body: results([observation('kidney', `<value xsi:type="ST">cyst</value>${site}`)]) });
		const [first] = await found('Observation', 'V3');
		assert.equal(first.bodySite.text, 'Kidney (Left)');
	});

	test('an interval with a width has its other bound, and a visit with one has ended', async () => {
		const interval = '<value xsi:type="IVL_PQ"><low value="10" unit="mg"/><width value="5" unit="mg"/></value>';
		const visit =
			'<componentOf><encompassingEncounter><id root="1.2.9" extension="V4"/><effectiveTime><low value="20250610080000+0200"/>' +
			'<width value="3" unit="d"/></effectiveTime></encompassingEncounter></componentOf>';
		await send('V4', { body: results([observation('interval', interval)]), participants: visit });
		const [first] = await found('Observation', 'V4');
		assert.deepEqual([first.valueRange.low.value, first.valueRange.high.value], [10, 15]);
		const [encounter] = await found('Encounter', 'V4');
		assert.deepEqual(
			[encounter.status, encounter.period],
			['finished', { start: '2025-06-10T08:00:00+02:00', end: '2025-06-13T08:00:00+02:00' }],
		);
	});

	test('a document that nobody has signed is not final', async () => {
		const legal = (code: string) =>
			`<legalAuthenticator><time value="20260111"/><signatureCode code="${code}"/><assignedEntity/></legalAuthenticator>`;
		for (const participants of [legal('X'), '<legalAuthenticator nullFlavor="NI"/>', legal('S')]) await send('V5', { participants });
		const statuses = (await found('DocumentReference', 'V5')).map(({ docStatus }) => docStatus ?? 'none');
		assert.deepEqual(statuses.sort(), ['final', 'none', 'preliminary']);
	});
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findDocumentEntries } from '#storage/holdings/documents.ts';
import { BulkClient } from '#test/support/bulk.ts';
import { clinicalDocument, grace, type TestDocument } from '#test/support/cda.ts';
import { registryMessage, replacementOf } from '#test/support/hl7v3.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

/** A problem list (C-CDA Problem Section), one concern for each name. */
const problems = (...names: readonly string[]) => {
	const concern = (name: string) =>
		'<entry><act classCode="ACT" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.3" extension="2015-08-01"/>' +
		`<id root="1.2.7" extension="concern ${name}"/><code code="CONC" codeSystem="2.16.840.1.113883.5.6"/><statusCode code="active"/>` +
		'<effectiveTime><low value="2024"/></effectiveTime><entryRelationship typeCode="SUBJ"><observation classCode="OBS" moodCode="EVN">' +
		`<templateId root="2.16.840.1.113883.10.20.22.4.4" extension="2015-08-01"/><id root="1.2.7" extension="${name}"/>` +
		'<code code="55607006" codeSystem="2.16.840.1.113883.6.96"/><statusCode code="completed"/><effectiveTime><low value="2024"/></effectiveTime>' +
		`<value xsi:type="CD" code="${name}" codeSystem="2.16.840.1.113883.6.96"/></observation></entryRelationship></act></entry>`;
	return (
		'<component><structuredBody><component><section><templateId root="2.16.840.1.113883.10.20.22.2.5.1" extension="2015-08-01"/>' +
		'<code code="11450-4" codeSystem="2.16.840.1.113883.6.1"/><title>Problems</title><text>Problems</text>' +
		`${names.map(concern).join('')}</section></component></structuredBody></component>`
	);
};

describe('what documents state, from the socket to FHIR', () => {
	let service: TestService;
	let key: string;
	before(async () => {
		service = await testService();
		key = (await service.addSite('stated')).key;
	});
	after(() => service[Symbol.asyncDispose]());

	const post = async (body: string) => {
		const answer = await fetch(`http://127.0.0.1:${service.port('hl7')}/v3/ingest`, {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': 'application/xml' },
			body,
		});
		assert.equal(answer.status, 200, await answer.text());
	};
	let sent = 0;
	const send = (patient: string, set: string, version: number, names: readonly string[], more: TestDocument = {}) =>
		post(
			clinicalDocument({
				id: `root="1.2.3.4" extension="${++sent}"`,
				set: `root="1.2.3.5" extension="${set}"`,
				version,
				patients: [grace(patient)],
				body: problems(...names),
				...more,
			}),
		);
	const found = async (path: string): Promise<FhirBody[]> => {
		const { body } = await service.fhir(`/fhir${path}`, key);
		return (body.entry ?? []).map(({ resource }: FhirBody) => resource);
	};
	/** Of a patient, the codes of the problems that stand, and of those that are withdrawn. */
	const problemsOf = async (patient: string) => {
		const codes = async (mark: string) =>
			(await found(`/Condition?patient.identifier=urn:oid:1.2.3|${patient}&verification-status${mark}=entered-in-error`))
				.map(({ code }) => code.coding[0].code)
				.sort()
				.join();
		return { stated: await codes(':not'), withdrawn: await codes('') };
	};

	test('problems are found, withdrawn by a version without them, and found again', async () => {
		await send('P1', 'A', 1, ['44054006', '38341003']);
		assert.deepEqual(await problemsOf('P1'), { stated: '38341003,44054006', withdrawn: '' });
		const [before] = await found('/Condition?code=44054006');
		await send('P1', 'B', 1, ['38341003'], { effectiveTime: '20250101' });
		await send('P1', 'A', 2, []);
		assert.deepEqual(await problemsOf('P1'), { stated: '38341003', withdrawn: '44054006' });
		await send('P1', 'A', 3, ['44054006']);
		assert.deepEqual(await problemsOf('P1'), { stated: '38341003,44054006', withdrawn: '' });
		const { body: history } = await service.fhir(`/fhir/Condition/${before.id}/_history`, key);
		assert.equal(history.entry.length, 3);
		const documents = await found('/DocumentReference?patient.identifier=urn:oid:1.2.3|P1&status=current');
		assert.equal(documents.length, 2);
	});

	test('are read with the next version as they stand now, however long the history is', async () => {
		for (const [index, names] of [['1', '2'], ['1'], ['2', '3'], ['3']].entries()) await send('P9', 'H', index + 1, names);
		const documents = await service.rows<{ site_id: string; id: string }>(
			`select d.site_id, d.id from document_reference d join patient p on p.site_id = d.site_id and p.id = d.patient_id
			where tributary_whole_text(p.resource) like '%"P9"%'`,
		);
		assert.equal(documents.length, 4);
		const keys = [documents.map(({ site_id }) => site_id), documents.map(({ id }) => id)];
		assert.equal((await service.rows(findDocumentEntries.text, keys)).length, 1);
		assert.deepEqual(await problemsOf('P9'), { stated: '3', withdrawn: '1,2' });
		assert.equal((await found('/Condition?patient.identifier=urn:oid:1.2.3|P9')).length, 3);
	});

	test('go with their patient, and are the survivor’s from then on', async () => {
		await send('P2', 'C', 1, ['195967001']);
		await send('P3', 'D', 1, ['73211009']);
		await post(
			registryMessage({
				interaction: 'PRPA_IN201304UV02',
				id: 'root="2.25.50"',
				patients: ['<id root="1.2.3" extension="P3"/>'],
				behind: replacementOf('root="1.2.3" extension="P2"'),
			}),
		);
		assert.deepEqual(await problemsOf('P3'), { stated: '195967001,73211009', withdrawn: '' });
		await send('P2', 'C', 2, []);
		assert.deepEqual(await problemsOf('P3'), { stated: '73211009', withdrawn: '195967001' });
	});

	test('are in an export with their documents', async () => {
		const start = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/$export`, {
			headers: { 'X-API-Key': key, Prefer: 'respond-async' },
		});
		assert.equal(start.status, 202);
		const status = start.headers.get('content-location') ?? '';
		let manifest: FhirBody;
		for (let tries = 0; manifest === undefined && tries < 600; tries++) {
			const answer = await fetch(status, { headers: { 'X-API-Key': key } });
			if (answer.status === 200) manifest = await answer.json();
			else await new Promise((resolve) => setTimeout(resolve, 50));
		}
		const types = manifest.output.map(({ type }: FhirBody) => type);
		assert.ok(types.includes('DocumentReference') && types.includes('Condition'), types.join());
		assert.deepEqual(manifest.error, []);
		const { url } = manifest.output.find(({ type }: FhirBody) => type === 'DocumentReference');
		const lines = (await (await fetch(url, { headers: { 'X-API-Key': key } })).text())
			.trim()
			.split('\n')
			.map((line) => JSON.parse(line));
		const [read] = await found(`/DocumentReference?_id=${lines[0].id}`);
		const base = `http://127.0.0.1:${service.port('fhir')}/fhir/`;
		const [{ attachment }] = lines[0].content;
		assert.equal(attachment.url, `${base}${read.content[0].attachment.url}`);
		assert.deepEqual({ ...lines[0], content: read.content }, read);
		const bytes = await fetch(attachment.url, { headers: { 'X-API-Key': key } });
		assert.equal((await bytes.arrayBuffer()).byteLength, attachment.size);
		const bulk = new BulkClient(service, key);
		const { output } = await bulk.manifest(await bulk.startImport(lines));
		assert.deepEqual(
			output.map(({ extension }: FhirBody) => extension),
			[{ created: 0, updated: 0, unchanged: lines.length }],
		);
	});
});

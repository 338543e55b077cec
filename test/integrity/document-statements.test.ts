import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { clinicalDocument, grace, relatedDocument, type TestDocument } from '#test/support/cda.ts';
import { entry, entryTemplate, section } from '#test/support/cda-sections.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

const snomed = 'codeSystem="2.16.840.1.113883.6.96"';
const statement = (name: string, content: string, attributes = '') => `<${name} moodCode="EVN" ${attributes}>${content}</${name}>`;
const within = (content: string, typeCode = 'SUBJ') => `<entryRelationship typeCode="${typeCode}">${content}</entryRelationship>`;
const concern = (template: number, inner: string, { attributes = '', status = 'active' } = {}) =>
	entry(statement('act', `${entryTemplate(template)}<statusCode code="${status}"/>${within(inner)}`, `classCode="ACT" ${attributes}`));
const observation = (content: string) => statement('observation', content, 'classCode="OBS"');
const problem = (id: string) =>
	observation(`${entryTemplate(4)}<id root="1.2.7" extension="${id}"/><value xsi:type="CD" code="195967001" ${snomed}/>`);
const substance = (code: string) =>
	`<participant typeCode="CSM"><participantRole><playingEntity><code code="${code}" codeSystem="2.16.840.1.113883.6.88"/></playingEntity></participantRole></participant>`;
const body = (...sections: string[]) => `<component><structuredBody>${sections.join('')}</structuredBody></component>`;

describe('what acts, organizers and versions of documents state, from the socket to FHIR', () => {
	let service: TestService;
	let key: string;
	before(async () => {
		service = await testService();
		key = (await service.addSite('statements')).key;
	});
	after(() => service[Symbol.asyncDispose]());

	const send = async (document: TestDocument, code = '34133-9') => {
		const answer = await fetch(`http://127.0.0.1:${service.port('hl7')}/v3/ingest`, {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': 'application/xml' },
			body: clinicalDocument(document).replace('34133-9', code),
		});
		assert.equal(answer.status, 200, await answer.text());
	};
	const found = async (type: string, patient: string): Promise<FhirBody[]> => {
		const { body: bundle } = await service.fhir(`/fhir/${type}?patient.identifier=urn:oid:1.2.3|${patient}`, key);
		return (bundle.entry ?? []).map(({ resource }: FhirBody) => resource);
	};
	const codeIn = (concept: FhirBody) => concept?.coding[0].code;
	/** Of each problem: its category, its clinical and its verification status. */
	const problemsOf = async (patient: string) =>
		(await found('Condition', patient))
			.map(({ category, clinicalStatus, verificationStatus }) =>
				[codeIn(category[0]), codeIn(clinicalStatus), codeIn(verificationStatus)].filter((code) => code !== undefined).join(' '),
			)
			.sort();

	test('the negation and the status of an act are those of what it is concerned with', async () => {
		const denied = { attributes: 'negationInd="true"' };
		const allergy = (id: string) => observation(`${entryTemplate(7)}<id root="1.2.8" extension="${id}"/>${substance('7980')}`);
		await send({
			id: 'root="1.2.4" extension="concerns"',
			patients: [grace('S1')],
			body: body(
				section('11450-4', concern(3, problem('a'), denied) + concern(3, problem('b'), { status: 'nullified' })),
				section('48765-2', concern(30, allergy('a'), denied) + concern(30, allergy('b'), { status: 'nullified' })),
			),
		});
		assert.deepEqual(await problemsOf('S1'), ['problem-list-item active refuted', 'problem-list-item entered-in-error']);
		const allergies = await found('AllergyIntolerance', 'S1');
		assert.deepEqual(allergies.map(({ verificationStatus }) => codeIn(verificationStatus)).sort(), ['entered-in-error', 'refuted']);
	});

	test('the comment and the author of an organizer are those of its results; substances are allergies', async () => {
		const author =
			'<author><time value="2025"/><assignedAuthor><id root="1.3"/><assignedPerson><name><family>Lab</family></name></assignedPerson></assignedAuthor></author>';
		const comment = statement('act', `${entryTemplate(64)}<text>haemolytic</text>`, 'classCode="ACT"');
		const result = observation('<code code="718-7" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/>');
		const parts = [result, comment].map((part) => `<component>${part}</component>`).join('');
		const panel = statement(
			'organizer',
			`<code code="58410-2" codeSystem="2.16.840.1.113883.6.1"/>${author}${parts}`,
			'classCode="BATTERY"',
		);
		const allergy = observation(`${entryTemplate(7)}<id root="1.2.8" extension="c"/>${substance('7980')}${substance('1191')}`);
		await send({
			id: 'root="1.2.4" extension="results"',
			patients: [grace('S2')],
			body: body(section('30954-2', entry(panel)), section('48765-2', concern(30, allergy))),
		});
		const results = await found('Observation', 'S2');
		assert.deepEqual(
			results.map(({ note, performer }) => `${note?.[0].text} ${performer?.[0].display}`),
			['haemolytic Lab', 'haemolytic Lab'],
		);
		const allergies = await found('AllergyIntolerance', 'S2');
		assert.deepEqual(allergies.map(({ code }) => codeIn(code)).sort(), ['1191', '7980']);
	});

	test('a problem stays itself when a version lists it twice, and when another document lists it once', async () => {
		const once = section('11450-4', concern(3, problem('x')));
		const twice = once + section('11535-2', entry(problem('x')));
		const document = (id: string, more: TestDocument): TestDocument => ({
			id: `root="1.2.4" extension="${id}"`,
			patients: [grace('S3')],
			...more,
		});
		await send(document('V1', { body: body(once) }));
		const [first] = await found('Condition', 'S3');
		await send(document('V2', { body: body(twice), participants: relatedDocument('RPLC', '<id root="1.2.4" extension="V1"/>') }));
		const both = ['encounter-diagnosis active confirmed', 'problem-list-item active confirmed'];
		assert.deepEqual(await problemsOf('S3'), both);
		const resolved = section('11450-4', concern(3, problem('x'), { status: 'completed' }));
		await send(document('O', { body: body(resolved), effectiveTime: '20260201083000+0100' }));
		const after = ['encounter-diagnosis active confirmed', 'problem-list-item inactive confirmed'];
		assert.deepEqual(await problemsOf('S3'), after);
		assert.ok((await found('Condition', 'S3')).some(({ id, category }) => id === first.id && codeIn(category[0]) === 'problem-list-item'));
		await send(document('V2', { body: body(twice), participants: relatedDocument('RPLC', '<id root="1.2.4" extension="V1"/>') }));
		assert.deepEqual(await problemsOf('S3'), after);
	});

	test('what a document listed twice is known to a later one that lists it once', async () => {
		const once = section('11450-4', concern(3, problem('y'), { status: 'completed' }));
		const twice = section('11450-4', concern(3, problem('y'))) + section('11535-2', entry(problem('y')));
		await send({ id: 'root="1.2.4" extension="T1"', patients: [grace('S4')], body: body(twice) });
		await send({ id: 'root="1.2.4" extension="T2"', patients: [grace('S4')], body: body(once), effectiveTime: '20260201083000+0100' });
		assert.deepEqual(await problemsOf('S4'), ['encounter-diagnosis active confirmed', 'problem-list-item inactive confirmed']);
	});

	test('a report is amended by a version with another impression, and not by one with the same', async () => {
		const statuses: string[] = [];
		for (const [index, text] of ['No fracture', 'No fracture', 'Fracture'].entries()) {
			const report = {
				id: `root="1.2.4" extension="R${index}"`,
				set: 'root="1.2.5" extension="R"',
				version: index + 1,
				effectiveTime: `2026011${index}083000+0100`,
				patients: [grace('S5')],
				body: body(section('19005-8', '', text)),
			};
			await send(report, '18748-4');
			for (const { status, conclusion } of await found('DiagnosticReport', 'S5')) statuses.push(`${status} ${conclusion}`);
		}
		assert.deepEqual(statuses, ['final No fracture', 'final No fracture', 'amended Fracture']);
	});
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setSite } from '#administration/sites.ts';
import { parseExact } from '#core/json.ts';
import { resources } from '#fhir/resources/index.ts';
import { type CorpusFile, corpusFiles } from '#test/support/corpus.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { without } from '#test/support/needs.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';

/** What the index leaves open, as docs/conformance/fhir.md decides it. */
const decided: Readonly<Record<string, number>> = {
	'patient-example-2.json': 400,
	'InvalidObservation.json': 400,
	'Observation-For-Patient-f001.json': 400,
	'ObservationWithBloodPressure.json': 400,
	'ObservationWithInvalidDecimalSpecification.json': 201,
	'ObservationWithTemperature.json': 400,
	'Patient.json': 400,
	'PatientWithUnknownElements.json': 400,
	'WeightInGrams.json': 400,
};
/** Each is no R4: an empty text, an element that there is not, a list that is none, a reference by search outside a transaction. */
const refusedEntries: readonly string[] = [
	'Bundle-BatchWithConditionalUpdateByIdentifier.json 0: 400 Patient.identifier[0].system',
	'Bundle-BatchWithConditionalUpdateByIdentifier.json 1: 400 Patient.identifier[0].system',
	'Bundle-BatchWithConditionalUpdateByIdentifier.json 2: 400 Patient.identifier[0].system',
	'Bundle-BatchWithConditionalUpdateByIdentifier.json 3: 400 Patient.identifier[0].system',
	'Bundle-BatchWithInvalidEleEnums.json 0: 400 Patient.gender1',
	'Bundle-BatchWithInvalidEleEnums.json 2: 400 Patient.gender1',
	'Bundle-BatchWithInvalidEleEnums.json 4: 400 Patient.name[0].use1',
	'Bundle-TransactionWithConditionalCreateAndReference.json 0: 400 Patient.identifier[0].system',
	'Bundle-TransactionWithConditionalReferenceInResourceBody.json 0: 400 Observation.subject.reference',
	'Bundle-TransactionWithConditionalReferenceInResourceBody.json 1: 400 Observation.subject.reference',
	'Bundle-TransactionWithConditionalUpdateAndReference.json 0: 400 Patient.identifier[0].system',
	'Bundle-TransactionWithInvalidProcessingRecord.json 0: 400 Encounter.subject.reference',
	'Bundle-TransactionWithInvalidProcessingRecord.json 1: 400 Encounter.subject.reference',
	'Bundle-TransactionWithInvalidProcessingRecord.json 2: 400 Encounter.subject.reference',
	'Bundle-TransactionWithInvalidProcessingRecord.json 3: 400 Encounter.subject.reference',
	'Bundle-TransactionWithInvalidProcessingRecord.json 4: 400 Encounter.subject.reference',
	'Bundle-TransactionWithInvalidResourceType.json 0: 400 Observation.subject.reference',
	'SearchDataBatch.json 1: 400 Patient.generalPractitioner',
	'SearchDataBatch.json 2: 400 Patient.generalPractitioner',
	'SearchDataBatch.json 14: 400 AuditEvent.recorded',
	'ValidCompartmentDefinition.json 0: 400 CompartmentDefinition.text.div',
	'ValidCompartmentDefinition.json 1: 400 CompartmentDefinition.text.div',
	'Bundle-TransactionWithReferenceInResourceBody.json 0: 400 Observation.subject.reference',
	'Bundle-TransactionWithReferenceInResourceBody.json 1: 400 Observation.subject.reference',
	'InvalidCompartmentDefinition.json 0: 400 CompartmentDefinition.text.div',
	'InvalidCompartmentDefinition.json 1: 400 CompartmentDefinition.text.div',
	'SmartCommon.json 5: 400 Account.subject[0].reference',
	'SmartPatientA.json 10: 400 Appointment.participant[0].status',
	'ValidCompartmentDefinition.json 0: 400 CompartmentDefinition.text.div',
	'ValidCompartmentDefinition.json 1: 400 CompartmentDefinition.text.div',
];
/** Transactions of served types only, and why nothing of them is stored. */
const refusedBundles: readonly string[] = [
	'Bundle-Transaction.json: 405',
	'Bundle-TransactionForRollBackWithDelete.json: 405',
	'Bundle-TransactionWithConditionalReferenceInResourceBody.json: 412',
	'Bundle-TransactionWithConditionalReferenceReferringToSameResource.json: 400',
	'Bundle-TransactionWithInvalidProcessingRecord.json: 400',
	'Bundle-TransactionWithInvalidProcessingRoutes.json: 405',
	'Bundle-TransactionWithInvalidResourceType.json: 400',
	'Bundle-TransactionWithMetaHistory.json: 400',
	'Bundle-TransactionWithMultipleEntriesModifyingSameResource.json: 405',
	'Bundle-TransactionWithMultipleResourcesWithSameFullUrl.json: 400',
	'Bundle-TransactionWithValidBundleEntry.json: 412',
	'Bundle-TransactionWithReferenceInResourceBody.json: 412',
	'SmartCommon.json: 400',
];

const writable = Object.values(resources)
	.filter(({ interactions, writtenIf }) => interactions.includes('create') && writtenIf === undefined)
	.map(({ type }) => type as string);

let service: TestService;
let call: FhirCall;
let bundles: FhirCall;

/** A site that takes references to patients which it does not have. */
async function looseSite(slug: string): Promise<FhirCall> {
	const client = fhirClient(service, (await service.addSite(slug)).key);
	await setSite(service.administration, { slug, check_references: false });
	const dangling = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/none' } };
	await eventually(async () => (await client('POST', '/Observation', dangling)).status === 201, 'the relaxed rule');
	return client;
}

before(async () => {
	if (without('corpus')) return;
	service = await testService();
	call = await looseSite('singles');
	bundles = await looseSite('bundles');
});

after(async () => {
	await service?.[Symbol.asyncDispose]();
});

const textOf = ({ bytes }: CorpusFile) => bytes.toString('utf8').replace(/^\ufeff/, '');

function parsed(file: CorpusFile): FhirBody {
	try {
		return JSON.parse(textOf(file));
	} catch {
		return undefined;
	}
}

/** Reads back what was created: element for element and digit for digit what was sent. */
async function assertKept(text: string, created: FhirBody): Promise<void> {
	const { resourceType: _type, id: _id, meta: _meta, ...sent } = parseExact(text);
	const read = parseExact((await call('GET', `/${created.resourceType}/${created.id}`)).text);
	const { resourceType: _, id: __, meta: ___, ...kept } = read;
	assert.equal(JSON.stringify(kept), JSON.stringify(sent));
}

describe('the FHIR files of the corpus', { skip: without('corpus') }, () => {
	const files = without('corpus') ? [] : corpusFiles('fhir');

	test('a single resource is taken and kept, or refused, as the index expects', async () => {
		const unexpected: string[] = [];
		for (const file of files.filter(({ expect }) => expect !== 'n/a')) {
			const type = parsed(file)?.resourceType ?? 'Patient';
			const reply = await call('POST', `/${type}`, file.bytes.toString('utf8'));
			const issue = reply.body.issue?.[0];
			const told = `${file.path}: ${reply.status} ${issue?.expression?.[0] ?? ''} ${issue?.diagnostics ?? ''}`;
			if (reply.status !== 201) assert.equal(reply.body.resourceType, 'OperationOutcome', told);
			if (file.expect === 'accept' && reply.status !== 201) unexpected.push(told);
			if (file.expect === 'reject' && reply.status < 400) unexpected.push(told);
			if (file.expect === 'unclear' && reply.status !== (type === 'DiagnosticReport' ? 405 : decided[file.path.split('/').at(-1) ?? '']))
				unexpected.push(told);
			if (reply.status === 201) await assertKept(textOf(file), reply.body);
		}
		assert.deepEqual(unexpected, []);
	});

	test('the entries of Bundles are taken one by one; what is refused is named', async () => {
		const refused: string[] = [];
		let taken = 0;
		for (const file of files.filter(({ expect }) => expect === 'n/a')) {
			for (const [index, { resource }] of ((parsed(file)?.entry ?? []) as FhirBody[]).entries()) {
				if (!writable.includes(resource?.resourceType)) continue;
				const reply = await call('POST', `/${resource.resourceType}`, resource);
				if (reply.status === 201) taken++;
				else refused.push(`${file.path.split('/').at(-1)} ${index}: ${reply.status} ${reply.body.issue[0].expression?.[0]}`);
			}
		}
		assert.ok(taken > 400, `${taken} entries`);
		assert.deepEqual(refused, refusedEntries);
	});

	test('a batch is answered entry by entry; a transaction with an entry that is refused leaves nothing', async () => {
		const refused: string[] = [];
		for (const file of files.filter(({ type }) => type === 'Bundle/transaction' || type === 'Bundle/batch')) {
			const bundle = parsed(file);
			const before = await total();
			const reply = await bundles('POST', '', textOf(file));
			const types: string[] = (bundle.entry ?? []).map((entry: FhirBody) => entry.request?.url?.split(/[/?]/)[0]);
			if (reply.status === 200) {
				assert.equal(reply.body.entry?.length ?? 0, types.length, file.path);
				continue;
			}
			assert.equal(reply.body.resourceType, 'OperationOutcome');
			assert.equal(await total(), before, file.path);
			// Reports and studies are not written: those are refused for that.
			if (types.every((type) => writable.includes(type))) refused.push(`${file.path.split('/').at(-1)}: ${reply.status}`);
		}
		assert.deepEqual(refused, refusedBundles);
	});
});

/** Counts what clients have written. The trail has an event of every request. */
async function total(): Promise<number> {
	const counts = await Promise.all(
		writable.map((type) => bundles('GET', `/${type}?_summary=count${type === 'AuditEvent' ? '&_trail=false' : ''}`)),
	);
	return counts.reduce((sum, { body }) => sum + body.total, 0);
}

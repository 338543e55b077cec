import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { previewIdentity } from '#administration/identity.ts';
import { setSite } from '#administration/sites.ts';
import { showStudy } from '#administration/studies.ts';
import { assignStudy } from '#administration/study-edits.ts';
import { planQuery } from '#dicom/query/plan.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { imagingQuery } from '#storage/statements/search-imaging.ts';
import { ctStorage, element } from '#test/support/data-set.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { registryMessage } from '#test/support/hl7v3.ts';
import { postV3 } from '#test/support/hl7v3-sender.ts';
import { type GivenImage, imageDataSet, opened } from '#test/support/images.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';
import { StorageScu } from '#test/support/storage-scu.ts';
import { dicomWebClient } from '../surfaces/dicomweb/client.ts';

let service: TestService;
let key: string;
let siteId: string;
let scu: StorageScu;
let messages = 0;

before(async () => {
	service = await testService();
	const added = await service.addSite('west');
	({ key } = added);
	siteId = added.site.id;
	await opened(service, 'west');
	scu = await StorageScu.open(service.port('dimse'), { called: 'WEST' });
});

after(async () => {
	scu[Symbol.dispose]();
	await service[Symbol.asyncDispose]();
});

const context = () => ({ ...service.administration, visibleSites: ['west'] });

async function send(studyUid: string, image: Partial<GivenImage>): Promise<void> {
	const sopInstanceUid = `${studyUid}.1`;
	const { patientName = '', ...more } = image;
	const utf8 = Buffer.from(patientName);
	const plain = imageDataSet({ studyUid, seriesUid: `${studyUid}.0`, sopInstanceUid, modality: 'CT', patientName: 'x', ...more });
	// The name is in UTF-8, which the data set says at its beginning.
	const [begin, end] = plain.toString('latin1').split(element(0x0010_0010, 'PN', 'x').toString('latin1'));
	const name = element(0x0010_0010, 'PN', utf8.length % 2 === 0 ? utf8 : Buffer.concat([utf8, Buffer.from(' ')]));
	const dataSet = Buffer.concat([
		element(0x0008_0005, 'CS', 'ISO_IR 192'),
		Buffer.from(begin ?? '', 'latin1'),
		name,
		Buffer.from(end ?? '', 'latin1'),
	]);
	const { status } = await scu.store({ sopClassUid: ctStorage, sopInstanceUid, transferSyntaxUid: explicitLittleEndian, dataSet });
	assert.equal(status, 0);
}

async function admit(cx: string, name: string): Promise<void> {
	const text = [`MSH|^~\\&|ADT|W|||20260105101500||ADT^A04|${++messages}|P|2.5.1||||||UNICODE UTF-8`, `PID|1||${cx}||${name}||19700101|F`];
	const { status } = await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
		method: 'POST',
		headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' },
		body: text.join('\r'),
	});
	assert.equal(status, 200);
}

/** The studies that QIDO-RS finds by a query. */
async function found(query: string): Promise<FhirBody[]> {
	const answer = await dicomWebClient(service, key).get(`/studies?${query}`);
	return answer.bytes.length === 0 ? [] : (answer.json() as unknown as FhirBody[]);
}
const named = async (pattern: string, more = '') => {
	const studies = await found(`PatientName=${encodeURIComponent(pattern)}${more}`);
	return studies.map((study) => [study['0020000D'].Value[0], study['00100010'].Value[0]]);
};

/** The names of the patients that a query of level PATIENT finds. */
async function patientsNamed(pattern: string): Promise<string[]> {
	const { query } = planQuery({
		level: 'PATIENT',
		keys: [{ attribute: 'PatientName', value: pattern }],
		combinesMoments: false,
		count: 10,
	});
	const { statement, values } = imagingQuery(siteId, { ...query, attributes: ['PatientName'] });
	return (await service.rows<{ c0: string }>(statement.text, [...values])).map(({ c0 }) => c0);
}

describe('ideographic and phonetic names', () => {
	test('of an image are kept with its study where the record of a known patient has none', async () => {
		await admit('J1^^^HOSP^MR', 'Yamada^Tarou');
		await send('1.41', { patientId: 'J1', patientIssuer: 'HOSP', patientName: 'Yamada^Tarou=山田^太郎=やまだ^たろう' });
		const shown = { Alphabetic: 'Yamada^Tarou', Ideographic: '山田^太郎', Phonetic: 'やまだ^たろう' };
		for (const pattern of ['=山田*', '==やまだ*', 'yamada*=山田^太郎']) assert.deepEqual(await named(pattern), [['1.41', shown]], pattern);
		assert.deepEqual(await named('やまだ', '&fuzzymatching=true'), [['1.41', shown]]);
		assert.deepEqual(await patientsNamed('=山田^太郎'), ['Yamada^Tarou=山田^太郎=やまだ^たろう']);
		assert.deepEqual([await named('=鈴木*'), await patientsNamed('==すずき*')], [[], []]);
		const { body } = await fhirClient(service, key)('GET', '/Patient?identifier=J1');
		assert.equal(body.entry[0].resource.name.length, 1, 'the record stays as it is');
	});

	test('of another person are not shown with the patient, and those of the record come first', async () => {
		await admit('J2^^^HOSP^MR', 'Sato^Hanako');
		await send('1.42', { patientId: 'J2', patientIssuer: 'HOSP', patientName: 'Suzuki^Ichiro=鈴木^一郎' });
		assert.deepEqual(await named('=鈴木*'), []);
		await admit('J3^^^HOSP^MR', 'Tanaka^Emi^^^^^L^A~田中^恵美^^^^^L^I');
		await send('1.43', { patientId: 'J3', patientIssuer: 'HOSP', patientName: 'Tanaka^Emi=田仲^恵美=たなか^えみ' });
		const both = { Alphabetic: 'Tanaka^Emi', Ideographic: '田中^恵美', Phonetic: 'たなか^えみ' };
		assert.deepEqual([await named('=田中*'), await named('=田仲*')], [[['1.43', both]], []]);
	});

	test('stay behind when a person gives the study to another patient', async () => {
		await send('1.44', { patientId: 'J1', patientIssuer: 'HOSP', patientName: 'Yamada^Tarou=山田^次郎' });
		assert.deepEqual((await named('=山田^次郎')).length, 1);
		const { body } = await fhirClient(service, key)('GET', '/Patient?identifier=J2');
		await assignStudy(context(), { site: 'west', study: '1.44', patient: body.entry[0].resource.id });
		assert.deepEqual(await named('=山田^次郎'), []);
	});

	test('of an HL7 v3 message are found like those of an image', async () => {
		const name = (use: string, family: string) => `<name use="${use}"><family>${family}</family></name>`;
		const person = `${name('ABC', 'Kimura')}${name('IDE', '木村')}${name('SYL', 'きむら')}`;
		const patients = [`<id root="1.2.3.9" extension="J5"/><patientPerson>${person}</patientPerson>`];
		assert.equal((await postV3(service, key, registryMessage({ patients }), {})).status, 200);
		await send('1.45', { patientId: 'J5', patientIssuer: '1.2.3.9', patientName: 'Kimura' });
		const shown = { Alphabetic: 'Kimura', Ideographic: '木村', Phonetic: 'きむら' };
		for (const pattern of ['=木村*', '==きむら*']) assert.deepEqual(await named(pattern), [['1.45', shown]], pattern);
	});
});

describe('names of one authority', () => {
	test('are answered as the query has them, and are one number in the preview of a merge', async () => {
		await admit('L2^^^HALL&1.2.3.4&ISO^MR', 'Lane^Ann');
		await send('1.51', { patientId: 'L2', patientIssuer: 'HALL', patientName: 'Lane^Ann' });
		const issuers = async (query: string) => (await found(`StudyInstanceUID=1.51${query}`)).map((study) => study['00100021']?.Value?.[0]);
		assert.deepEqual(await issuers('&IssuerOfPatientID=HALL'), ['HALL']);
		assert.deepEqual(await issuers('&IssuerOfPatientID=1.2.3.4'), ['1.2.3.4']);
		assert.deepEqual(await issuers('&includefield=00100021'), ['1.2.3.4'], 'without a value, the name of the record');
		assert.deepEqual(await issuers('&IssuerOfPatientID=OTHER'), []);

		const call = fhirClient(service, key);
		const written = async (id: string, system: string) =>
			call('PUT', `/Patient/${id}`, { resourceType: 'Patient', id, identifier: [{ system, value: 'L9' }] });
		assert.deepEqual([(await written('one', 'urn:oid:1.2.3.4')).status, (await written('two', 'urn:id:HALL')).status], [201, 201]);
		const { identifiers } = await previewIdentity(context(), { site: 'west', survivor: 'one', prior: 'two', operation: 'merge' });
		assert.deepEqual(identifiers, []);
	});
});

describe('the local time of a study', () => {
	test('says by which zone it was read, and whether that was assumed', async () => {
		const zoneOf = async (studyUid: string) => {
			await send(studyUid, { date: '20260701', time: '120000', patientId: 'Z1' });
			const { time_zone: zone, time_zone_assumed: isAssumed } = await showStudy(context(), { site: 'west', id: studyUid });
			return [zone, isAssumed];
		};
		await setSite(context(), { slug: 'west', time_zone: 'Europe/Berlin' });
		assert.deepEqual(await zoneOf('1.61'), ['Europe/Berlin', false]);
		await setSite(context(), { slug: 'west', time_zone: '' });
		assert.deepEqual(await zoneOf('1.62'), ['UTC', true]);
	});
});

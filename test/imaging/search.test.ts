import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { attributesOfLevel, planQuery, type QueryKey, uniqueKeyClauses } from '#dicom/query/plan.ts';
import { findRetrievable, retrievalKinds, searchImaging } from '#imaging/search.ts';
import type { ImagingAttribute, QueryLevel } from '#record/imaging-query.ts';
import type { Reader } from '#storage/reader.ts';
import { type TestDatabase, testDatabase } from '#test/support/database.ts';
import { doorTo } from '#test/support/door.ts';
import { insertImaging } from '#test/support/imaging-rows.ts';
import { insertResources } from '#test/support/stored-resources.ts';

let database: TestDatabase;
let client: pg.Client;
let reader: Reader;
const siteId = newId();
const elsewhere = newId();
const ada = newId();
const jorg = newId();

before(async () => {
	database = await testDatabase();
	client = new pg.Client({ connectionString: database.url });
	await client.connect();
	reader = doorTo(database.url).reads;
	const patient = (id: string, resource: object) => ({ type: 'Patient' as const, id, text: JSON.stringify(resource) });
	await insertResources(client, siteId, [
		patient(ada, {
			identifier: [
				{ system: 'urn:id:HOSP', value: 'P1' },
				{ system: 'urn:oid:1.2.3', value: 'X1' },
				{ system: 'urn:id:HOSP', value: 'P0', use: 'old' },
			],
			name: [{ family: 'Lovemore', given: ['Ada', 'Augusta', 'Maria'], prefix: ['Lady'] }, { family: 'Byron' }],
			birthDate: '1815-12-10',
			gender: 'female',
		}),
		patient(jorg, { identifier: [{ value: 'P2' }], name: [{ family: 'Müller^x', given: ['Jörg'] }], birthDate: '1970-05' }),
		patient(newId(), { identifier: [{ value: 'P3' }], name: [{ family: 'Lovemore' }] }),
	]);
	await insertResources(client, elsewhere, [patient(ada, { identifier: [{ value: 'P1' }], name: [{ family: 'Lovemore' }] })]);
	const first = { started: '2024-01-31T10:20:30', accessionNumber: 'A1', description: 'Head_1', referringPhysician: 'Doe^Jane' };
	await insertImaging(client, siteId, [
		{ uid: '1.1.1.1', seriesUid: '1.1.1', studyUid: '1.1', patientId: ada, study: first, series: { modality: 'CT', number: 2 }, number: 1 },
		{ uid: '1.1.1.2', seriesUid: '1.1.1', studyUid: '1.1', patientId: ada, number: 2 },
		{ uid: '1.1.2.1', seriesUid: '1.1.2', studyUid: '1.1', patientId: ada, series: { modality: 'SR' }, sopClassUid: '1.2.88' },
		{ uid: '1.2.1.1', seriesUid: '1.2.1', studyUid: '1.2', patientId: ada, study: { started: '2024-02-01' }, series: { modality: 'MR' } },
		{ uid: '1.3.1.1', seriesUid: '1.3.1', studyUid: '1.3', patientId: jorg, study: { started: '2024-02-02T08:00:00' } },
		{ uid: '1.4.1.1', seriesUid: '1.4.1', studyUid: '1.4', patientId: null },
	]);
	await insertImaging(client, elsewhere, [{ uid: '1.1.1.1', seriesUid: '1.1.1', studyUid: '1.1', patientId: ada, study: first }]);
});

after(async () => {
	await reader.close();
	await client.end();
	await database[Symbol.asyncDispose]();
});

type Keys = Partial<Record<ImagingAttribute, string>>;

const keysOf = (keys: Keys) => Object.entries(keys).map(([attribute, value]) => ({ attribute, value }) as QueryKey);

function find(level: QueryLevel, keys: Keys, { site = siteId, combinesMoments = false, count = 100, offset = 0 } = {}) {
	const { query } = planQuery({ level, keys: keysOf(keys), combinesMoments, count, offset });
	return searchImaging(reader, site, query);
}

async function studies(keys: Keys, options = {}) {
	const { entities } = await find('STUDY', keys, options);
	return entities.map(({ StudyInstanceUID }) => StudyInstanceUID);
}

describe('a query of studies', () => {
	test('without a key finds all of the site, those without a patient too, and nothing of another site', async () => {
		assert.deepEqual(await studies({}), ['1.1', '1.2', '1.3', '1.4']);
		assert.deepEqual(await studies({}, { site: elsewhere }), ['1.1']);
		assert.deepEqual(await studies({ PatientID: 'P2' }, { site: elsewhere }), []);
	});

	test('matches names without case, by wildcards, whole, and by the first name alone', async () => {
		assert.deepEqual(await studies({ PatientName: 'LOVEMORE^ADA^AUGUSTA MARIA^LADY' }), ['1.1', '1.2']);
		assert.deepEqual(await studies({ PatientName: 'lovemore^a?a*' }), ['1.1', '1.2']);
		assert.deepEqual(await studies({ PatientName: 'Lovemore' }), []);
		assert.deepEqual(await studies({ PatientName: 'Müller X^jörg^*' }), ['1.3']);
		assert.deepEqual(await studies({ PatientName: 'Byron*' }), []);
		assert.deepEqual(await studies({ PatientName: 'MÜLLER*^jör*' }), ['1.3']);
		assert.deepEqual(await studies({ PatientName: 'muller*^jor*' }), ['1.3']);
		assert.deepEqual(await studies({ PatientName: 'Lövemore^Ada*' }), ['1.1', '1.2']);
		assert.deepEqual(await studies({ PatientName: '*=x' }), []);
		assert.deepEqual(await studies({ ReferringPhysicianName: 'doe^jane^^' }), ['1.1']);
	});

	test('matches texts with case, and knows no wildcards of SQL', async () => {
		assert.deepEqual(await studies({ AccessionNumber: 'A1' }), ['1.1']);
		assert.deepEqual(await studies({ AccessionNumber: 'a1' }), []);
		assert.deepEqual(await studies({ StudyDescription: 'Head_?' }), ['1.1']);
		assert.deepEqual(await studies({ StudyDescription: '_ead*' }), []);
		assert.deepEqual(await studies({ StudyDescription: '%' }), []);
	});

	test('matches lists of UIDs, and modalities by any', async () => {
		assert.deepEqual(await studies({ StudyInstanceUID: '1.3\\1.1\\9.9' }), ['1.1', '1.3']);
		assert.deepEqual(await studies({ ModalitiesInStudy: 'SR' }), ['1.1']);
		assert.deepEqual(await studies({ ModalitiesInStudy: 'M?\\SR' }), ['1.1', '1.2']);
		assert.deepEqual(await studies({ SOPClassesInStudy: '1.2.88' }), ['1.1']);
	});

	test('matches ranges of dates and times, combined where that was agreed', async () => {
		assert.deepEqual(await studies({ StudyDate: '20240131' }), ['1.1']);
		assert.deepEqual(await studies({ StudyDate: '-20240201' }), ['1.1', '1.2']);
		assert.deepEqual(await studies({ StudyDate: '20240201-' }), ['1.2', '1.3']);
		assert.deepEqual(await studies({ StudyTime: '0800-1020' }), ['1.1', '1.3']);
		assert.deepEqual(await studies({ StudyTime: '10' }), ['1.1']);
		const both = { StudyDate: '20240131-20240202', StudyTime: '1021-09' };
		assert.deepEqual(await studies(both), []);
		assert.deepEqual(await studies(both, { combinesMoments: true }), ['1.2', '1.3']);
		assert.deepEqual(await studies({ PatientBirthDate: '18000101-19991231' }), ['1.1', '1.2']);
	});

	test('finds a patient by an id that a merge carried over, and shows the one of now', async () => {
		const shown = async (keys: Keys) => {
			const { entities } = await find('STUDY', { PatientID: '', IssuerOfPatientID: '', ...keys });
			return [...new Set(entities.map(({ PatientID, IssuerOfPatientID }) => `${PatientID}/${IssuerOfPatientID}`))];
		};
		assert.deepEqual(await shown({ PatientID: 'P0' }), ['P1/HOSP']);
		assert.deepEqual(await shown({ PatientID: 'X1' }), ['X1/1.2.3']);
		assert.deepEqual(await shown({ PatientID: 'P?' }), ['P1/HOSP', 'P2/null']);
		assert.deepEqual(await shown({ PatientID: 'P1', IssuerOfPatientID: 'HOSP' }), ['P1/HOSP']);
		assert.deepEqual(await shown({ PatientID: 'P1', IssuerOfPatientID: 'OTHER' }), []);
		assert.deepEqual(await shown({ IssuerOfPatientID: '1.2.3' }), ['X1/1.2.3']);
	});

	test('shows everything that can be said of them', async () => {
		const shown = [...attributesOfLevel('PATIENT'), ...attributesOfLevel('STUDY')];
		const { query } = planQuery({ level: 'STUDY', keys: keysOf({ StudyInstanceUID: '1.1' }), shown, combinesMoments: false, count: 1 });
		const { entities } = await searchImaging(reader, siteId, query);
		assert.deepEqual(entities, [
			{
				StudyInstanceUID: '1.1',
				PatientName: 'Lovemore^Ada^Augusta Maria^Lady',
				PatientID: 'P1',
				IssuerOfPatientID: 'HOSP',
				PatientBirthDate: '18151210',
				PatientSex: 'F',
				NumberOfPatientRelatedStudies: '2',
				NumberOfPatientRelatedSeries: '3',
				NumberOfPatientRelatedInstances: '4',
				StudyDate: '20240131',
				StudyTime: '102030',
				AccessionNumber: 'A1',
				ReferringPhysicianName: 'Doe^Jane',
				StudyDescription: 'Head_1',
				StudyID: null,
				ModalitiesInStudy: 'CT\\SR',
				SOPClassesInStudy: '1.2.840.10008.5.1.4.1.1.2\\1.2.88',
				NumberOfStudyRelatedSeries: '2',
				NumberOfStudyRelatedInstances: '3',
			},
		]);
	});

	test('goes by pages and by offset', async () => {
		const { query } = planQuery({ level: 'STUDY', keys: [], combinesMoments: false, count: 2 });
		const first = await searchImaging(reader, siteId, query);
		const second = await searchImaging(reader, siteId, { ...query, after: first.next });
		assert.deepEqual(
			[...first.entities, ...second.entities].map(({ StudyInstanceUID }) => StudyInstanceUID),
			['1.1', '1.2', '1.3', '1.4'],
		);
		assert.equal(second.next, undefined);
		assert.deepEqual(await studies({}, { count: 2, offset: 3 }), ['1.4']);
	});
});

describe('a query of other levels', () => {
	test('finds patients who have studies, series by their study, instances by their series', async () => {
		const patients = await find('PATIENT', { PatientID: '', PatientName: '*' });
		assert.deepEqual(patients.entities.map(({ PatientID, PatientName }) => `${PatientID} ${PatientName}`).sort(), [
			'P1 Lovemore^Ada^Augusta Maria^Lady',
			'P2 Müller x^Jörg',
		]);
		const series = await find('SERIES', { StudyInstanceUID: '1.1', SeriesNumber: '', Modality: '', NumberOfSeriesRelatedInstances: '' });
		assert.deepEqual(series.entities, [
			{ SeriesInstanceUID: '1.1.1', StudyInstanceUID: '1.1', SeriesNumber: '2', Modality: 'CT', NumberOfSeriesRelatedInstances: '2' },
			{ SeriesInstanceUID: '1.1.2', StudyInstanceUID: '1.1', SeriesNumber: null, Modality: 'SR', NumberOfSeriesRelatedInstances: '1' },
		]);
		const instances = await find('IMAGE', { SeriesInstanceUID: '1.1.1', InstanceNumber: '2', Rows: '512', SOPClassUID: '' });
		assert.deepEqual(
			instances.entities.map(({ SOPInstanceUID, InstanceNumber, Rows }) => [SOPInstanceUID, InstanceNumber, Rows]),
			[['1.1.1.2', '2', '512']],
		);
	});

	test('keys below the level are told, not matched', () => {
		const { query, unsupported } = planQuery({ level: 'STUDY', keys: keysOf({ Modality: 'CT' }), combinesMoments: false, count: 1 });
		assert.deepEqual([query.clauses, unsupported], [[], ['Modality']]);
	});
});

describe('a retrieval', () => {
	const uidsOf = async (keys: Keys) => {
		const { instances } = await findRetrievable(reader, siteId, uniqueKeyClauses(keysOf(keys)), { count: 100, after: undefined });
		return instances.map(({ sopInstanceUid }) => sopInstanceUid);
	};

	test('names the objects by the unique keys, in pages', async () => {
		assert.deepEqual(await uidsOf({ PatientID: 'P0' }), ['1.1.1.1', '1.1.1.2', '1.1.2.1', '1.2.1.1']);
		assert.deepEqual(await uidsOf({ StudyInstanceUID: '1.1', SeriesInstanceUID: '1.1.2' }), ['1.1.2.1']);
		assert.deepEqual(await uidsOf({ StudyInstanceUID: '1.*' }), []);
		assert.deepEqual(await uidsOf({ PatientID: 'P1', IssuerOfPatientID: 'OTHER' }), []);
		assert.equal((await uidsOf({ PatientID: 'P1', IssuerOfPatientID: 'HOSP' })).length, 4);
		assert.deepEqual(await uidsOf({ StudyInstanceUID: '1.1\0\\9' }), ['1.1.1.1', '1.1.1.2', '1.1.2.1']);
		const clauses = uniqueKeyClauses(keysOf({ StudyInstanceUID: '1.1' }));
		const first = await findRetrievable(reader, siteId, clauses, { count: 2, after: undefined });
		const second = await findRetrievable(reader, siteId, clauses, { count: 2, after: first.next });
		assert.deepEqual(
			second.instances.map(({ objectKey, bytes }) => [objectKey, bytes]),
			[['key 1.1.2.1', 1000]],
		);
		assert.equal(second.next, undefined);
	});

	test('knows its kinds and their numbers', async () => {
		assert.deepEqual(await retrievalKinds(reader, siteId, uniqueKeyClauses(keysOf({ StudyInstanceUID: '1.1' }))), [
			{ sopClassUid: '1.2.840.10008.5.1.4.1.1.2', transferSyntaxUid: '1.2.840.10008.1.2.1', instances: 2 },
			{ sopClassUid: '1.2.88', transferSyntaxUid: '1.2.840.10008.1.2.1', instances: 1 },
		]);
	});
});

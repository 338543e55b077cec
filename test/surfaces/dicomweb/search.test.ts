import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { element, sampleDataSet } from '#test/support/data-set.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { type DicomWebClient, dicomWebClient, file } from './client.ts';

let service: TestService;
let client: DicomWebClient;
let stranger: DicomWebClient;
let key: string;
let siteId: string;

/** An MR of another patient and day. */
const other = Buffer.concat([
	element(0x0008_0016, 'UI', '1.2.840.10008.5.1.4.1.1.4'),
	element(0x0008_0018, 'UI', '3.2.1.1'),
	element(0x0008_0020, 'DA', '20250615'),
	element(0x0008_0030, 'TM', '080000'),
	element(0x0008_0050, 'SH', 'ACC-2'),
	element(0x0008_0060, 'CS', 'MR'),
	element(0x0010_0010, 'PN', 'Lovemore^Ada'),
	element(0x0010_0020, 'LO', 'P-2'),
	element(0x0020_000d, 'UI', '3.2'),
	element(0x0020_000e, 'UI', '3.2.1'),
]);

before(async () => {
	service = await testService({ QIDO_COUNT_MAX: '3' });
	const added = await service.addSite('west');
	key = added.key;
	siteId = added.site.id;
	client = dicomWebClient(service, key);
	stranger = dicomWebClient(service, (await service.addSite('east')).key);
	const ofFirst = (seriesUid: string, sopInstanceUid: string) => {
		const dataSet = sampleDataSet({ studyUid: '3.1', seriesUid, sopInstanceUid });
		return file({ sopInstanceUid }, undefined, dataSet);
	};
	const parts = [ofFirst('3.1.1', '3.1.1.1'), ofFirst('3.1.1', '3.1.1.2'), ofFirst('3.1.2', '3.1.2.1'), file({}, undefined, other)];
	const answer = await client.store(parts);
	assert.equal(answer.status, 200, answer.bytes.toString());
});

after(() => service[Symbol.asyncDispose]());

const found = async (path: string, tag: string) => {
	const answer = await client.get(path);
	assert.equal(answer.status, 200, answer.bytes.toString());
	assert.equal(answer.headers.get('content-type'), 'application/dicom+json');
	return answer.json().map((entity: never) => entity[tag]['Value'][0]);
};
const studies = (query: string) => found(`/studies?${query}`, '0020000D');

describe('QIDO-RS', () => {
	test('finds at all paths, of the site alone', async () => {
		assert.deepEqual(await studies(''), ['3.1', '3.2']);
		assert.deepEqual(await found('/series', '0020000E'), ['3.1.1', '3.1.2', '3.2.1']);
		assert.deepEqual(await found('/studies/3.1/series', '0020000E'), ['3.1.1', '3.1.2']);
		assert.deepEqual(await found('/studies/3.1/instances', '00080018'), ['3.1.1.1', '3.1.1.2', '3.1.2.1']);
		assert.deepEqual(await found('/studies/3.1/series/3.1.1/instances', '00080018'), ['3.1.1.1', '3.1.1.2']);
		assert.deepEqual(await found('/instances?Modality=MR', '00080018'), ['3.2.1.1']);
		for (const path of ['/studies', '/series', '/instances', '/studies/3.1/series', '/studies/3.1/instances']) {
			const answer = await stranger.get(path);
			assert.deepEqual([answer.status, answer.json()], [200, []]);
			assert.equal((await dicomWebClient(service, 'wrong').get(path)).status, 401);
		}
		assert.deepEqual(await found('/studies/9.9/series', '0020000E'), []);
	});

	test('matches by keyword and by tag: lists, wildcards, ranges', async () => {
		assert.deepEqual(await studies('StudyInstanceUID=3.2'), ['3.2']);
		assert.deepEqual(await studies('0020000D=3.1,3.2'), ['3.1', '3.2']);
		assert.deepEqual(await studies('PatientName=love*'), ['3.2']);
		assert.deepEqual(await studies('00100010=M%C3%BCller^J?rg*'), ['3.1']);
		assert.deepEqual(await studies('PatientID=P-1'), ['3.1']);
		assert.deepEqual(await studies('AccessionNumber=ACC-2'), ['3.2']);
		assert.deepEqual(await studies('StudyDate=20240101-20241231'), ['3.1']);
		assert.deepEqual(await studies('StudyDate=20240131-20250615&StudyTime=110000-090000'), ['3.2']);
		assert.deepEqual(await studies('ModalitiesInStudy=MR,US'), ['3.2']);
		assert.deepEqual(await studies('PatientName='), ['3.1', '3.2']);
		assert.deepEqual(await found('/studies/3.1/series?SeriesInstanceUID=3.1.2', '0020000E'), ['3.1.2']);
		assert.deepEqual(await found('/instances?PatientName=Lovemore*&InstanceNumber=1', '00080018'), []);
	});

	test('shows what the standard asks, and what is asked for besides', async () => {
		const [study] = (await client.get('/studies?StudyInstanceUID=3.1')).json();
		assert.deepEqual(study['00100010'].Value, [{ Alphabetic: 'Müller^Jörg^^Dr.' }]);
		assert.deepEqual(study['00080020'], { vr: 'DA', Value: ['20240131'] });
		assert.deepEqual(study['00080061'], { vr: 'CS', Value: ['CT'] });
		assert.deepEqual([study['00201206'].Value, study['00201208'].Value], [[2], [3]]);
		const base = `http://127.0.0.1:${service.port('fhir')}/dicomweb`;
		assert.deepEqual(study['00081190'], { vr: 'UR', Value: [`${base}/studies/3.1`] });
		assert.deepEqual(Object.keys(study), Object.keys(study).sort());
		assert.equal(study['00080062'], undefined);
		const [more] = (await client.get('/studies?StudyInstanceUID=3.1&includefield=SOPClassesInStudy,00201200')).json();
		assert.deepEqual([more['00080062'].Value, more['00201200'].Value], [['1.2.840.10008.5.1.4.1.1.2'], [1]]);
		const [all] = (await client.get('/instances?includefield=all&limit=1')).json();
		assert.deepEqual([all['00201200'].Value, all['0008103E'].Value, all['00280010'].Value], [[1], ['axial 5 mm'], [512]]);
		const [series] = (await client.get('/studies/3.1/series?limit=1')).json();
		assert.deepEqual([series['00080060'].Value, series['0020000D'].Value, series['00100010']], [['CT'], ['3.1'], undefined]);
		const [instance] = (await client.get('/studies/3.1/series/3.1.1/instances')).json();
		assert.deepEqual(instance['00081190'].Value, [`${base}/studies/3.1/series/3.1.1/instances/3.1.1.1`]);
		assert.deepEqual(instance['00280011'], { vr: 'US', Value: [256] });
	});

	test('is paged, with a warning while there is more', async () => {
		const page = async (query: string) => {
			const answer = await client.get(`/instances?${query}`);
			const uids = answer.json().map((entity: never) => entity['00080018']['Value'][0]);
			return [uids, /^299 \S+: "There are additional results that can be requested\."$/.test(answer.headers.get('warning') ?? '')];
		};
		assert.deepEqual(await page('limit=2'), [['3.1.1.1', '3.1.1.2'], true]);
		assert.deepEqual(await page('limit=2&offset=2'), [['3.1.2.1', '3.2.1.1'], false]);
		assert.deepEqual(await page(''), [['3.1.1.1', '3.1.1.2', '3.1.2.1'], true]);
		assert.deepEqual(await page('limit=100'), [['3.1.1.1', '3.1.1.2', '3.1.2.1'], true]);
		assert.deepEqual(await page('offset=3'), [['3.2.1.1'], false]);
		assert.deepEqual(await page('limit=0'), [[], false]);
	});

	test('names match without case and accents; with fuzzymatching by the starts of their words', async () => {
		const muller = await studies('PatientName=M%C3%BCller*');
		assert.deepEqual(muller, ['3.1']);
		assert.deepEqual(await studies('PatientName=muller^jorg*'), ['3.1']);
		assert.deepEqual(await studies('PatientName=jorg'), []);
		for (const name of ['Muller', 'jorg mull', 'J%C3%B6rg^M%C3%BCller', 'm?ll*']) {
			assert.deepEqual(await studies(`fuzzymatching=true&PatientName=${name}`), ['3.1'], name);
		}
		for (const name of ['uller', 'muller ada']) assert.deepEqual(await studies(`fuzzymatching=true&PatientName=${name}`), [], name);
		assert.deepEqual(await studies('fuzzymatching=true&PatientName=*'), ['3.1', '3.2']);
	});

	test('who searched and who retrieved is in the audit trail of the site', async () => {
		for (let times = 0; times < 3; times++) assert.equal((await client.get('/studies/3.1/metadata')).status, 200);
		const events = () =>
			service.rows<{ action: string; subject: string; actor: string }>(
				"select action, subject, actor from audit_event where action like 'dicomweb.%' and site_id = $1 order by 1, 2",
				[siteId],
			);
		const kinds = async () => new Set((await events()).map(({ action, subject }) => `${action} ${subject}`));
		await eventually(async () => (await kinds()).has('dicomweb.retrieve 3.1'), 'the events of the last requests');
		// Many searches within a moment share an event, which has no subject of its own.
		const shared = 'dicomweb.search dicomweb.search';
		assert.deepEqual(
			[...(await kinds())].filter((kind) => kind !== shared),
			['dicomweb.retrieve 3.1', 'dicomweb.search IMAGE', 'dicomweb.search SERIES', 'dicomweb.search STUDY'],
		);
		const written = await events();
		assert.ok(written.every(({ actor }) => actor.startsWith('key:') && key.includes(actor.slice(4))));
	});

	test('what it does not do it says; what it cannot read it refuses', async () => {
		const warning = async (query: string) => {
			const answer = await client.get(`/studies?${query}`);
			assert.equal(answer.status, 200);
			assert.equal(answer.json().length, 2);
			return answer.headers.get('warning') ?? '';
		};
		for (const value of ['true', 'false']) assert.equal(await warning(`fuzzymatching=${value}`), '');
		assert.match(await warning('InstitutionName=X'), /attribute InstitutionName is not supported for matching/);
		assert.match(await warning('00400275.00400009=X'), /00400275\.00400009/);
		assert.match(await warning('dBdt=1'), /attribute dBdt is not supported/);
		assert.match(await warning('00091001=X'), /attribute 00091001 is not supported/);
		assert.match(await warning('Modality=MR'), /Modality is not of this level/);
		const refused = [
			'limit=a',
			'offset=-1',
			'fuzzymatching=yes',
			'StudyDate=yesterday',
			'patient=1',
			'PatientId=P-1',
			'00100011=1',
			'RequestAttributesSequence.ScheduledStep=1',
			'includefield=a-b',
			'PatientID=1&00100020=2',
		];
		for (const query of refused) {
			const answer = await client.get(`/studies?${query}`);
			assert.equal(answer.status, 400, query);
			assert.equal(answer.json().success, false);
		}
		assert.match((await client.get('/studies?PatientId=P-1')).json().error, /the parameter PatientId is neither/);
		assert.equal((await client.get('/studies', { Accept: 'multipart/related; type="application/dicom+xml"' })).status, 406);
		assert.equal((await client.get('/studies', { Accept: 'application/json' })).headers.get('content-type'), 'application/json');
	});
});

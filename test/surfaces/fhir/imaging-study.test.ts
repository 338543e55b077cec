import { strict as assert } from 'node:assert';
import { after, before, describe, test } from 'node:test';
import { resources } from '#fhir/resources/index.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { idsOf, linkOf } from '#test/support/fhir-sample.ts';
import { type GivenImage, opened, sendImages } from '#test/support/images.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

const [ct, mr] = ['1.2.840.10008.5.1.4.1.1.2', '1.2.840.10008.5.1.4.1.1.4'];

let service: TestService;
let west: FhirCall;
let east: FhirCall;

const head: GivenImage = {
	studyUid: '1.2.1',
	seriesUid: '1.2.1.2',
	sopInstanceUid: '1.2.1.2.2',
	modality: 'CT',
	date: '20240131',
	time: '102030.5',
	accession: 'ACC-1',
	accessionIssuer: 'RIS & PACS',
	referrer: 'Doe^Jane^^Dr.',
	station: 'CT-2',
	studyDescription: 'Head "plain"',
	seriesDescription: 'axial\\5 mm'.replace('\\', ' '),
	patientId: 'P1',
	patientIssuer: 'MRN',
	bodyPart: 'HEAD',
	seriesNumber: 2,
	number: 9,
};
const images: GivenImage[] = [
	head,
	{ ...head, sopInstanceUid: '1.2.1.2.1', number: 1 },
	{ ...head, seriesUid: '1.2.1.1', sopInstanceUid: '1.2.1.1.1', sopClassUid: mr, modality: 'MR', seriesNumber: 1, number: -1 },
	{
		...head,
		studyUid: '1.2.2',
		seriesUid: '1.2.2.1',
		sopInstanceUid: '1.2.2.1.1',
		accession: 'ACC-2',
		accessionIssuer: '1.2.3',
		date: '20240201',
		time: '',
	},
	{ studyUid: '1.2.3', seriesUid: '1.2.3.1', sopInstanceUid: '1.2.3.1.1', sopClassUid: mr, accession: 'ACC-3' },
	{
		studyUid: '1.2.4',
		seriesUid: '1.2.4.1',
		sopInstanceUid: '1.2.4.1.1',
		patientId: 'P2',
		patientIssuer: 'MRN',
		modality: 'MR',
		date: '20230630',
		time: '2359',
	},
];

before(async () => {
	service = await testService();
	west = fhirClient(service, (await service.addSite('west')).key);
	east = fhirClient(service, (await service.addSite('east')).key);
	for (const site of ['west', 'east']) await opened(service, site);
	await sendImages(service.port('dimse'), 'WEST', images);
	await sendImages(service.port('dimse'), 'EAST', [{ ...head, seriesUid: '1.2.1.9', sopInstanceUid: '1.2.1.9.1', modality: 'US' }]);
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

const studyUidOf = ({ identifier }: FhirBody) => identifier[0].value.replace('urn:oid:', '');

async function found(query: string, caller: FhirCall = west): Promise<string[]> {
	const reply = await caller('GET', `/ImagingStudy?${query}`);
	assert.equal(reply.status, 200, reply.text);
	return (reply.body.entry ?? [])
		.filter(({ search }: FhirBody) => search.mode === 'match')
		.map(({ resource }: FhirBody) => studyUidOf(resource));
}

async function study(uid: string, caller: FhirCall = west): Promise<FhirBody> {
	const { body } = await caller('GET', `/ImagingStudy?identifier=urn:dicom:uid|urn:oid:${uid}`);
	assert.equal(body.total, 1);
	return body.entry[0].resource;
}

async function patientId(identifier: string, caller: FhirCall = west): Promise<string> {
	return (await caller('GET', `/Patient?identifier=${identifier}&active=true`)).body.entry[0].resource.id;
}

describe('ImagingStudy', () => {
	test('is what C-STORE brought, with its series and instances in order', async () => {
		const { id } = await study('1.2.1');
		const { status, body, headers } = await west('GET', `/ImagingStudy/${id}`);
		assert.equal(status, 200);
		const { meta, ...resource } = body;
		assert.equal(headers.get('etag'), `W/"${meta.versionId}"`);
		const dcm = (code: string) => ({ system: 'http://dicom.nema.org/resources/ontology/DCM', code });
		const sopClass = (uid: string) => ({ system: 'urn:ietf:rfc:3986', code: `urn:oid:${uid}` });
		const series = {
			description: 'axial 5 mm',
			bodySite: { display: 'HEAD' },
			started: '2024-01-31T10:20:30Z',
			performer: [{ actor: { type: 'Device', display: 'CT-2' } }],
		};
		assert.deepEqual(resource, {
			resourceType: 'ImagingStudy',
			id,
			identifier: [
				{ system: 'urn:dicom:uid', value: 'urn:oid:1.2.1' },
				{
					type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'ACSN' }] },
					system: 'urn:id:RIS%20%26%20PACS',
					value: 'ACC-1',
				},
			],
			status: 'available',
			modality: [dcm('CT'), dcm('MR')],
			subject: { reference: `Patient/${await patientId('P1')}` },
			started: '2024-01-31T10:20:30Z',
			referrer: { display: 'Dr. Jane Doe' },
			numberOfSeries: 2,
			numberOfInstances: 3,
			description: 'Head "plain"',
			series: [
				{
					uid: '1.2.1.1',
					number: 1,
					modality: dcm('MR'),
					numberOfInstances: 1,
					...series,
					instance: [{ uid: '1.2.1.1.1', sopClass: sopClass(mr) }],
				},
				{
					uid: '1.2.1.2',
					number: 2,
					modality: dcm('CT'),
					numberOfInstances: 2,
					...series,
					instance: [
						{ uid: '1.2.1.2.1', sopClass: sopClass(ct), number: 1 },
						{ uid: '1.2.1.2.2', sopClass: sopClass(ct), number: 9 },
					],
				},
			],
		});
	});

	test('says so where a data set names no patient and no modality', async () => {
		const resource = await study('1.2.3');
		const unknown = { extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }] };
		assert.deepEqual(
			[resource.subject, resource.series[0].modality, resource.modality, resource.started],
			[unknown, unknown, undefined, undefined],
		);
		assert.deepEqual(resource.identifier[1].system, undefined);
	});

	const searches: [string, string[]][] = [
		['', ['1.2.1', '1.2.2', '1.2.3', '1.2.4']],
		['identifier=urn:oid:1.2.1', ['1.2.1']],
		['identifier=1.2.1', ['1.2.1']],
		['identifier=urn:dicom:uid|1.2.1', ['1.2.1']],
		['identifier=urn:dicom:uid|', ['1.2.1', '1.2.2', '1.2.3', '1.2.4']],
		['identifier=ACC-1,urn:oid:1.2.4', ['1.2.1', '1.2.4']],
		['identifier=urn:dicom:uid|ACC-1', []],
		['identifier:of-type=http://terminology.hl7.org/CodeSystem/v2-0203|ACSN|ACC-1', ['1.2.1']],
		['identifier:of-type=http://terminology.hl7.org/CodeSystem/v2-0203|MR|ACC-1', []],
		['identifier=|ACC-1', []],
		['identifier=|ACC-3', ['1.2.3']],
		['accession=ACC-2', ['1.2.2']],
		['accession=urn:oid:1.2.3|ACC-2', ['1.2.2']],
		['accession=urn:oid:1.2.3|', ['1.2.2']],
		[`accession=${encodeURIComponent('urn:id:RIS%20%26%20PACS|ACC-1')}`, ['1.2.1']],
		['accession=urn:oid:1.2.3|ACC-1', []],
		['accession=urn:oid:1.2.1', []],
		['accession:missing=true', ['1.2.4']],
		['accession:not=ACC-1', ['1.2.2', '1.2.3', '1.2.4']],
		['modality=MR', ['1.2.1', '1.2.4']],
		['modality=http://dicom.nema.org/resources/ontology/DCM|CT', ['1.2.1', '1.2.2']],
		['modality=urn:x|CT', []],
		['modality=CT&modality=MR', ['1.2.1']],
		['modality=US,CT', ['1.2.1', '1.2.2']],
		['modality:missing=true', ['1.2.3']],
		['modality:not=CT', ['1.2.3', '1.2.4']],
		[`dicom-class=urn:oid:${mr}`, ['1.2.1', '1.2.3']],
		[`dicom-class=urn:ietf:rfc:3986|urn:oid:${ct}`, ['1.2.1', '1.2.2', '1.2.4']],
		['series=1.2.2.1', ['1.2.2']],
		['series=1.2.1.9', []],
		['instance=1.2.1.1.1', ['1.2.1']],
		['instance=urn:oid:1.2.1.1.1', ['1.2.1']],
		['status=available', ['1.2.1', '1.2.2', '1.2.3', '1.2.4']],
		['status=cancelled', []],
		['status:not=cancelled', ['1.2.1', '1.2.2', '1.2.3', '1.2.4']],
		['started=2024-01-31', ['1.2.1']],
		['started=2024-01-31T10:20:30Z', ['1.2.1']],
		['started=2024', ['1.2.1', '1.2.2']],
		['started=ge2024-01-31T10:20:30Z', ['1.2.1', '1.2.2']],
		['started=gt2024-01-31', ['1.2.2']],
		['started=gt2024-02-01T12:00:00Z', ['1.2.2']],
		['started=sa2024-01-31', ['1.2.2']],
		['started=lt2024-01-31', ['1.2.4']],
		['started=le2024-01-31', ['1.2.1', '1.2.4']],
		['started=eb2024-02-01', ['1.2.1', '1.2.4']],
		['started=ne2024-01-31', ['1.2.2', '1.2.4']],
		['started:missing=true', ['1.2.3']],
		['patient.identifier=P2', ['1.2.4']],
		['patient:Patient.name=p1', ['1.2.1', '1.2.2']],
		['patient:missing=true', ['1.2.3']],
		['_lastUpdated=gt2020-01-01', ['1.2.1', '1.2.2', '1.2.3', '1.2.4']],
		['_lastUpdated=lt2020-01-01', []],
		['_sort=-started', ['1.2.2', '1.2.1', '1.2.4', '1.2.3']],
		['_sort=started', ['1.2.4', '1.2.1', '1.2.2', '1.2.3']],
	];
	for (const [query, uids] of searches) {
		test(`is found by ${query || 'nothing'}`, async () => {
			const held = await found(query);
			assert.deepEqual(query.startsWith('_sort') ? held : held.sort(), uids);
		});
	}

	test('is found by its patient, with whom it comes along, and from whom it is found', async () => {
		const id = await patientId('P1');
		for (const query of [`patient=${id}`, `subject=Patient/${id}`, `patient=Patient/${id}`])
			assert.deepEqual((await found(query)).sort(), ['1.2.1', '1.2.2']);
		const included = await west('GET', '/ImagingStudy?accession=ACC-1&_include=ImagingStudy:patient');
		assert.deepEqual(
			included.body.entry.map(({ resource, search }: FhirBody) => [resource.resourceType, search.mode]),
			[
				['ImagingStudy', 'match'],
				['Patient', 'include'],
			],
		);
		const including = await west('GET', `/Patient?_id=${id}&_revinclude=ImagingStudy:patient`);
		assert.equal(including.body.entry.length, 3);
		const having = await west('GET', '/Patient?_has:ImagingStudy:patient:accession=ACC-2');
		assert.deepEqual(idsOf(having), [id]);
		assert.deepEqual(idsOf(await west('GET', '/Patient?_has:ImagingStudy:patient:_lastUpdated=lt2020')), []);
	});

	test('comes by pages, counted where that is asked for', async () => {
		const first = await west('GET', '/ImagingStudy?_count=3&_total=accurate');
		assert.deepEqual([first.body.total, first.body.entry.length], [4, 3]);
		const next = linkOf(first, 'next') ?? assert.fail('there is no next page');
		const second = await west('GET', next.slice(next.indexOf('/fhir/') + 5));
		assert.equal(second.body.entry.length, 1);
		assert.equal(linkOf(second, 'next'), undefined);
		assert.equal(new Set([...idsOf(first), ...idsOf(second)]).size, 4);
		assert.equal((await west('GET', '/ImagingStudy?_summary=count')).body.total, 4);
	});

	test('has no instances in its summary, and no series where other elements are asked for', async () => {
		const { id } = await study('1.2.1');
		for (const path of [`/ImagingStudy/${id}?`, '/ImagingStudy?accession=ACC-1&']) {
			const shown = async (parameter: string) => {
				const { body } = await west('GET', `${path}${parameter}`);
				return body.entry?.[0].resource ?? body;
			};
			const summary = await shown('_summary=true');
			assert.deepEqual(
				summary.series.map(({ uid, numberOfInstances, instance }: FhirBody) => [uid, numberOfInstances, instance]),
				[
					['1.2.1.1', 1, undefined],
					['1.2.1.2', 2, undefined],
				],
			);
			assert.equal(summary.meta.tag[0].code, 'SUBSETTED');
			const started = await shown('_elements=started');
			assert.deepEqual(Object.keys(started).sort(), ['id', 'meta', 'resourceType', 'started', 'status', 'subject']);
			assert.equal((await shown('_elements=series')).series[1].instance.length, 2);
			assert.equal((await shown('_summary=data')).series[1].instance.length, 2);
		}
	});

	test('has one version, the current one, which a further instance makes anew', async () => {
		const before = await study('1.2.2');
		const path = `/ImagingStudy/${before.id}`;
		const known = await west('GET', path, undefined, { 'If-None-Match': `W/"${before.meta.versionId}"` });
		assert.equal(known.status, 304);
		assert.deepEqual((await west('GET', `${path}/_history/${before.meta.versionId}`)).body, before);
		await sendImages(service.port('dimse'), 'WEST', [{ ...head, studyUid: '1.2.2', seriesUid: '1.2.2.1', sopInstanceUid: '1.2.2.1.2' }]);
		const after = await study('1.2.2');
		assert.deepEqual([after.numberOfInstances, Number(after.meta.versionId) > Number(before.meta.versionId)], [2, true]);
		assert.ok(after.meta.lastUpdated > before.meta.lastUpdated);
		assert.equal((await west('GET', `${path}/_history/${before.meta.versionId}`)).status, 404);
		const history = await west('GET', `${path}/_history`);
		assert.deepEqual(
			history.body.entry.map(({ resource }: FhirBody) => resource),
			[after],
		);
		const { body } = await west('GET', '/metadata');
		const stated = body.rest[0].resource.find(({ type }: FhirBody) => type === 'ImagingStudy');
		assert.deepEqual(
			[stated.interaction.map(({ code }: FhirBody) => code), stated.readHistory, stated.searchInclude],
			[resources.ImagingStudy.interactions, true, ['ImagingStudy:patient', 'ImagingStudy:subject']],
		);
	});

	test('is not written', async () => {
		const { id, ...resource } = await study('1.2.1');
		const entry = [{ resource, request: { method: 'POST', url: 'ImagingStudy' } }];
		for (const [method, path, body] of [
			['POST', '/ImagingStudy', resource],
			['PUT', `/ImagingStudy/${id}`, { id, ...resource }],
			['PATCH', `/ImagingStudy/${id}`, [{ op: 'remove', path: '/description' }]],
			['DELETE', `/ImagingStudy/${id}`, undefined],
			['POST', '/', { resourceType: 'Bundle', type: 'transaction', entry }],
		] as const) {
			const reply = await west(method, path, body);
			assert.deepEqual([reply.status, reply.body.resourceType], [405, 'OperationOutcome'], `${method} ${path}`);
		}
	});

	test('is what a conditional reference of a transaction leads to', async () => {
		const derivedFrom = [{ reference: 'ImagingStudy?accession=ACC-1' }];
		const resource = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, derivedFrom };
		const entry = [{ fullUrl: 'urn:uuid:0199c0de-0000-7000-8000-000000000009', resource, request: { method: 'POST', url: 'Observation' } }];
		const { status, body, text } = await west('POST', '/', { resourceType: 'Bundle', type: 'transaction', entry });
		assert.equal(status, 200, text);
		const { id } = await study('1.2.1');
		assert.equal(body.entry[0].resource.derivedFrom[0].reference, `ImagingStudy/${id}`);
		const included = await west('GET', '/Observation?_include=Observation:derived-from&_elements=status');
		assert.deepEqual(idsOf(included, 'include'), [id]);
		assert.equal(included.body.entry[1].resource.series, undefined);
	});

	test('is in everything of its patient, and in nobody else’s', async () => {
		const types = async (id: string) => {
			const { body } = await west('GET', `/Patient/${id}/$everything`);
			return body.entry.map(({ resource }: FhirBody) => resource.resourceType).sort();
		};
		assert.deepEqual(await types(await patientId('P1')), ['ImagingStudy', 'ImagingStudy', 'Patient']);
		assert.deepEqual(await types(await patientId('P2')), ['ImagingStudy', 'Patient']);
	});

	test('of another site is not there', async () => {
		assert.deepEqual(await found('', east), ['1.2.1']);
		const [ours, theirs] = [await study('1.2.1'), await study('1.2.1', east)];
		assert.notEqual(ours.id, theirs.id);
		assert.deepEqual([theirs.numberOfInstances, theirs.modality[0].code], [1, 'US']);
		assert.equal((await east('GET', `/ImagingStudy/${ours.id}`)).status, 404);
		assert.equal((await east('GET', `/ImagingStudy/${ours.id}/_history/${ours.meta.versionId}`)).status, 404);
		for (const query of [
			`_id=${ours.id}`,
			'accession=ACC-2',
			'instance=1.2.1.1.1',
			'series=1.2.1.2',
			'modality=CT',
			`patient=${await patientId('P1')}`,
		])
			assert.deepEqual(await found(query, east), [], query);
	});
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { showReplay } from '#administration/failures.ts';
import { listLoggedMessages, replayMessage, showLoggedMessage } from '#administration/messages.ts';
import { operations } from '#administration/operations/index.ts';
import { perform } from '#administration/perform.ts';
import { setSite } from '#administration/sites.ts';
import { BulkClient } from '#test/support/bulk.ts';
import { clinicalDocument, grace } from '#test/support/cda.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { postV3 } from '#test/support/hl7v3-sender.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { eventually, type FhirBody, type TestService, testService } from '#test/support/service.ts';

const message = (controlId: string, event: string, segments: string[], facility = 'HOSP') =>
	[`MSH|^~\\&|ADT|${facility}|X|Y|20260101||${event}|${controlId}|P|2.5.1`, ...segments].join('\r');
const pid = (number: string) => `PID|1||${number}^^^MRN||Rivers^Alba||19700517|F`;
/** PV1 with an assigned location, an attending doctor and a visit number. */
const pv1 = (visit: string, attending: string, place = '3W^101^2^HOSP') => `PV1|1|I|${place}||||${attending}${'|'.repeat(12)}${visit}^^^VN`;

describe('messages that refer to people and places as resources', () => {
	let service: TestService;
	let mllp: MllpClient;
	let number = 0;
	const sites = new Map<string, string>();
	before(async () => {
		service = await testService();
		for (const value of ['display', 'known', 'resources'] as const) {
			const { key } = await service.addSite(value, { sending_facility: value.toUpperCase() });
			await setSite(service.administration, { slug: value, people_and_places: value, deletes: true });
			sites.set(value, key);
		}
		mllp = await MllpClient.connect(service.port('mllp'));
	});
	after(async () => {
		mllp.close();
		await service[Symbol.asyncDispose]();
	});

	const at = (site: string) => fhirClient(service, sites.get(site) ?? '');
	const found = async (site: string, query: string): Promise<FhirBody[]> => {
		const { status, body } = await at(site)('GET', `/${query}`);
		assert.equal(status, 200, JSON.stringify(body));
		return (body.entry ?? []).map(({ resource }: FhirBody) => resource);
	};
	const send = async (site: string, event: string, segments: string[], sender = mllp) => {
		const answer = msa(await sender.send(message(String(++number), event, segments, site.toUpperCase())));
		assert.equal(answer.code, 'AA');
	};

	test('an admission makes the doctor, the bed and what it is a part of, and is found by them', async () => {
		await send('resources', 'ADT^A01', ['EVN||20260101', pid('P1'), pv1('V1', 'D1^Weaver^Ruth^^^Dr^MD^^NPI&2.16.840.1.113883.4.6&ISO')]);
		const [doctor, ...others] = await found('resources', 'Practitioner?identifier=urn:oid:2.16.840.1.113883.4.6|D1');
		assert.deepEqual(others, []);
		assert.deepEqual(doctor?.name, [{ text: 'Dr Ruth Weaver', family: 'Weaver', given: ['Ruth'], prefix: ['Dr'], suffix: ['MD'] }]);
		assert.equal(doctor?.meta.source, `urn:tributary:mllp:${number}`);
		const [visit] = await found('resources', `Encounter?participant=Practitioner/${doctor?.id}`);
		assert.equal(visit?.participant[0].individual.reference, `Practitioner/${doctor?.id}`);
		assert.equal(visit?.participant[0].individual.display, 'Dr Ruth Weaver');
		const [bed] = await found('resources', 'Location?identifier=urn:id:HOSP|3W^101^2');
		assert.equal(bed?.name, '3W, 101, 2, HOSP');
		assert.equal((await found('resources', `Encounter?location=Location/${bed?.id}`))[0]?.id, visit?.id);
		const [room] = await found('resources', 'Location?identifier=urn:id:HOSP|3W^101');
		assert.equal(bed?.partOf.reference, `Location/${room?.id}`);
		const [ward] = await found('resources', 'Location?identifier=3W');
		assert.equal(room?.partOf.reference, `Location/${ward?.id}`);
		const [site] = await found('resources', 'Location?identifier=HOSP');
		assert.equal(ward?.partOf.reference, `Location/${site?.id}`);
		const [facility] = await found('resources', 'Organization?identifier=RESOURCES');
		assert.equal(visit?.serviceProvider.reference, `Organization/${facility?.id}`);
		const included = await found('resources', `Encounter?_id=${visit?.id}&_include=Encounter:participant`);
		assert.deepEqual(included.map(({ resourceType }) => resourceType).sort(), ['Encounter', 'Practitioner']);
	});

	test('with the default nothing is made, and references stay as they were', async () => {
		await send('display', 'ADT^A01', ['EVN||20260101', pid('P1'), pv1('V1', 'D1^Weaver^Ruth')]);
		for (const type of ['Practitioner', 'Organization', 'Location']) assert.deepEqual(await found('display', type), []);
		const [visit] = await found('display', 'Encounter');
		assert.deepEqual(visit?.participant[0].individual, { type: 'Practitioner', identifier: { value: 'D1' }, display: 'Ruth Weaver' });
		assert.deepEqual(visit?.location[0].location, { type: 'Location', display: '3W, 101, 2, HOSP' });
		assert.equal(visit?.serviceProvider, undefined);
	});

	test('a client, senders and nodes that name one doctor at the same moment make one', async () => {
		await using other = await testService({ DATABASE_URL: service.databaseUrl });
		const senders = await Promise.all([0, 1, 2, 3].map((index) => MllpClient.connect((index % 2 ? other : service).port('mllp'))));
		for (const round of [1, 2, 3]) {
			const doctor = `R${round}^Weaver^Ruth^^^^^^N`;
			await Promise.all(
				senders.flatMap((sender, index) =>
					[1, 2, 3].map((visit) =>
						send(
							'resources',
							'ADT^A01',
							['EVN||20260101', pid(`R${round}${index}`), pv1(`R${round}${index}${visit}`, doctor, `W${round}`)],
							sender,
						),
					),
				),
			);
			assert.equal((await found('resources', `Practitioner?identifier=R${round}`)).length, 1);
			assert.equal((await found('resources', `Location?identifier=W${round}`)).length, 1);
			assert.equal((await found('resources', `Encounter?participant.identifier=R${round}&_count=50`)).length, 12);
		}
		for (const sender of senders) sender.close();
	});

	test('what a client wrote, or an import, is referred to and stays as it is; what is deleted is made anew', async () => {
		const visit = async (number: string, doctor: string) => {
			await send('resources', 'ADT^A01', ['EVN||20260101', pid('P2'), pv1(number, doctor)]);
			return (await found('resources', `Encounter?identifier=${number}`))[0]?.participant[0].individual.reference as string;
		};
		const body = { resourceType: 'Practitioner', identifier: [{ system: 'urn:id:N', value: 'C1' }], name: [{ family: 'Own' }] };
		assert.equal((await at('resources')('PUT', '/Practitioner/own', { ...body, id: 'own' })).status, 201);
		assert.equal(await visit('C-1', 'C1^Weaver^Ruth^^^^^^N'), 'Practitioner/own');
		const { body: held } = await at('resources')('GET', '/Practitioner/own');
		assert.deepEqual([held.meta.versionId, held.name], ['1', [{ family: 'Own' }]]);

		const made = await visit('C-2', 'C2^Weaver^Ruth^^^^^^N');
		const bulk = new BulkClient(service, sites.get('resources') ?? '');
		const imported = { ...body, id: 'imported', identifier: [{ system: 'urn:id:N', value: 'C2' }] };
		await bulk.manifest(await bulk.startImport([imported]));
		assert.equal(await visit('C-3', 'C2^Weaver^Ruth^^^^^^N'), 'Practitioner/imported');
		assert.equal((await at('resources')('GET', `/${made}`)).status, 200);

		const gone = await visit('C-4', 'C4^Weaver^Ruth');
		assert.equal((await at('resources')('DELETE', `/${gone}`)).status, 204);
		const anew = await visit('C-5', 'C4^Weaver^Ruth');
		assert.notEqual(anew, gone);
		assert.equal((await found('resources', 'Practitioner?identifier=C4')).length, 1);

		const taken = await visit('C-6', 'C6^Weaver^Ruth');
		const { body: own } = await at('resources')('GET', `/${taken}`);
		assert.equal((await at('resources')('PUT', `/${taken}`, { ...own, name: [{ family: 'Taken' }] })).status, 200);
		assert.equal(await visit('C-7', 'C6^Miller^Ada'), taken);
		assert.deepEqual((await at('resources')('GET', `/${taken}`)).body.name, [{ family: 'Taken' }]);
	});

	test('the log says what a message made, and a replay makes nothing twice', async () => {
		await send('resources', 'ADT^A01', ['EVN||20260101', pid('P3'), pv1('L1', 'L1^Weaver^Ruth')]);
		const context = { ...service.administration, visibleSites: ['resources'] };
		const [logged] = await listLoggedMessages(context, { limit: 1 });
		const { changed } = await showLoggedMessage(context, logged?.id ?? '');
		const [doctor] = await found('resources', 'Practitioner?identifier=L1');
		assert.ok(JSON.stringify(changed).includes(`Practitioner/${doctor?.id}`), JSON.stringify(changed));
		const again = await replayMessage(context, logged?.id ?? '');
		assert.equal(again.outcome, 'accepted');
		assert.deepEqual(
			(await found('resources', 'Practitioner?identifier=L1')).map(({ meta }) => meta.versionId),
			['1'],
		);
	});

	test('two resources with one identifier: the message is flagged, and refers to neither', async () => {
		for (const id of ['twin-1', 'twin-2']) {
			const twin = { resourceType: 'Practitioner', id, identifier: [{ value: 'T1' }] };
			assert.equal((await at('resources')('PUT', `/Practitioner/${id}`, twin)).status, 201);
		}
		await send('resources', 'ADT^A01', ['EVN||20260101', pid('P4'), pv1('T1', 'T1^Weaver^Ruth')]);
		const [visit] = await found('resources', 'Encounter?identifier=T1');
		assert.deepEqual(visit?.participant[0].individual, { type: 'Practitioner', identifier: { value: 'T1' }, display: 'Ruth Weaver' });
		const context = { ...service.administration, visibleSites: ['resources'] };
		const [logged] = await listLoggedMessages(context, { limit: 1 });
		const { flags } = await showLoggedMessage(context, logged?.id ?? '');
		assert.deepEqual(
			flags?.map(({ code }) => code),
			['several-resources'],
		);
		assert.equal((await found('resources', 'Practitioner?identifier=T1')).length, 2);
	});

	test('a result leads to those who performed and interpreted it', async () => {
		const obr = `OBR|1|P9|F9|718-7^Hb^LN|||20260101${'|'.repeat(9)}Q1^Moss^Eve${'|'.repeat(9)}F${'|'.repeat(7)}I1&Miller&Ada`;
		await send('resources', 'ORU^R01', [pid('P5'), obr, 'OBX|1|NM|718-7^Hb^LN||13.2|g/dL|||||F|||||O1^Fern^Tom']);
		const [interpreter] = await found('resources', 'Practitioner?identifier=I1');
		const [performer] = await found('resources', 'Practitioner?identifier=O1');
		const [facility] = await found('resources', 'Organization?identifier=RESOURCES');
		assert.equal((await found('resources', `DiagnosticReport?results-interpreter=Practitioner/${interpreter?.id}`)).length, 1);
		assert.equal((await found('resources', `DiagnosticReport?performer=Organization/${facility?.id}&subject.identifier=P5`)).length, 1);
		assert.equal((await found('resources', `Observation?performer=Practitioner/${performer?.id}`)).length, 1);
		const [requester] = await found('resources', 'Practitioner?identifier=Q1');
		const [order] = await found('resources', `ServiceRequest?requester=Practitioner/${requester?.id}`);
		assert.deepEqual(
			order?.identifier.map(({ value }: FhirBody) => value),
			['P9', 'F9'],
		);
		const based = await found('resources', `Observation?based-on=ServiceRequest/${order?.id}&_include=Observation:based-on`);
		assert.deepEqual(based.map(({ resourceType }) => resourceType).sort(), ['Observation', 'ServiceRequest']);
		await send('resources', 'ORU^R01', [pid('P5'), obr.replace('|P9|', '||'), 'OBX|1|NM|718-7^Hb^LN||13.2|g/dL|||||F|||||O1^Fern^Tom']);
		assert.equal((await found('resources', 'ServiceRequest?identifier=F9')).length, 1);
	});

	test('an order is found again after a merge of its patient', async () => {
		const report = (patient: string, value: string) => [pid(patient), 'OBR|1|P8||718-7^Hb^LN', `OBX|1|NM|718-7^Hb^LN||${value}||||||F`];
		await send('resources', 'ORU^R01', report('M1', '1'));
		await send('resources', 'ADT^A08', ['EVN||20260101', pid('M2')]);
		await send('resources', 'ADT^A40', ['EVN||20260101', pid('M2'), 'MRG|M1^^^MRN']);
		const [order, ...others] = await found('resources', 'ServiceRequest?identifier=P8');
		assert.deepEqual(others, []);
		for (const patient of ['M2', 'M1']) await send('resources', 'ORU^R01', report(patient, `1${patient.at(-1)}`));
		assert.deepEqual(
			(await found('resources', 'ServiceRequest?identifier=P8')).map(({ id }) => id),
			[order?.id],
		);
	});

	test('local times are read anew without touching people and places', async () => {
		const stay = `${pv1('Z1', 'Z1^Weaver^Ruth', 'Z9')}${'|'.repeat(25)}202607011130`;
		await send('resources', 'ADT^A01', ['EVN||20260101', pid('P7'), stay]);
		const [before] = await found('resources', 'Encounter?identifier=Z1');
		assert.equal(before?.period.start, '2026-07-01T11:30:00Z');
		const operation = operations.find(({ name }) => name === 'site set');
		assert.ok(operation);
		const input = { slug: 'resources', time_zone: 'Europe/Berlin', rederive: true };
		const { rederivation } = (await perform(operation, service.administration, input)) as { rederivation: { id: string } };
		await eventually(async () => (await showReplay(service.administration, rederivation.id)).state !== 'running', 'the end of the run');
		assert.equal((await showReplay(service.administration, rederivation.id)).state, 'done');
		const [visit] = await found('resources', 'Encounter?identifier=Z1');
		assert.equal(visit?.period.start, '2026-07-01T11:30:00+02:00');
		assert.deepEqual([visit?.participant, visit?.location], [before?.participant, before?.location]);
		assert.equal((await found('resources', 'Practitioner?identifier=Z1'))[0]?.meta.versionId, '1');
	});

	test('a document leads to its author, its custodian, and to the place and people of its visit', async () => {
		const person = (id: string, family: string) =>
			`<assignedEntity><id root="1.5" extension="${id}"/><assignedPerson><name><family>${family}</family></name></assignedPerson></assignedEntity>`;
		const visit =
			'<componentOf><encompassingEncounter><id root="1.6" extension="DV1"/><effectiveTime><low value="20260101"/></effectiveTime>' +
			`<encounterParticipant typeCode="ATND">${person('DA', 'Fern')}</encounterParticipant><location><healthCareFacility>` +
			'<id root="1.7" extension="DW"/><location><name>Ward</name></location><serviceProviderOrganization><id root="1.8"/><name>General</name>' +
			'</serviceProviderOrganization></healthCareFacility></location></encompassingEncounter></componentOf>';
		const signed = `<legalAuthenticator>${person('DL', 'Moss')}</legalAuthenticator>`;
		const post = async (id: string) => {
			const text = clinicalDocument({ id: `root="1.2.3.4" extension="${id}"`, patients: [grace('DP')], participants: `${signed}${visit}` });
			assert.equal((await postV3(service, sites.get('resources') ?? '', text, {})).status, 200);
			return (await found('resources', `DocumentReference?identifier=${id}`))[0];
		};
		const document = await post('DOC1');
		const [author] = await found('resources', 'Practitioner?identifier=urn:oid:2.16.840.1.113883.4.6|999');
		assert.equal(document?.author[0].reference, `Practitioner/${author?.id}`);
		assert.equal(author?.name[0].family, 'Lovemore');
		const [signer] = await found('resources', 'Practitioner?identifier=urn:oid:1.5|DL');
		assert.equal(document?.authenticator.reference, `Practitioner/${signer?.id}`);
		const [custodian] = await found('resources', 'Organization?identifier=urn:ietf:rfc:3986|urn:oid:1.9');
		assert.equal(document?.custodian.reference, `Organization/${custodian?.id}`);
		const [ward] = await found('resources', 'Location?identifier=urn:oid:1.7|DW');
		const [stay] = await found('resources', `Encounter?location=Location/${ward?.id}`);
		const [attender] = await found('resources', 'Practitioner?identifier=urn:oid:1.5|DA');
		assert.equal(stay?.participant[0].individual.reference, `Practitioner/${attender?.id}`);
		assert.equal(stay?.serviceProvider.reference, ward?.managingOrganization.reference);
		await post('DOC2');
		assert.equal((await found('resources', 'Practitioner?identifier=urn:oid:1.5|DA'))[0]?.meta.versionId, '1');
	});
});

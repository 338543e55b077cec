import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

const message = (controlId: string, event: string, segments: string[], facility = 'HOSP') =>
	[`MSH|^~\\&|ADT|${facility}|X|Y|20260101||${event}|${controlId}|P|2.5.1`, ...segments].join('\r');
const pid = (number: string) => `PID|1||${number}^^^MRN||Rivers^Alba||19700517|F`;
/** PV1 with an assigned location, an attending doctor and a visit number. */
const pv1 = (visit: string, attending: string, place = '3W^101^2^HOSP') => `PV1|1|I|${place}||||${attending}${'|'.repeat(12)}${visit}^^^VN`;

describe('messages that refer to people and places as resources', { timeout: 300_000 }, () => {
	let service: TestService;
	let mllp: MllpClient;
	let number = 0;
	const sites = new Map<string, string>();
	before(async () => {
		service = await testService();
		for (const value of ['display', 'known', 'resources'] as const) {
			const { key } = await service.addSite(value, {
				people_and_places: value,
				sending_facility: value.toUpperCase(),
			});
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
});

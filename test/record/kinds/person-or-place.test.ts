import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import { putKeyed } from '#record/apply/put-keyed.ts';
import type { Row } from '#record/apply/rows.ts';
import { siteAuthorities } from '#record/holdings/site-authorities.ts';
import type { Settings } from '#record/settings/settings.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import type { FhirBody } from '#test/support/service.ts';
import { read } from '../../hl7v2/reading.ts';

const resources: Settings = { people_and_places: 'resources' };
const pid = 'PID|1||100||Doe^Jane';
const visitOf = (attending: string, number = 'V1') => [pid, `PV1|1|I|||||${attending}||||||||||||${number}`];
const admit = (attending: string, settings = resources, number = 'V1') => read('ADT^A01', visitOf(attending, number), settings);

function practitioner(site: MemorySite): FhirBody {
	const [found, ...others] = site.resources('Practitioner');
	assert.deepEqual(others, []);
	return found;
}

function attending(site: MemorySite): FhirBody {
	const visit = (site.resources('Encounter') as FhirBody[]).at(-1);
	return visit?.participant?.[0]?.individual;
}

/** A resource as a FHIR client or an import writes it. */
function written(site: MemorySite, id: string, resource: JsonObject, resourceType: Row['resourceType'] = 'Practitioner'): void {
	putKeyed(site.set, {
		resourceType,
		id,
		givenId: null,
		version: 1,
		text: JSON.stringify(resource),
		resource,
		meta: null,
		source: null,
		links: { origin: null },
		supersedes: undefined,
		stored: false,
		lastUpdated: '2024-01-01T00:00:00Z',
	});
}

describe('a person whom messages name', () => {
	test('is made once, and the next message that names them changes nothing', () => {
		const site = new MemorySite();
		const first = site.apply(admit('D1^Weaver^Ruth'));
		assert.deepEqual(
			first.changed.map(({ resourceType }) => resourceType),
			['Practitioner', 'Organization', 'Patient', 'Encounter'],
		);
		assert.deepEqual(site.apply(admit('D1^Weaver^Ruth')).changed, []);
		assert.equal(attending(site).reference, `Practitioner/${site.rows('Practitioner')[0]?.id}`);
		for (const item of site.all()) assert.deepEqual(validateResource(item), []);
	});

	for (const [what, later, family, versions] of [
		['the family name alone', 'D1^Weaver', 'Weaver', 1],
		['an initial', 'D1^WEAVER^R^^^^MD', 'Weaver', 2],
		['no name', 'D1', 'Weaver', 1],
		['another name', 'D1^Miller^Ruth', 'Miller', 2],
		['a middle name more', 'D1^Weaver^Ruth^Ada', 'Weaver', 2],
	] as const) {
		test(`keeps what is known, or takes what is new: ${what}`, () => {
			const site = new MemorySite();
			site.apply(admit('D1^Weaver^Ruth'));
			site.apply(admit(later));
			assert.equal(practitioner(site).name[0].family.toLowerCase(), family.toLowerCase());
			assert.equal(site.rows('Practitioner')[0]?.version, versions);
		});
	}

	test('is the one whom a client wrote under the number, who is never changed', () => {
		const site = new MemorySite();
		site.apply(admit('D1^Weaver^Ruth^^^^^^N'));
		written(site, 'own', { identifier: [{ system: 'urn:id:N', value: 'D1' }], name: [{ family: 'Own' }] });
		const { changed, flags } = site.apply(admit('D1^Miller^Ruth^^^^^^N'));
		assert.deepEqual(
			changed.map(({ resourceType }) => resourceType),
			['Encounter'],
		);
		assert.deepEqual(flags, []);
		assert.equal(attending(site).reference, 'Practitioner/own');
		assert.equal(attending(site).display, 'Ruth Miller');
	});

	test('is nobody where several resources have the number, and the message is flagged', () => {
		const site = new MemorySite();
		for (const id of ['one', 'two']) written(site, id, { identifier: [{ system: `urn:id:${id}`, value: 'D1' }] });
		const { flags } = site.apply(admit('D1^Weaver'));
		assert.deepEqual(flags, [
			{
				code: 'several-resources',
				text: 'PV1-7 names a Practitioner by an identifier that several resources have; it refers to none of them',
			},
		]);
		assert.deepEqual(attending(site), { type: 'Practitioner', identifier: { value: 'D1' }, display: 'Weaver' });
		assert.equal(site.rows('Practitioner').length, 2);
		site.apply(admit('D1^Weaver^^^^^^^two'));
		assert.equal(attending(site).reference, 'Practitioner/two');
	});

	test('is found by every name of the authority, and by the default authority where the message names none', () => {
		const site = new MemorySite();
		site.set.of(siteAuthorities).put({ system: 'urn:id:HOSP', other: 'urn:oid:1.2.3.4', holds: true, origin: 'person' });
		written(site, 'own', { identifier: [{ system: 'urn:oid:1.2.3.4', value: 'D1' }] });
		written(site, 'other', { identifier: [{ system: 'urn:oid:1.2.3.5', value: 'D1' }] });
		site.apply(admit('D1^^^^^^^^HOSP'));
		assert.equal(attending(site).reference, 'Practitioner/own');
		site.apply(admit('D1', { ...resources, default_authority: 'urn:oid:1.2.3.5' }));
		assert.equal(attending(site).reference, 'Practitioner/other');
		site.apply(admit('D2', { ...resources, default_authority: 'urn:oid:1.2.3.5' }));
		assert.deepEqual(site.resources('Practitioner')[2], { identifier: [{ system: 'urn:oid:1.2.3.5', value: 'D2' }] });
	});

	test('stays a reference by name without a number, and where only known ones are referred to', () => {
		const site = new MemorySite();
		site.apply(admit('^Weaver^Ruth'));
		site.apply(admit('D1^Weaver^Ruth', { people_and_places: 'known' }, 'V2'));
		assert.deepEqual(site.resources('Practitioner'), []);
		written(site, 'own', { identifier: [{ value: 'D1' }] });
		site.apply(admit('D1^Weaver^Ruth', { people_and_places: 'known' }, 'V2'));
		assert.equal(attending(site).reference, 'Practitioner/own');
	});

	test('is a general practitioner by a role behind PID, beside that of PD1', () => {
		const site = new MemorySite();
		const segments = [pid, 'PD1||||G1^Fern', 'ROL|1|AD|PP|G1^Fern^Ada~G2^Moss', 'ROL|2|AD|NM|G3^Other', 'NK1|1|Doe', 'ROL|3|AD|PP|G4^Late'];
		site.apply(read('ADT^A08', segments, resources));
		const [patient] = site.resources('Patient') as FhirBody[];
		const [fern, moss, ...others] = site.rows('Practitioner').map(({ id }) => `Practitioner/${id}`);
		assert.deepEqual(
			patient?.generalPractitioner.map(({ id, reference }: FhirBody) => [id, reference]),
			[
				['PD1-4.1', fern],
				['ROL-4.1', moss],
			],
		);
		assert.deepEqual(others, []);
		for (const item of site.all()) assert.deepEqual(validateResource(item), []);
	});

	test('is one for all fields of a message, with the fullest name', () => {
		const site = new MemorySite();
		const doctors = 'PV1|1|I|||||D1^Weaver|D1^Weaver^Ruth^^^Dr|D1||||||||||V1';
		const { changed } = site.apply(read('ADT^A01', [pid, doctors, 'ROL|1|AD|AT|D1^Weaver~D2^Miller', 'ROL|2|DE|CP|D3^Gone'], resources));
		assert.equal(changed.filter(({ resourceType }) => resourceType === 'Practitioner').length, 2);
		const [visit] = site.resources('Encounter') as FhirBody[];
		const [ruth, miller] = site.rows('Practitioner').map(({ id }) => `Practitioner/${id}`);
		assert.deepEqual(
			visit?.participant.map(({ type, individual }: FhirBody) => [type[0].coding[0].code, individual.reference]),
			[
				['ATND', ruth],
				['ATND', miller],
				['REF', ruth],
				['CON', ruth],
			],
		);
		assert.equal((site.resources('Practitioner') as FhirBody[])[0]?.name[0].text, 'Dr Ruth Weaver');
	});
});

describe('a place that messages name', () => {
	const move = (place: string, event = 'ADT^A02') =>
		read(event, [pid, `PV1|1|I|${place}||||||||||||||||V1`], { ...resources, also: ['A02'] });

	test('is known by its components within the facility, and each is a part of the next larger one', () => {
		const site = new MemorySite();
		site.apply(move('3W^101^2^HOSP&1.2.3.4&ISO^^^B1^F3^by the window', 'ADT^A01'));
		const places = site.resources('Location') as FhirBody[];
		assert.deepEqual(
			places.map(({ identifier, physicalType }) => [identifier.map(({ value }: FhirBody) => value), physicalType.coding[0].code]),
			[
				[['urn:oid:1.2.3.4', 'HOSP'], 'si'],
				[['^^^B1'], 'bu'],
				[['3W^^^B1'], 'wa'],
				[['3W^^^B1^F3'], 'lvl'],
				[['3W^101^^B1^F3'], 'ro'],
				[['3W^101^2^B1^F3'], 'bd'],
			],
		);
		const ids = site.rows('Location').map(({ id }) => `Location/${id}`);
		assert.deepEqual(
			places.map(({ partOf }) => partOf?.reference),
			[undefined, ...ids.slice(0, -1)],
		);
		assert.deepEqual([places[5]?.description, places[5]?.identifier[0].system], ['by the window', 'urn:oid:1.2.3.4']);
		for (const item of site.all()) assert.deepEqual(validateResource(item), []);
	});

	test('completes the former one at a transfer, also of a visit from before the setting', () => {
		const site = new MemorySite();
		site.apply(read('ADT^A01', [pid, 'PV1|1|I|3W||||||||||||||||V1']));
		site.apply(move('3W'));
		const of = () =>
			(site.resources('Encounter') as FhirBody[])[0]?.location.map(({ location, status }: FhirBody) => [location.display, status]);
		assert.deepEqual(of(), [['3W', 'active']]);
		site.apply(move('4E'));
		assert.deepEqual(of(), [
			['4E', 'active'],
			['3W', 'completed'],
		]);
	});

	test('keeps its name where a field names it without the facility, and a message that comes again changes nothing', () => {
		const site = new MemorySite();
		const both = read('ADT^A01', [pid, 'PV1|1|I|3W^101^^HOSP|||3W^102|||||||||||||V1'], resources);
		site.apply(both);
		assert.equal((site.resources('Location') as FhirBody[]).find(({ name }) => name === '3W, HOSP')?.identifier[0].value, '3W');
		assert.deepEqual(site.apply(both).changed, []);
	});

	test('has the number of PL-11 beside its components', () => {
		const site = new MemorySite();
		site.apply(move('3W^^^^^^^^^LOC^W-3&LOC', 'ADT^A01'));
		assert.deepEqual((site.resources('Location') as FhirBody[])[0]?.identifier, [
			{ system: 'urn:id:LOC', value: 'W-3' },
			{ system: 'urn:id:LOC', value: '3W' },
		]);
	});
});

describe('the sending facility', () => {
	const result = (obr: string) => read('ORU^R01', [pid, `OBR|1||F1|718-7^Hb^LN${obr}`, 'OBX|1|NM|718-7^Hb^LN||1'], resources);

	test('provides the visit, and issues a report that names no performer', () => {
		const site = new MemorySite();
		site.apply(admit('D1'));
		const facility = { reference: 'Organization/id-0002', type: 'Organization', identifier: { value: 'HOSP' }, display: 'HOSP' };
		assert.deepEqual((site.resources('Encounter') as FhirBody[])[0]?.serviceProvider, facility);
		site.apply(result(''));
		assert.deepEqual((site.resources('DiagnosticReport') as FhirBody[])[0]?.performer, [facility]);
		site.apply(result(`${'|'.repeat(30)}T1&Miller&Ada`));
		assert.deepEqual((site.resources('DiagnosticReport') as FhirBody[])[0]?.performer[0].display, 'Ada Miller');
		assert.deepEqual(site.resources('Organization'), [{ identifier: [{ value: 'HOSP' }], name: 'HOSP' }]);
	});
});

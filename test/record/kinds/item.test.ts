import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import type { FhirBody } from '#test/support/service.ts';
import { read } from '../../hl7v2/reading.ts';

const pid = 'PID|1||100||Doe^Jane';
const visit = (number: string) => `PV1|1|I|W1||||||||||||||||${number}`;
const a08 = (...segments: string[]) => read('ADT^A08', [pid, ...segments]);

function only(site: MemorySite, type: string): FhirBody {
	const [resource, ...others] = site.resources(type);
	assert.deepEqual(others, []);
	assert.ok(resource);
	for (const item of site.all()) assert.deepEqual(validateResource(item), []);
	return resource;
}

/** Another version of the one resource of a type, as a FHIR client would write it. */
function rewrite(site: MemorySite, type: string, change: (resource: FhirBody) => void): void {
	const [row] = site.rows(type);
	assert.ok(row);
	const resource = JSON.parse(row.text) as JsonObject;
	change(resource);
	site.set.put({ ...row, text: JSON.stringify(resource), resource, version: row.version + 1 });
}

describe('what segments state, message by message', () => {
	for (const [type, first, second, check] of [
		[
			'AllergyIntolerance',
			'AL1|1|DA|P^^L|MI|Rash',
			'AL1|1||P^^L|SV',
			(it: FhirBody) => it.criticality === 'high' && it.category[0] === 'medication',
		],
		[
			'Condition',
			'DG1|1||E11^^I10||2020|A',
			'DG1|1||E11^^I10|||F',
			(it: FhirBody) => /confirmed/.test(JSON.stringify(it)) && it.onsetDateTime === '2020',
		],
		['Procedure', 'PR1|1||1^^C4||2024|D', 'PR1|1||1^^C4|Text|2024', (it: FhirBody) => it.code.text === 'Text' && it.category !== undefined],
	] as const) {
		test(`${type}: the next message updates it, the same one changes nothing`, () => {
			const site = new MemorySite();
			site.apply(a08(visit('V1'), first));
			assert.deepEqual(site.apply(a08(visit('V1'), first)).changed, []);
			assert.equal(site.apply(a08(visit('V1'), second)).changed.length, 1);
			assert.deepEqual(site.apply(a08(visit('V1'), second)).changed, []);
			assert.ok(check(only(site, type)));
			assert.equal(site.rows(type)[0]?.version, 2);
		});
		test(`${type}: a message without the segment leaves it, and another patient’s is another one`, () => {
			const site = new MemorySite();
			site.apply(a08(first));
			assert.deepEqual(site.apply(a08()).changed, []);
			site.apply(read('ADT^A08', ['PID|1||200', first]));
			assert.equal(site.resources(type).length, 2);
		});
	}
	test('a visit that states it again does not take it from the visit that it was recorded in', () => {
		const site = new MemorySite();
		site.apply(a08('DG1|1||E11^^I10', 'AL1|1|DA|P^^L'));
		site.apply(a08(visit('V1'), 'DG1|1||E11^^I10', 'AL1|1|DA|P^^L'));
		const recorded = only(site, 'Condition').encounter;
		assert.ok(recorded);
		assert.deepEqual(
			site.apply(a08(visit('V2'), 'DG1|1||E11^^I10', 'AL1|1|DA|P^^L')).changed.map(({ resourceType }) => resourceType),
			['Encounter'],
		);
		assert.deepEqual(only(site, 'Condition').encounter, recorded);
		assert.equal(only(site, 'AllergyIntolerance').encounter, undefined);
	});
	test('what a FHIR client wrote beside it stays; its type of onset goes when another one comes', () => {
		const site = new MemorySite();
		site.apply(a08('DG1|1||E11^^I10'));
		rewrite(site, 'Condition', (condition) => {
			condition.note = [{ text: 'seen' }];
			condition.severity = { text: 'mild' };
			condition.clinicalStatus.coding[0].code = 'remission';
			condition.onsetString = 'childhood';
		});
		site.apply(a08('DG1|1||E11^^I10||2020|F'));
		const condition = only(site, 'Condition');
		assert.deepEqual([condition.note, condition.severity], [[{ text: 'seen' }], { text: 'mild' }]);
		assert.equal(condition.clinicalStatus.coding[0].code, 'remission');
		assert.deepEqual([condition.onsetDateTime, condition.onsetString], ['2020', undefined]);
	});
});

describe('what is withdrawn', () => {
	test('an unknown one is not created', () => {
		const site = new MemorySite();
		site.apply(a08('DG1|1||E11^^I10||||||||||||||||||D', 'PR1|1||1^^C4|||||||||||||||||D'));
		assert.deepEqual([site.resources('Condition'), site.resources('Procedure')], [[], []]);
	});
	test('a condition has no clinical status and no end any more; stated again it is active', () => {
		const site = new MemorySite();
		const withdrawn = a08('DG1|1||E11^^I10||||||||||||||||||D');
		site.apply(a08('DG1|1||E11^^I10|||F'));
		rewrite(site, 'Condition', (condition) => {
			condition.clinicalStatus.coding[0].code = 'resolved';
			condition.abatementDateTime = '2021';
		});
		site.apply(withdrawn);
		assert.equal(only(site, 'Condition').verificationStatus.coding[0].code, 'entered-in-error');
		assert.equal(only(site, 'Condition').clinicalStatus, undefined);
		assert.deepEqual(site.apply(withdrawn).changed, []);
		site.apply(a08('DG1|1||E11^^I10'));
		assert.equal(only(site, 'Condition').clinicalStatus.coding[0].code, 'active');
		assert.equal(only(site, 'Condition').verificationStatus, undefined);
	});
	test('a procedure is entered in error; stated again it is completed', () => {
		const site = new MemorySite();
		site.apply(a08('PR1|1||1^^C4'));
		site.apply(a08('PR1|1||1^^C4|||||||||||||||||D'));
		assert.equal(only(site, 'Procedure').status, 'entered-in-error');
		site.apply(a08('PR1|1||1^^C4'));
		assert.equal(only(site, 'Procedure').status, 'completed');
	});
	test('AL1 cannot withdraw, so it does not bring back what a FHIR client marked as an error', () => {
		const site = new MemorySite();
		site.apply(a08('AL1|1|DA|P^^L'));
		rewrite(site, 'AllergyIntolerance', (allergy) => {
			delete allergy.clinicalStatus;
			allergy.verificationStatus = {
				coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-verification', code: 'entered-in-error' }],
			};
		});
		site.apply(a08('AL1|1|DA|P^^L|SV'));
		const allergy = only(site, 'AllergyIntolerance');
		assert.equal(allergy.criticality, 'high');
		assert.equal(allergy.clinicalStatus, undefined);
		assert.equal(allergy.verificationStatus.coding[0].code, 'entered-in-error');
	});
});

describe('the contacts and practitioners of a patient', () => {
	const names = (site: MemorySite) => only(site, 'Patient').contact?.map((contact: FhirBody) => contact.name.text);
	test('NK1 replaces NK1’s, and leaves those of others', () => {
		const site = new MemorySite();
		site.apply(a08('NK1|1|Smith^Bob', 'NK1|2|Smith^Eve'));
		rewrite(site, 'Patient', (patient) => patient.contact.push({ id: 'NK1', name: { text: 'Own' } }, { name: { text: 'Other' } }));
		site.apply(a08('NK1|1|Smith^Eve'));
		assert.deepEqual(names(site), ['Eve Smith', 'Own', 'Other']);
		assert.deepEqual(site.apply(a08('NK1|1|Smith^Eve')).changed, []);
		assert.deepEqual(site.apply(a08()).changed, []);
		site.apply(a08('NK1|1|""'));
		assert.deepEqual(names(site), ['Own', 'Other']);
	});
	test('PD1-3 and PD1-4 replace their own', () => {
		const site = new MemorySite();
		site.apply(a08('PD1|||North|1^Gp'));
		rewrite(site, 'Patient', (patient) => patient.generalPractitioner.push({ reference: 'Practitioner/own' }));
		site.apply(a08('PD1|||South'));
		const displayed = () => only(site, 'Patient').generalPractitioner.map((it: FhirBody) => it.display ?? it.reference);
		assert.deepEqual(displayed(), ['South', 'Gp', 'Practitioner/own']);
		site.apply(a08('PD1|||""|""'));
		assert.deepEqual(displayed(), ['Practitioner/own']);
	});
	test('an ORU fills them for a patient that it creates, and leaves a known one’s', () => {
		const site = new MemorySite();
		const oru = (name: string) => read('ORU^R01', [pid, `NK1|1|${name}`, 'OBR|1||F1', 'OBX|1|NM|K^K^L||1||||||F']);
		site.apply(oru('First'));
		site.apply(oru('Second'));
		assert.deepEqual(names(site), ['First']);
	});
	test('performers go by what they did', () => {
		const site = new MemorySite();
		site.apply(a08('PR1|1||1^^C4|||||1^Ane|||2^Sur|3^Any'));
		rewrite(site, 'Procedure', (procedure) =>
			procedure.performer.push({ function: { coding: [{ code: 'nurse' }] }, actor: { display: 'Nurse' } }),
		);
		site.apply(a08('PR1|1||1^^C4||||||||4^Sur2|""'));
		assert.deepEqual(
			only(site, 'Procedure').performer.map(({ actor }: FhirBody) => actor.display),
			['Sur2', 'Ane', 'Nurse'],
		);
	});
});

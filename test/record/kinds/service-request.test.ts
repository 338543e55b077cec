import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import { putKeyed } from '#record/apply/put-keyed.ts';
import type { Settings } from '#record/settings/settings.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import type { FhirBody } from '#test/support/service.ts';
import { read } from '../../hl7v2/reading.ts';

const resources: Settings = { people_and_places: 'resources' };
const pid = 'PID|1||100||Doe^Jane';
const obx = 'OBX|1|NM|718-7^Hb^LN||13|g/dL|||||F';
/** OBR with its numbers, the ordering provider (OBR-16) and the status (OBR-25). */
const obr = (placer: string, filler: string, orderer = '', status = 'F', code = '718-7^Hb^LN') =>
	`OBR|1|${placer}|${filler}|${code}${'|'.repeat(12)}${orderer}${'|'.repeat(9)}${status}`;
const result = (segments: string[], settings = resources, patient = pid) => read('ORU^R01', [patient, ...segments], settings);

function only(site: MemorySite, type: string): FhirBody {
	const [found, ...others] = site.resources(type);
	assert.deepEqual(others, []);
	for (const item of site.all()) assert.deepEqual(validateResource(item), []);
	return found;
}

function written(site: MemorySite, id: string, resource: JsonObject, patientId: string): void {
	putKeyed(site.set, {
		resourceType: 'ServiceRequest',
		id,
		givenId: null,
		version: 1,
		text: JSON.stringify(resource),
		resource,
		meta: null,
		source: null,
		links: { patient_id: patientId, origin: null },
		supersedes: undefined,
		stored: false,
		lastUpdated: '2024-01-01T00:00:00Z',
	});
}

describe('the order on which results are based', () => {
	test('has one requester, named in ORC-12 and OBR-16 with different completeness', () => {
		const site = new MemorySite();
		site.apply(result([`ORC|RE|P1|F1${'|'.repeat(9)}D1^Weaver`, obr('P1', 'F1', 'D1^Weaver^Ruth^^^Dr~D2^Other'), obx]));
		const order = only(site, 'ServiceRequest');
		const [requester] = site.rows('Practitioner');
		assert.deepEqual(
			[order.status, order.intent, order.code.text, order.requester.reference, order.requester.display],
			['completed', 'order', 'Hb', `Practitioner/${requester?.id}`, 'Weaver'],
		);
		assert.equal((site.resources('Practitioner') as FhirBody[])[0]?.name[0].text, 'Dr Ruth Weaver');
		const reference = `ServiceRequest/${site.rows('ServiceRequest')[0]?.id}`;
		for (const type of ['Observation', 'DiagnosticReport']) {
			assert.deepEqual(
				only(site, type).basedOn.map((based: FhirBody) => based.reference),
				[reference],
			);
		}
	});

	test('is found by either number, and goes on with what later messages say', () => {
		const site = new MemorySite();
		site.apply(result([obr('P1', '', 'D1', 'P'), obx]));
		assert.equal(only(site, 'ServiceRequest').status, 'active');
		site.apply(result([obr('P1', 'F1', 'D1', 'F'), obx]));
		site.apply(result([obr('', 'F1', 'D2', 'P', '789-8^RBC^LN'), 'OBX|1|NM|789-8^RBC^LN||4||||||P']));
		const order = only(site, 'ServiceRequest');
		assert.deepEqual(
			[order.status, order.code.text, order.identifier.map(({ value }: FhirBody) => value)],
			['completed', 'Hb', ['P1', 'F1']],
		);
		assert.equal(order.requester.identifier.value, 'D2');
		assert.deepEqual(site.apply(result([obr('P1', 'F1', 'D2', 'F'), obx])).changed, []);
	});

	test('is one for several OBR that state parts of it', () => {
		const site = new MemorySite();
		site.apply(result([obr('P1', 'F1'), obx, obr('P1', 'F1', '', 'F', '789-8^RBC^LN'), 'OBX|1|NM|789-8^RBC^LN||4||||||F']));
		assert.equal(only(site, 'ServiceRequest').code.text, 'Hb');
	});

	test('is that of a client if it has the number and the patient, and of nobody else', () => {
		const site = new MemorySite();
		site.apply(read('ADT^A08', [pid], resources));
		const patientId = site.rows('Patient')[0]?.id ?? '';
		const own = { status: 'active', intent: 'order', identifier: [{ value: 'P1' }], subject: { reference: `Patient/${patientId}` } };
		written(site, 'own', own, patientId);
		written(site, 'foreign', { ...own, identifier: [{ value: 'P2' }] }, 'another');
		site.apply(result([obr('P1', 'F1', 'D1'), obx]));
		assert.equal((site.resources('Observation') as FhirBody[])[0]?.basedOn[0].reference, 'ServiceRequest/own');
		site.apply(result([obr('P2', 'F2', 'D1'), obx]));
		assert.deepEqual(
			site.rows('ServiceRequest').map(({ version }) => version),
			[1, 1, 1],
		);
		assert.notEqual((site.resources('Observation') as FhirBody[])[1]?.basedOn[0].reference, 'ServiceRequest/foreign');
	});

	test('is not made by default, nor where only known ones are referred to; a report is not corrected when the setting changes', () => {
		const site = new MemorySite();
		const message = [obr('P1', 'F1', 'D1', 'F'), obx];
		site.apply(result(message, {}));
		site.apply(result(message, { people_and_places: 'known' }));
		assert.deepEqual([site.resources('ServiceRequest'), site.resources('Practitioner')], [[], []]);
		assert.equal(only(site, 'Observation').basedOn.length, 2);
		site.apply(result(message));
		assert.equal(only(site, 'DiagnosticReport').status, 'final');
		assert.equal(only(site, 'DiagnosticReport').basedOn[0].reference, `ServiceRequest/${site.rows('ServiceRequest')[0]?.id}`);
	});
});

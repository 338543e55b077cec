import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import { interpret as interpretV2 } from '#hl7v2/interpret.ts';
import { Message } from '#hl7v2/message.ts';
import { interpret, receive } from '#hl7v3/interpret.ts';
import { fc, runs } from '#test/support/fuzzing.ts';
import { plainReading } from '#test/support/hl7v3.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import { type RegistryPatient, registryPatient, v2Message, v3Message } from '#test/support/registry-patient.ts';
import { defaultLimits } from '../../src/limits.ts';
import { plainSettings } from '../hl7v2/reading.ts';

function patientOf(text: string): JsonObject {
	const site = new MemorySite();
	site.apply(interpret(receive(Buffer.from(text), defaultLimits), plainReading));
	return site.resources('Patient')[0] ?? assert.fail('there is no patient');
}

function patientOfV2(text: string): JsonObject {
	const read = interpretV2(Message.parse(Buffer.from(text)), plainSettings);
	if (read.kind !== 'apply') return assert.fail('the message was ignored');
	const site = new MemorySite();
	site.apply(read.changeSet);
	return site.resources('Patient')[0] ?? assert.fail('there is no patient');
}

const nameUse = { '': undefined, L: 'official', P: 'nickname', OLD: 'old', ANON: 'anonymous' };
const gender = { '': undefined, F: 'female', M: 'male', UN: 'other' };

function assertIs(patient: JsonObject, expected: RegistryPatient): void {
	// biome-ignore lint/suspicious/noExplicitAny: the resource is read by path
	const found = patient as any;
	assert.deepEqual(
		found.identifier.slice(0, expected.identifiers.length).map((id: { system: string; value: string }) => [id.system, id.value]),
		expected.identifiers.map(({ root, extension }) => [`urn:oid:${root}`, extension]),
	);
	const last = found.identifier.at(-1);
	if (expected.socialSecurityNumber !== '') {
		assert.deepEqual([last.system, last.value], ['http://hl7.org/fhir/sid/us-ssn', expected.socialSecurityNumber]);
	}
	assert.deepEqual(
		found.name.map((name: JsonObject) => [name['use'], name['prefix'], name['given'], name['family'], name['suffix']]),
		expected.names.map(({ use, prefix, given, family, suffix }) => {
			return [nameUse[use], prefix === '' ? undefined : [prefix], given, family, suffix === '' ? undefined : [suffix]];
		}),
	);
	assert.equal(found.birthDate.replaceAll('-', ''), expected.birthTime.slice(0, 8));
	assert.equal(found.gender, gender[expected.gender]);
	assert.deepEqual(
		(found.address ?? []).map((address: JsonObject) => [address['line'], address['city'], address['district'], address['country']]),
		expected.addresses.map(({ lines, city, county, country }) => [lines, city, county || undefined, country || undefined]),
	);
	assert.deepEqual(
		(found.telecom ?? []).map((telecom: JsonObject) => telecom['value']),
		expected.telecoms.map(({ value }) => value),
	);
	assert.equal(found.maritalStatus?.coding[0].code, expected.maritalStatus || undefined);
	assert.equal(found.communication?.[0].language.coding[0].code, expected.language || undefined);
}

describe('registry messages', () => {
	test('a rendered patient is the patient that is ingested', () => {
		fc.assert(
			fc.property(registryPatient, (patient) => assertIs(patientOf(v3Message(patient)), patient)),
			{ numRuns: runs(300) },
		);
	});

	test('the same through ADT^A08 gives the same Patient', () => {
		fc.assert(
			fc.property(registryPatient, (patient) => assert.deepEqual(patientOf(v3Message(patient)), patientOfV2(v2Message(patient)))),
			{ numRuns: runs(300) },
		);
	});

	test('what is ingested is valid FHIR', () => {
		fc.assert(
			fc.property(registryPatient, (patient) => {
				const resource = { resourceType: 'Patient', ...patientOf(v3Message(patient)) };
				const faults = validateResource(resource);
				assert.deepEqual(faults, []);
			}),
			{ numRuns: runs(100) },
		);
	});

	test('cut or changed anywhere, a message is read or refused, and never breaks the reader', () => {
		fc.assert(
			fc.property(
				registryPatient,
				fc.nat(),
				fc.nat(),
				fc.constantFrom('', '<', '>', '"', '&', '/', '\u0000', '<x>', 'nullFlavor="UNK" '),
				(patient, at, length, by) => {
					const text = v3Message(patient);
					const start = at % text.length;
					const changed = text.slice(0, start) + by + text.slice(start + (length % 40));
					try {
						const site = new MemorySite();
						site.apply(interpret(receive(Buffer.from(changed), defaultLimits), plainReading));
					} catch (error) {
						assert.ok(error instanceof Failure, String(error));
					}
				},
			),
			{ numRuns: runs(500) },
		);
	});
});

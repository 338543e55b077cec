import type { JsonObject } from '#core/json.ts';

/** Small resources for tests of validation: valid by themselves, with members put in or taken out. */

export const terminology = 'http://terminology.hl7.org/CodeSystem';
export const coded = (system: string, code: string): JsonObject => ({ coding: [{ system, code }] });
export const code = { text: 'Heart rate' };

export const patient = (members: JsonObject = {}): JsonObject => ({ resourceType: 'Patient', ...members });
export const observation = (members: JsonObject = {}): JsonObject => ({ resourceType: 'Observation', status: 'final', code, ...members });
export const condition = (members: JsonObject = {}): JsonObject => ({
	resourceType: 'Condition',
	subject: { reference: 'Patient/p1' },
	...members,
});
export const allergy = (members: JsonObject = {}): JsonObject => ({
	resourceType: 'AllergyIntolerance',
	patient: { reference: 'Patient/p1' },
	clinicalStatus: coded(`${terminology}/allergyintolerance-clinical`, 'active'),
	...members,
});
export const document = (attachment: JsonObject): JsonObject => ({
	resourceType: 'DocumentReference',
	status: 'current',
	content: [{ attachment }],
});
export const encounter = (members: JsonObject = {}): JsonObject => ({
	resourceType: 'Encounter',
	status: 'finished',
	class: { system: `${terminology}/v3-ActCode`, code: 'AMB' },
	...members,
});
export const bundle = (type: string, ...entry: JsonObject[]): JsonObject => ({ resourceType: 'Bundle', type, entry });
export const extended = (value: JsonObject): JsonObject => patient({ extension: [{ url: 'http://example.org/e', ...value }] });
export const timed = (repeat: JsonObject): JsonObject => observation({ effectiveTiming: { repeat } });
export const narrated = (div: string): JsonObject =>
	patient({ text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${div}</div>` } });
export const mmHg = { unit: 'mmHg', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' };
export const practitioner = { resourceType: 'Practitioner', id: 'gp' };
export const without = (resource: JsonObject, ...names: string[]): JsonObject => {
	const rest = { ...resource };
	for (const name of names) delete rest[name];
	return rest;
};

export const period = (start: string, end: string) => observation({ effectivePeriod: { start, end } });
export const range = (low: JsonObject, high: JsonObject) => observation({ valueRange: { low, high } });

import { registryMessage } from '../hl7v3.ts';

/** A result with a number of its own as control id, order and value; fifty patients a sender. */
export function resultMessage(sender: string, key: string, number: number): string {
	return [
		`MSH|^~\\&|LEDGER|${sender}|||20260105103000+0000||ORU^R01^ORU_R01|${key}|P|2.5.1`,
		`PID|1||${sender}-${number % 50}^^^LEDGER^MR||Rivers^Alba||19810612|F`,
		`OBR|1||${key}|718-7^Hemoglobin^LN|||20260105101500+0000|||||||||||||||20260105102000+0000||LAB|F`,
		`OBX|1|NM|718-7^Hemoglobin^LN||${number}|g/dL|||||F|||20260105101500+0000`,
		'',
	].join('\r');
}

/** Merges two patients of a sender of results. */
export function mergeMessage(sender: string, key: string, survivor: number, prior: number): string {
	return [
		`MSH|^~\\&|LEDGER|${sender}|||20260105103000+0000||ADT^A40^ADT_A39|${key}|P|2.5.1`,
		'EVN|A40|20260105103000+0000',
		`PID|1||${sender}-${survivor}^^^LEDGER^MR||Rivers^Alba||19810612|F`,
		`MRG|${sender}-${prior}^^^LEDGER^MR`,
		'',
	].join('\r');
}

export const registryRoot = '2.25.7700770077';

/** A new patient of a registry, whose number is the key. */
export function registration(key: string, number: number): string {
	return registryMessage({
		id: `root="1.2.3.4" extension="${key}"`,
		patients: [
			`<id root="${registryRoot}" extension="${key}"/><statusCode code="active"/><patientPerson classCode="PSN" determinerCode="INSTANCE">` +
				`<name><family>Rivers</family><given>Number ${number}</given></name></patientPerson>`,
		],
	});
}

export const plainSystem = 'urn:ledger';
export const pairSystem = 'urn:ledger:pair';

export function patientNamed(key: string, number: number, system = plainSystem): object {
	return { resourceType: 'Patient', identifier: [{ system, value: key }], name: [{ family: `Number ${number}` }] };
}

/** A transaction of two: a patient and an observation about it. Neither is made anew. */
export function pair(key: string, number: number): object {
	const identifier = [{ system: pairSystem, value: key }];
	const condition = { method: 'POST', ifNoneExist: `identifier=${pairSystem}|${key}` };
	return {
		resourceType: 'Bundle',
		type: 'transaction',
		entry: [
			{
				fullUrl: 'urn:uuid:0199c0de-0000-7000-8000-000000000001',
				resource: patientNamed(key, number, pairSystem),
				request: { ...condition, url: 'Patient' },
			},
			{
				resource: {
					resourceType: 'Observation',
					identifier,
					status: 'final',
					code: { coding: [{ system: 'http://loinc.org', code: '718-7' }] },
					subject: { reference: 'urn:uuid:0199c0de-0000-7000-8000-000000000001' },
					valueInteger: number,
				},
				request: { ...condition, url: 'Observation' },
			},
		],
	};
}

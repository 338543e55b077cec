import type { Extension } from '#fhir/datatypes.ts';
import { ethnicityExtensions, ethnicityUrl, raceExtensions, raceUrl } from '#fhir/mapping/categories.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import type { Zone } from '#fhir/mapping/local-zone.ts';
import { patientExtensionUrls } from '#fhir/mapping/patient.ts';
import type { ResourcePatch } from '#record/resource-patch.ts';
import type { Segment } from '../message.ts';
import { codeableConcept, codeableConcepts } from './datatypes/cwe.ts';
import { humanName } from './datatypes/xpn.ts';

type Read = (pid: Segment, field: number, url: string, zone: Zone) => Extension[];

/** PID fields that FHIR R4 holds as extensions of Patient. */
const fields: readonly { field: number; url: string; read: Read }[] = [
	{ field: 6, url: patientExtensionUrls.mothersMaidenName, read: mothersMaidenName },
	{ field: 10, url: raceUrl, read: (pid, field) => raceExtensions(codeableConcepts(pid, field) ?? []) },
	{ field: 17, url: patientExtensionUrls.religion, read: religion },
	{ field: 22, url: ethnicityUrl, read: (pid, field) => ethnicityExtensions(codeableConcepts(pid, field) ?? []) },
	{ field: 23, url: patientExtensionUrls.birthPlace, read: birthPlace },
	{ field: 26, url: patientExtensionUrls.citizenship, read: withCode },
	{ field: 28, url: patientExtensionUrls.nationality, read: withCode },
];

export function patientExtensions(pid: Segment, zone: Zone): ResourcePatch['parts'][string] | undefined {
	let parts: ResourcePatch['parts'][string] | undefined;
	for (const { field, url, read } of fields) {
		if (!pid.isPresent(field)) continue;
		const list = pid.isNull(field) ? null : read(pid, field, url, zone);
		if (list !== null && list.length === 0) continue;
		parts ??= {};
		parts[url] = list;
	}
	return parts;
}

/** The extension holds a string: the surname, else the whole name. */
function mothersMaidenName(pid: Segment, field: number, url: string, zone: Zone): Extension[] {
	const name = humanName(pid, field, 0, zone);
	const valueString = name?.family ?? name?.text;
	return valueString === undefined ? [] : [{ url, valueString }];
}

function religion(pid: Segment, field: number, url: string): Extension[] {
	const concept = codeableConcept(pid, field, 0, v2Table('0006'));
	return concept === undefined ? [] : [{ url, valueCodeableConcept: concept }];
}

function birthPlace(pid: Segment, field: number, url: string): Extension[] {
	const text = pid.text(field).trim();
	return text === '' ? [] : [{ url, valueAddress: { text } }];
}

function withCode(pid: Segment, field: number, url: string): Extension[] {
	const concepts = codeableConcepts(pid, field) ?? [];
	return concepts.map((concept) => ({ url, extension: [{ url: 'code', valueCodeableConcept: concept }] }));
}

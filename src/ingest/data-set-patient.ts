import type { Json } from '#core/json.ts';
import { authoritySystem, namedAuthority } from '#fhir/mapping/authority.ts';
import type { InstancePatient } from '#record/instance.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import { representation } from '#record/name-representation.ts';
import type { Identifier } from '#record/resource-patch.ts';

/** Returns the patient whom a data set identifies, under ref 0. */
export function namedPatient(patient: InstancePatient | undefined, defaultAuthority: string | undefined): PatientChange | undefined {
	return patient?.id === undefined || patient.id === '' ? undefined : patientChange(patient, patient.id, defaultAuthority);
}

function patientChange(patient: InstancePatient, id: string, defaultAuthority: string | undefined): PatientChange {
	const { issuer, universalIssuer: universal } = patient;
	const stated = universal === undefined ? authoritySystem('', issuer ?? '', '') : authoritySystem('', universal.id, universal.type);
	const named = universal && namedAuthority(issuer === universal.id ? '' : (issuer ?? ''), universal.id, universal.type);
	const system = stated === '' ? defaultAuthority : stated;
	const identifier: Identifier = { ...(system === undefined ? {} : { system }), value: id };
	const elements: Record<string, Json> = {};
	const names = namesOf(patient);
	if (names.length > 0) elements['name'] = names;
	if (patient.birthDate !== undefined) elements['birthDate'] = patient.birthDate;
	if (patient.gender !== undefined) elements['gender'] = patient.gender;
	return {
		kind: 'patient',
		ref: 0,
		identifiers: [identifier],
		patch: { elements, parts: { identifier: { 'PID-3': [identifier] } } },
		known: 'keep',
		sequence: 1,
		expression: 'Patient ID',
		...(named && { authorities: [named] }),
		...(defaultAuthority !== undefined && { authority: defaultAuthority }),
	};
}

/** A name for each component group; the ideographic and the phonetic one say which they are. */
function namesOf({ name }: InstancePatient): Json[] {
	if (name === undefined) return [];
	const { family, given, middle, prefix, suffix, ideographic, phonetic } = name;
	const alphabetic = humanName([family, given, middle, prefix, suffix]);
	const others = [
		{ written: 'IDE', group: ideographic },
		{ written: 'SYL', group: phonetic },
	] as const;
	const names = others.flatMap(({ written, group }) => {
		const human = humanName(group.split('^'));
		return human === undefined ? [] : [{ ...representation(written), ...human }];
	});
	if (alphabetic === undefined) return names;
	return [names.length === 0 ? alphabetic : { ...representation('ABC'), ...alphabetic }, ...names];
}

function humanName([family = '', given = '', middle = '', prefix = '', suffix = '']: readonly string[]): Record<string, Json> | undefined {
	const parts = { given: [given, middle], prefix: [prefix], suffix: [suffix] };
	const human: Record<string, Json> = family === '' ? {} : { family };
	for (const [part, texts] of Object.entries(parts)) {
		const filled = texts.filter((text) => text !== '');
		if (filled.length > 0) human[part] = filled;
	}
	return Object.keys(human).length === 0 ? undefined : human;
}

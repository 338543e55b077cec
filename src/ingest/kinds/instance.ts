import { Failure } from '#core/failure.ts';
import type { Json } from '#core/json.ts';
import { authoritySystem, namedAuthority } from '#fhir/mapping/authority.ts';
import { offsetAt, senderZone } from '#fhir/mapping/local-zone.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { InstanceDelivery } from '#record/delivery.ts';
import type { IndexAnswer, IndexOutcome, InstancePatient, StoredInstance } from '#record/instance.ts';
import { unpackInstance } from '#record/instance-bytes.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import { representation } from '#record/name-representation.ts';
import type { Identifier } from '#record/resource-patch.ts';
import { type Settings, settingOf } from '#record/settings/settings.ts';
import type { Interpretation } from '../interpretation.ts';
import { defineDelivery, type InterpretContext } from './definition.ts';

/** An instance that lies in the object store, or is placed there on the way. */
export const instance = defineDelivery<'instance'>({ kind: 'instance', interpret });

function interpret(delivery: InstanceDelivery, { placeObject, hostTimeZone }: InterpretContext): Interpretation<IndexAnswer> {
	const { instance: stored, json, object } = unpackInstance(delivery.bytes);
	return {
		...(object && { place: () => placeObject(stored.objectKey, object) }),
		logAs: json,
		messageType: 'C-STORE',
		controlId: '',
		verdict: delivery.withheld
			? { kind: 'refuse', failure: new Failure('internal', 'the instance could not be indexed') }
			: { kind: 'apply', changeSet: changeSetOf(withOffsets(stored, delivery.settings, hostTimeZone), delivery.settings) },
		// An instance is in the index; the log keeps only refusals.
		logged: 'refused',
		answer: (_outcome, failure, { instances }) => answerOf(failure, instances[0]),
	};
}

function answerOf(failure: Failure | undefined, outcome: IndexOutcome | undefined): IndexAnswer {
	if (outcome) return outcome;
	const { code, diagnostics } = failure ?? new Failure('internal', 'the instance could not be indexed');
	return { kind: 'failed', failure: { code, diagnostics } };
}

/** Matches the patient by issuer and id and creates a new one. A known patient keeps the data from HL7. */
function changeSetOf(stored: StoredInstance, settings: Settings): ChangeSet {
	const named = namedPatient(stored, settings.default_authority);
	const otherPatient = settingOf(settings, 'other_patient');
	return { changes: [{ kind: 'instance', named, instance: stored, otherPatient }], flags: [] };
}

/**
 * Adds the offsets of local times: that of the data set, else that of the sender's zone. The local times stay as they are, because queries
 * compare those.
 */
export function withOffsets(stored: StoredInstance, settings: Settings, hostTimeZone: string): StoredInstance {
	const { attributes } = stored;
	const { study, series, timezoneOffset: stated } = attributes;
	const { name } = senderZone(settings, hostTimeZone);
	const offset = (started: string | undefined) => (started?.includes('T') ? (stated ?? offsetAt(name, started)) : undefined);
	const startedOffset = offset(study.started);
	const startedZone = startedOffset === undefined || stated !== undefined ? undefined : name;
	return {
		...stored,
		attributes: {
			...attributes,
			study: { ...study, startedOffset, startedZone },
			series: { ...series, startedOffset: offset(series.started) },
		},
	};
}

/** Returns the patient whom the data set identifies, under ref 0. */
export function namedPatient({ attributes }: StoredInstance, defaultAuthority: string | undefined): PatientChange | undefined {
	const { patient } = attributes;
	return patient.id === undefined || patient.id === '' ? undefined : patientChange(patient, patient.id, defaultAuthority);
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

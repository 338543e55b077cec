import { Failure } from '#core/failure.ts';
import { offsetAt, senderZone } from '#fhir/mapping/local-zone.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { InstanceDelivery, Placing } from '#record/delivery.ts';
import type { IndexAnswer, IndexOutcome, StoredInstance } from '#record/instance.ts';
import { unpackInstance } from '#record/instance-bytes.ts';
import { type Settings, settingOf } from '#record/settings/settings.ts';
import { namedPatient } from '../data-set-patient.ts';
import type { Interpretation } from '../interpretation.ts';
import { withheldBy } from '../withheld.ts';
import { defineDelivery, type InterpretContext } from './definition.ts';

/** An instance that lies in the object store, or is placed there on the way. */
export const instance = defineDelivery<'instance'>({ kind: 'instance', interpret, isForeseen: true });

function interpret(delivery: InstanceDelivery, { placeObject, isDurable, hostTimeZone }: InterpretContext): Interpretation<IndexAnswer> {
	const { instance: received, json, object } = unpackInstance(delivery.bytes);
	// Nothing is read of an instance that is withheld: that may be what failed.
	const withheld = withheldBy(delivery, 'the instance could not be indexed');
	const stored = withheld ? received : withOffsets(received, delivery.settings, hostTimeZone);
	const { placing } = delivery;
	let isUnplaced = false;
	const place = (whole: Uint8Array) => {
		const { key, durable } = placeObject(stored, whole);
		stored.objectKey = key;
		return durable;
	};
	const expect = async (placed: Placing) => {
		isUnplaced = !(await isDurable(placed));
		if (isUnplaced) throw new Failure('unavailable', 'the object was not durable in time');
	};
	return {
		...(object && { place: () => place(object) }),
		...(placing && { place: () => expect(placing) }),
		logAs: json,
		messageType: 'C-STORE',
		controlId: '',
		verdict: withheld ? { kind: 'refuse', failure: withheld } : { kind: 'apply', changeSet: changeSetOf(stored, delivery.settings) },
		// An instance is in the index; the log keeps only refusals.
		get logged() {
			// The sender's thread knows what became of the object, and asks again or refuses it.
			return isUnplaced ? 'never' : 'refused';
		},
		answer: (_outcome, failure, { instances }) => ({
			...(isUnplaced ? { kind: 'unplaced' } : answerOf(failure, instances[0])),
			...(stored.objectKey !== received.objectKey && { placed: stored.objectKey }),
		}),
	};
}

function answerOf(failure: Failure | undefined, outcome: IndexOutcome | undefined): IndexAnswer {
	if (outcome) return outcome;
	const { code, diagnostics } = failure ?? new Failure('internal', 'the instance could not be indexed');
	return { kind: 'failed', failure: { code, diagnostics } };
}

/** Matches the patient by issuer and id and creates a new one. A known patient keeps the data from HL7. */
function changeSetOf(stored: StoredInstance, settings: Settings): ChangeSet {
	const named = namedPatient(stored.attributes.patient, settings.default_authority);
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
	const { name, isAssumed } = senderZone(settings, hostTimeZone);
	const offset = (started: string | undefined) => (started?.includes('T') ? (stated ?? offsetAt(name, started)) : undefined);
	const startedOffset = offset(study.started);
	const startedZone = startedOffset === undefined || stated !== undefined ? undefined : name;
	return {
		...stored,
		attributes: {
			...attributes,
			study: { ...study, startedOffset, startedZone, assumedZone: isAssumed ? startedZone : undefined },
			series: { ...series, startedOffset: offset(series.started) },
		},
	};
}

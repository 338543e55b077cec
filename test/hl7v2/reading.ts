import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import { interpret } from '#hl7v2/interpret.ts';
import { Message } from '#hl7v2/message.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { EncounterChange } from '#record/kinds/encounter.ts';
import type { Change } from '#record/kinds/index.ts';
import type { ItemChange } from '#record/kinds/item.ts';
import type { ObservationChange } from '#record/kinds/observation.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import type { ResourcePatch } from '#record/resource-patch.ts';
import type { Settings } from '#record/settings/settings.ts';

/** Segments, one a line. */
export function message(...segments: string[]): Message {
	return Message.parse(Buffer.from(segments.join('\r'), 'utf8'));
}

/** An MSH of the given type; `extra` follows MSH-12. */
export function header(type: string, time = '20240102030405+0100'): string {
	return `MSH|^~\\&|LAB|HOSP|TRIB|SITE|${time}||${type}|MSG1|P|2.5.1`;
}

/** The segments behind an MSH of the given type, interpreted. Throws what `interpret` throws. */
/** The settings of a sender about whom nothing else matters. */
export const plainSettings: Settings = { time_zone: 'UTC' };

export function read(type: string, segments: string[], settings: Settings = {}): ChangeSet {
	const result = interpret(message(header(type), ...segments), { ...plainSettings, ...settings });
	if (result.kind !== 'apply') throw new Error('the message was ignored');
	return result.changeSet;
}

export function failureOf(action: () => unknown): Failure {
	try {
		action();
	} catch (error) {
		if (error instanceof Failure) return error;
		throw error;
	}
	throw new Error('nothing was refused');
}

function only<K extends Change['kind']>(set: ChangeSet, kind: K): Extract<Change, { kind: K }>[] {
	return set.changes.filter((change): change is Extract<Change, { kind: K }> => change.kind === kind);
}

export function patients(set: ChangeSet): PatientChange[] {
	return only(set, 'patient');
}

export function encounters(set: ChangeSet): EncounterChange[] {
	return only(set, 'encounter');
}

export function observations(set: ChangeSet): ObservationChange[] {
	return only(set, 'observation');
}

export function items(set: ChangeSet): ItemChange[] {
	return only(set, 'item');
}

/** The item of a single segment in an ADT^A08, and what was flagged. */
export function stated(id: string, values: Record<number, string>): { change: ItemChange | undefined; flags: string[] } {
	const set = read('ADT^A08', ['PID|1||100', fieldsOf(id, { 1: '1', ...values })]);
	return { change: stored(items(set))[0], flags: set.flags.map(({ code, text }) => `${code}: ${text}`) };
}

/** As it is stored: raw numbers become numbers. */
export function stored<T>(value: T): T {
	return JSON.parse(JSON.stringify(value)) as T;
}

/** The patch of a PID in an ADT^A08. */
export function pidPatch(pid: string, settings: Settings = {}): ResourcePatch {
	const [patient] = patients(read('ADT^A08', [pid], settings));
	if (patient === undefined) throw new Error('no patient');
	return stored(patient.patch);
}

/** A PID with an identifier and one more field. */
export function pidWith(field: number, value: string): string {
	const fields = ['PID', '1', '', '100', ...new Array<string>(Math.max(0, field - 3)).fill('')];
	fields[field] = value;
	return fields.join('|');
}

export function fieldsOf(id: string, values: Record<number, string>): string {
	const last = Math.max(...Object.keys(values).map(Number));
	const fields = [id];
	for (let field = 1; field <= last; field++) fields.push(values[field] ?? '');
	return fields.join('|');
}

/** The resource of a single OBX in a single order. */
export function observe(obx: Record<number, string>, obr = 'OBR|1|P1|F1|PANEL^Panel^L'): JsonObject {
	const set = read('ORU^R01', ['PID|1||100', obr, fieldsOf('OBX', { 1: '1', 3: 'K^Potassium^L', 11: 'F', ...obx })]);
	const [change] = observations(set);
	if (change === undefined) throw new Error('no observation');
	return stored(change.resource);
}

import { endsBeforeStart } from '#core/date-range.ts';
import { canonical, type Json, type JsonObject } from '#core/json.ts';
import { statedReference } from './person-or-place.ts';
import type { ResourcePatch } from './resource-patch.ts';

/** An event says one of these of a visit: A01 and A04, A02, A03, A11, A13. */
export type VisitAct = 'admit' | 'transfer' | 'discharge' | 'cancel' | 'reopen';

const ended: ReadonlySet<unknown> = new Set(['finished', 'cancelled', 'entered-in-error']);

export function hasEnded(status: unknown): boolean {
	return ended.has(status);
}

interface Event {
	act?: VisitAct;
	patch: ResourcePatch;
}

/**
 * Returns what an event changes of a visit; undefined when it came too late to change anything. Only a cancelled discharge (A13) opens a visit
 * that has ended, or an admission (A01) that begins after its end: some senders use one number for several stays. Nothing but such an
 * admission brings a cancelled visit back.
 */
export function patchOf({ act, patch }: Event, visit: JsonObject): ResourcePatch | undefined {
	const { status } = visit;
	const isCancelled = hasEnded(status) && status !== 'finished';
	if (act === 'admit' && hasEnded(status) && patch.elements['status'] !== status) return newStay(patch, visit);
	if (act === 'transfer' && hasEnded(status)) return undefined;
	if ((act === 'discharge' || act === 'reopen') && isCancelled) return undefined;
	if (act === 'transfer') return transferred(patch, visit);
	if (act !== undefined || !isCancelled || patch.elements['status'] === undefined) return patch;
	const { status: _status, ...elements } = patch.elements;
	return { ...patch, elements };
}

interface Stay {
	act?: VisitAct;
	admitted?: string | undefined;
	patch: ResourcePatch;
}

/**
 * Tells whether an event with a visit number may be about an open visit that has none. It is not if the two state different times of
 * admission, if it ended before that visit began, or if it admits the patient after that visit was last heard of, or to another class.
 */
export function isSameStay({ act, admitted, patch }: Stay, visit: JsonObject, heardOf: string): boolean {
	const { start } = (visit['period'] ?? {}) as { start?: string };
	const end = patch.elements['period.end'];
	if (start !== undefined && typeof end === 'string' && endsBeforeStart(start, end)) return false;
	if (start !== undefined && admitted !== undefined) return !endsBeforeStart(start, admitted) && !endsBeforeStart(admitted, start);
	if (act !== 'admit') return true;
	if (admitted !== undefined && endsBeforeStart(admitted, heardOf)) return false;
	const stated = patch.elements['class'];
	return stated === undefined || stated === null || canonical(stated) === canonical(visit['class'] ?? null);
}

function newStay(patch: ResourcePatch, visit: JsonObject): ResourcePatch | undefined {
	const { start, end } = (visit['period'] ?? {}) as { start?: string; end?: string };
	const last = end ?? start;
	const begins = patch.elements['period.start'];
	if (last === undefined || typeof begins !== 'string' || !endsBeforeStart(begins, last)) return undefined;
	return { ...patch, elements: { 'period.end': null, 'hospitalization.dischargeDisposition': null, ...patch.elements } };
}

/** A transfer that does not name the former location (PV1-6) leaves the one that is known, which is completed. */
function transferred(patch: ResourcePatch, visit: JsonObject): ResourcePatch {
	const next = patch.elements['location'];
	const held = visit['location'];
	if (!isList(next) || !isList(held) || next.length !== 1) return patch;
	const now = placeOf(next[0]);
	if (held.some((item) => placeOf(item) === now && item['status'] === 'active')) {
		const { location: _location, ...elements } = patch.elements;
		return { ...patch, elements };
	}
	const former = held.map((item): JsonObject => (item['status'] === 'active' ? { ...item, status: 'completed' } : item));
	const left = former.filter((item, index) => former.findIndex((other) => placeOf(other) === placeOf(item)) === index);
	return { ...patch, elements: { ...patch.elements, location: [...next, ...left] } };
}

function isList(value: Json | undefined): value is JsonObject[] {
	return Array.isArray(value);
}

/** A place is the same whether or not the reference leads to a resource. */
function placeOf(item: JsonObject | undefined): string {
	return canonical(statedReference((item?.['location'] ?? {}) as JsonObject));
}

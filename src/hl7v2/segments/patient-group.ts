import type { ItemChange } from '#record/kinds/item.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import type { ResourcePatch } from '#record/resource-patch.ts';
import type { Message, Segment } from '../message.ts';
import { allergyChange } from './al1.ts';
import type { Context } from './context.ts';
import { diagnosisChange, diagnosisRank } from './dg1.ts';
import type { ItemOwner } from './item.ts';
import { contacts } from './nk1.ts';
import { generalPractitioners, pd1Extensions } from './pd1.ts';
import { procedureChange } from './pr1.ts';

const ids = ['PD1', 'NK1', 'AL1', 'DG1', 'PR1'] as const;

/** The segments about one patient beside PID and PV1, by segment id, wherever they are. */
export type PatientGroup = Partial<Record<(typeof ids)[number], Segment[]>>;

const nothing: PatientGroup = {};

/** Collects the segments of a message about one patient. Segments after a second PID belong to that one and are left out. */
export function patientGroup(message: Message): PatientGroup {
	let group = nothing;
	for (const id of ids) {
		if (message.first(id) === undefined) continue;
		const end = message.all('PID')[1]?.index ?? Number.POSITIVE_INFINITY;
		const segments = message.all(id).filter(({ index }) => index < end);
		if (segments.length > 0) group = { ...group, [id]: segments };
	}
	return group;
}

/** Adds the facts of PD1 (the first of them) and NK1 to the patient. */
export function addDemographics({ patch }: PatientChange, { PD1, NK1 }: PatientGroup, context: Context): void {
	const pd1 = PD1?.[0];
	if (pd1) {
		addParts(patch, 'generalPractitioner', generalPractitioners(pd1, context));
		addParts(patch, 'extension', pd1Extensions(pd1));
	}
	const contact = NK1 && contacts(NK1, context);
	if (contact !== undefined) addParts(patch, 'contact', { NK1: contact });
}

function addParts({ parts }: ResourcePatch, element: string, more: ResourcePatch['parts'][string] | undefined): void {
	if (more) parts[element] = { ...parts[element], ...more };
}

/** Returns the changes that AL1, DG1 and PR1 state: one for each item, even if several segments state it. */
export function itemChanges(group: PatientGroup, owner: ItemOwner, context: Context): ItemChange[] {
	if (group === nothing) return [];
	const { AL1 = [], DG1 = [], PR1 = [] } = group;
	const stated = [
		...AL1.map((al1) => allergyChange(al1, owner.patient, context)),
		...DG1.toSorted((left, right) => diagnosisRank(left) - diagnosisRank(right)).map((dg1) => diagnosisChange(dg1, owner, context)),
		...PR1.map((pr1) => procedureChange(pr1, owner, context)),
	];
	const byKey = new Map<string, ItemChange[]>();
	for (const change of stated) {
		if (change === undefined) continue;
		const key = `${change.resourceType} ${change.item}`;
		const same = byKey.get(key);
		if (same === undefined) byKey.set(key, [change]);
		else same.push(change);
	}
	return [...byKey.values()].map(joined);
}

/**
 * Joins segments about the same item: later fields win, and reactions to one allergen are combined. An item that one segment withdraws and
 * a later
 * one states is stated.
 */
function joined(changes: readonly ItemChange[]): ItemChange {
	const last = changes.at(-1);
	if (last === undefined) throw new Error('nothing to join');
	if (changes.length === 1 || last.unknown === 'ignore') return last;
	const stated = changes.filter(({ unknown }) => unknown === 'create');
	const patch: ResourcePatch = { elements: {}, parts: {} };
	for (const { patch: more } of stated) {
		Object.assign(patch.elements, more.elements);
		for (const element in more.parts) addParts(patch, element, more.parts[element]);
	}
	const reactions = stated.flatMap(({ patch: { elements } }) => elements['reaction'] ?? []);
	if (reactions.length > 1) patch.elements['reaction'] = distinct(reactions);
	return { ...last, patch };
}

function distinct<T>(values: readonly T[]): T[] {
	return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

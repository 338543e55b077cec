import type { Json, JsonObject } from '#core/json.ts';
import type { Coding } from '#fhir/datatypes.ts';
import { codingSystem, v2Table } from '#fhir/mapping/coding-system.ts';
import { minutesLater, toInstant } from '#fhir/mapping/timestamp.ts';
import type { ItemChange } from '#record/kinds/item.ts';
import type { ResourcePatch } from '#record/resource-patch.ts';
import type { Segment } from '../message.ts';
import { setChoice } from './choice.ts';
import { type Context, nameOf } from './context.ts';
import { codeableConcept, codeableConcepts } from './datatypes/cwe.ts';
import { type EntityIdentifier, typedIdentifier, uncheckedIdentifier } from './datatypes/ei.ts';
import { location } from './datatypes/pl.ts';
import { practitioners } from './datatypes/xcn.ts';
import { describedCode, type ItemOwner, isWithdrawn, itemKey } from './item.ts';
import { replace } from './pid.ts';

const withdrawal: ResourcePatch = { elements: { status: 'entered-in-error' }, parts: {} };

/**
 * Converts PR1 (v2.5.1 §6.5.4) to Procedure, as a snapshot. Undefined, and flagged, when it has neither an identifier nor a description.
 * The same
 * procedure at two times is two procedures.
 */
export function procedureChange(pr1: Segment, { patient, encounter }: ItemOwner, context: Context): ItemChange | undefined {
	const identifier = uncheckedIdentifier(pr1, 19);
	const coded = codeableConcept(pr1, 3, 0, codingSystem(pr1.text(2)));
	// PR1-4 was withdrawn in favour of the original text of PR1-3.
	const description = pr1.text(3, 9).trim() === '' ? pr1.whole(4).trim() : '';
	const described = describedCode(pr1, 3, coded, description);
	const time = pr1.isPresent(5) ? context.time(pr1, 5) : undefined;
	const item = itemKey(identifier, described.concept, time);
	if (item === undefined) {
		context.flag('segment-skipped', `${nameOf(pr1)} names no procedure (PR1-3, PR1-4 or PR1-19) and was left out`);
		return undefined;
	}
	const target = { kind: 'item', resourceType: 'Procedure', patient, item, ...(encounter === undefined ? {} : { encounter }) } as const;
	if (isWithdrawn(pr1, 20, context)) return { ...target, patch: withdrawal, unknown: 'ignore' };
	const patch = procedurePatch(pr1, described.elements, time, context);
	return { ...target, patch, initial: initialOf(identifier), unknown: 'create' };
}

/** A message about a patient's stay states procedures. The identifier identifies the procedure. */
function initialOf(identifier: EntityIdentifier | undefined): ResourcePatch {
	const numbers = identifier === undefined ? {} : { identifier: [typedIdentifier(identifier)] };
	return { elements: { ...numbers, status: 'completed' }, parts: {} };
}

function procedurePatch(pr1: Segment, code: Record<string, Json>, time: string | undefined, context: Context): ResourcePatch {
	const elements: Record<string, Json> = { ...code };
	if (pr1.isNull(5)) setChoice(elements, 'performed', 'DateTime', null);
	else if (time !== undefined) performed(elements, pr1, time, context);
	replace(elements, 'category', pr1, 6, () => codeableConcept(pr1, 6, 0, v2Table('0230')));
	replace(elements, 'reasonCode', pr1, 15, () => codeableConcepts(pr1, 15));
	replace(elements, 'location', pr1, 23, () => location(pr1, 23, context));
	replace(elements, 'partOf', pr1, 25, () => parent(pr1));
	const performer = performers(pr1, context);
	return { elements, parts: performer ? { performer } : {} };
}

/** PR1-7, the duration in minutes, makes a period of a time that is precise to the minute (v2-to-FHIR). */
function performed(elements: Record<string, Json>, pr1: Segment, time: string, context: Context): void {
	const start = toInstant(pr1.text(5), context.zone);
	const minutes = duration(pr1, context);
	const end = start === undefined || minutes === undefined ? undefined : minutesLater(start, minutes);
	if (start === undefined || end === undefined) setChoice(elements, 'performed', 'DateTime', time);
	else setChoice(elements, 'performed', 'Period', { start, end });
}

const minutesPattern = /^\+?\d{1,6}(?:\.\d{1,6})?$/;

function duration(pr1: Segment, context: Context): number | undefined {
	const text = pr1.text(7).trim();
	if (text === '') return undefined;
	if (minutesPattern.test(text)) return Number(text);
	context.unreadable(pr1, 7, 'is not a number of minutes and was left out');
	return undefined;
}

function parent(pr1: Segment): JsonObject[] | undefined {
	const identifier = uncheckedIdentifier(pr1, 25);
	return identifier === undefined ? undefined : [{ type: 'Procedure', identifier: typedIdentifier(identifier) }];
}

const snomed = 'http://snomed.info/sct';
/** PR1-12 does not state the role of the practitioner. */
const functions: readonly { field: number; part: string; coding?: Coding }[] = [
	{ field: 11, part: '304292004', coding: { system: snomed, code: '304292004', display: 'Surgeon' } },
	{ field: 8, part: '88189002', coding: { system: snomed, code: '88189002', display: 'Anesthesiologist' } },
	{ field: 12, part: '' },
];

function performers(pr1: Segment, context: Context): ResourcePatch['parts'][string] | undefined {
	let parts: ResourcePatch['parts'][string] | undefined;
	for (const { field, part, coding } of functions) {
		if (!pr1.isPresent(field)) continue;
		const people = practitioners(pr1, field, context);
		if (people.length === 0 && !pr1.isNull(field)) continue;
		const role = coding === undefined ? {} : { function: { coding: [coding] } };
		parts ??= {};
		parts[part] = people.length === 0 ? null : people.map((actor) => ({ ...role, actor }));
	}
	return parts;
}

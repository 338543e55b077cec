import { authoritySystem, namedAuthority } from '#fhir/mapping/authority.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import { periodOf } from '#fhir/mapping/period.ts';
import { codeText } from '#fhir/mapping/text.ts';
import { toDate } from '#fhir/mapping/timestamp.ts';
import type { StatedAuthority } from '#record/identity/learn.ts';
import type { Identifier } from '#record/resource-patch.ts';
import type { Segment } from '../../message.ts';
import { checkedKey } from '../context.ts';

const identifierTypes = v2Table('0203');

/**
 * Converts CX (v2.5.1 §2.A.14) to Identifier; undefined without CX-1. CX-2/3 check digits are not kept, because the digit is part of CX-1.
 * `authority` is the system of an identifier that names none.
 */
export function identifier(segment: Segment, field: number, repetition = 0, authority?: string, type?: string): Identifier | undefined {
	const value = segment.text(field, 1, repetition).trim();
	if (value === '') return undefined;
	checkedKey(value, segment, field);
	const namespace = segment.text(field, 4, repetition, 1);
	const universalId = segment.text(field, 4, repetition, 2);
	const system = authoritySystem(namespace, universalId, segment.text(field, 4, repetition, 3)) || authority || '';
	checkedKey(system, segment, field);
	const code = codeText(segment.text(field, 5, repetition)) || type || '';
	const result: Identifier = { value };
	if (code !== '') result['type'] = { coding: [{ system: identifierTypes, code }] };
	if (system !== '') result['system'] = system;
	if (segment.components(field, repetition) > 5) addPeriod(result, segment, field, repetition);
	const assigner = segment.text(field, 6, repetition) || (universalId === '' ? '' : namespace);
	if (assigner !== '') result['assigner'] = { display: assigner };
	return result;
}

/** CX-7 and CX-8 are dates. */
function addPeriod(result: Identifier, segment: Segment, field: number, repetition: number): void {
	const start = toDate(segment.text(field, 7, repetition));
	const end = toDate(segment.text(field, 8, repetition));
	const period = periodOf(start, end);
	if (period) result['period'] = period;
}

/** Every repetition that has an identifier, in order. */
export function identifiers(segment: Segment, field: number, authority?: string, type?: string): Identifier[] {
	const found: Identifier[] = [];
	const repetitions = segment.repetitions(field);
	for (let repetition = 0; repetition < repetitions; repetition++) {
		const item = identifier(segment, field, repetition, authority, type);
		if (item) found.push(item);
	}
	return found;
}

/** Returns the assigning authorities that a field states with a namespace and a universal id; undefined when there are none. */
export function statedAuthorities(segment: Segment, field: number): StatedAuthority[] | undefined {
	let found: StatedAuthority[] | undefined;
	const repetitions = segment.repetitions(field);
	for (let repetition = 0; repetition < repetitions; repetition++) {
		const universalId = segment.text(field, 4, repetition, 2);
		if (universalId === '' || segment.text(field, 1, repetition).trim() === '') continue;
		const stated = namedAuthority(segment.text(field, 4, repetition, 1), universalId, segment.text(field, 4, repetition, 3));
		if (stated === undefined) continue;
		found ??= [];
		found.push(stated);
	}
	return found;
}

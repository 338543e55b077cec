import type { Identifier } from '#fhir/datatypes.ts';
import { authoritySystem } from '#fhir/mapping/authority.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import type { Segment } from '../../message.ts';
import { checkedKey } from '../context.ts';

export interface EntityIdentifier {
	system: string;
	value: string;
}

/**
 * EI (v2.5.1 §2.A.28): value and the authority's system, '' when it names none. Undefined without EI-1.
 * @throws Failure `value-too-long`
 */
export function entityIdentifier(segment: Segment, field: number, repetition = 0): EntityIdentifier | undefined {
	const read = uncheckedIdentifier(segment, field, repetition);
	return read && { system: checkedKey(read.system, segment, field), value: checkedKey(read.value, segment, field) };
}

/** Reads an EI of any length that is not used as a key. */
export function uncheckedIdentifier(segment: Segment, field: number, repetition = 0): EntityIdentifier | undefined {
	const value = segment.text(field, 1, repetition).trim();
	if (value === '') return undefined;
	const system = authoritySystem(
		segment.text(field, 2, repetition),
		segment.text(field, 3, repetition),
		segment.text(field, 4, repetition),
	);
	return { system, value };
}

const identifierTypes = v2Table('0203');

/** Builds a FHIR Identifier with a type of table 0203 such as PLAC or FILL. */
export function typedIdentifier({ system, value }: EntityIdentifier, type?: string): Identifier {
	const result: Identifier = {};
	if (type !== undefined) result.type = { coding: [{ system: identifierTypes, code: type }] };
	if (system !== '') result.system = system;
	result.value = value;
	return result;
}

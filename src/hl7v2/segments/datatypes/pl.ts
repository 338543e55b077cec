import type { Reference } from '#fhir/datatypes.ts';
import type { Segment } from '../../message.ts';

/** Point of care, room, bed, facility, building, floor: from the ward outwards, as staff describe a place. */
const parts = [1, 2, 3, 4, 7, 8];

/** PL (v2.5.1 §2.A.53) as a reference by name: locations have no resource of their own here. PL-9 is a description. */
export function location(segment: Segment, field: number): Reference | undefined {
	const named = parts.map((part) => segment.text(field, part).trim()).filter((part) => part !== '');
	const display = named.length > 0 ? named.join(', ') : segment.text(field, 9).trim();
	return display === '' ? undefined : { type: 'Location', display };
}

import type { Coding, Identifier, Reference } from '#fhir/datatypes.ts';
import { authoritySystem } from '#fhir/mapping/authority.ts';
import type { Mentions } from '#fhir/mapping/mentions.ts';
import type { Segment } from '../../message.ts';
import { type Context, nameOf } from '../context.ts';
import { namedEntity } from './hd.ts';

/** Point of care, room, bed, facility, building, floor: from the ward outwards, as staff describe a place. */
const parts = [1, 2, 3, 4, 7, 8];

/**
 * PL (v2.5.1 §2.A.53) as a reference by name. Whether it leads to a Location is decided when the message is applied, if its sender's setting
 * says so. PL-9 is a description.
 */
export function location(segment: Segment, field: number, { mentions }: Context): Reference | undefined {
	const named = parts.map((part) => segment.text(field, part).trim()).filter((part) => part !== '');
	const display = named.length > 0 ? named.join(', ') : segment.text(field, 9).trim();
	if (display === '') return undefined;
	const reference: Reference = { type: 'Location', display };
	if (mentions !== undefined) mention(mentions, segment, field, reference);
	return reference;
}

const physicalTypes = 'http://terminology.hl7.org/CodeSystem/location-physical-type';

/** The levels of a place from the largest to the smallest, in the order of the v2-to-FHIR guide, with their physical types. */
const levels: readonly { component: number; type: Coding }[] = [
	{ component: 4, type: { system: physicalTypes, code: 'si', display: 'Site' } },
	{ component: 7, type: { system: physicalTypes, code: 'bu', display: 'Building' } },
	{ component: 1, type: { system: physicalTypes, code: 'wa', display: 'Ward' } },
	{ component: 8, type: { system: physicalTypes, code: 'lvl', display: 'Level' } },
	{ component: 2, type: { system: physicalTypes, code: 'ro', display: 'Room' } },
	{ component: 3, type: { system: physicalTypes, code: 'bd', display: 'Bed' } },
];

/**
 * Mentions a place and those of which it is a part. The facility is known by its own name. Any other place is known by the components that
 * name it, as HL7 v2 writes them (`3W^101^2`), within the authority of PL-10, else of the facility; and by PL-11 if the message states that.
 */
function mention(mentions: Mentions, segment: Segment, field: number, reference: Reference): void {
	const text = (component: number, subcomponent = 1) => segment.text(field, component, 0, subcomponent).trim();
	const at = `${nameOf(segment)}-${field}`;
	const system = authoritySystem(text(10), text(10, 2), text(10, 3)) || authoritySystem(text(4), text(4, 2), text(4, 3));
	const stated = levels.filter(({ component }) => text(component) !== '' || text(component, 2) !== '');
	let partOf: Reference | undefined;
	for (const [index, { component, type }] of stated.entries()) {
		const within = stated.slice(0, index + 1).map((level) => level.component);
		const isWhole = index === stated.length - 1;
		const own = component === 4 ? namedEntity(text(4), text(4, 2), text(4, 3)) : [composed(text, within, system)];
		const identifiers = isWhole && text(11) !== '' ? [comprehensive(text), ...own] : own;
		const name = parts.filter((part) => within.includes(part)).flatMap((part) => text(part) || text(part, 2) || []);
		const display = name.join(', ');
		const [identifier] = own;
		const mentioned: Reference = isWhole ? reference : { type: 'Location', ...(identifier === undefined ? {} : { identifier }), display };
		const description = isWhole ? text(9) : '';
		mentions.add({
			reference: mentioned,
			identifiers,
			resource: {
				status: 'active',
				name: display,
				...(description === '' ? {} : { description }),
				mode: 'instance',
				physicalType: { coding: [type] },
				...(partOf === undefined ? {} : { partOf }),
			},
			field: at,
		});
		partOf = mentioned;
	}
}

/** The components that name a place within its facility: point of care, room, bed; then building and floor, if there are any. */
function composed(text: (component: number) => string, within: readonly number[], system: string): Identifier {
	const value = [1, 2, 3, 7, 8].map((component) => (within.includes(component) ? text(component) : '')).join('^');
	return { ...(system === '' ? {} : { system }), value: value.replace(/\^+$/, '') };
}

/** PL-11, the identifier of the place as a whole. */
function comprehensive(text: (component: number, subcomponent: number) => string): Identifier {
	const system = authoritySystem(text(11, 2), text(11, 3), text(11, 4));
	return { ...(system === '' ? {} : { system }), value: text(11, 1) };
}

import type { JsonObject } from '#core/json.ts';
import type { HumanName, Reference } from '#fhir/datatypes.ts';
import { authoritySystem } from '#fhir/mapping/authority.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import { organizationOf, practitionerOf } from '#fhir/mapping/mentions.ts';
import { codeText, joined } from '#fhir/mapping/text.ts';
import type { Segment } from '../../message.ts';
import { type Context, nameOf } from '../context.ts';

type Mentioning = Pick<Context, 'mentions'>;

const identifierTypes = v2Table('0203');

/**
 * XCN (v2.5.1 §2.A.86) as a reference by identifier and name. Whether it leads to a Practitioner is decided when the message is applied, if
 * its sender's setting says so.
 */
function practitioner(segment: Segment, field: number, repetition: number, { mentions }: Mentioning): Reference | undefined {
	const text = (component: number) => segment.text(field, component, repetition).trim();
	const id = text(1);
	const display = joined(text(6), text(3), text(4), text(2), text(5));
	if (id === '' && display === '') return undefined;
	const reference: Reference = { type: 'Practitioner' };
	if (id !== '') {
		const authority = (subcomponent: number) => segment.text(field, 9, repetition, subcomponent);
		const system = authoritySystem(authority(1), authority(2), authority(3));
		const type = codeText(text(13));
		reference.identifier = {
			...(type === '' ? {} : { type: { coding: [{ system: identifierTypes, code: type }] } }),
			...(system === '' ? {} : { system }),
			value: id,
		};
	}
	if (display !== '') reference.display = display;
	mention(mentions, reference, `${nameOf(segment)}-${field}`, () => practitionerOf(personName(display, [2, 3, 4, 5, 6, 7].map(text))));
	return reference;
}

/** Most references are for display, so the content is made only for a sender whose messages refer to resources. */
function mention(mentions: Context['mentions'], reference: Reference, field: string, content: () => JsonObject): void {
	const { identifier } = reference;
	if (mentions !== undefined && identifier !== undefined)
		mentions.add({ reference, identifiers: [identifier], resource: content(), field });
}

/** The parts of an XCN or a CNN from the family name to the degree, as a name; undefined where nothing is displayed. */
export function personName(display: string, parts: readonly string[]): HumanName | undefined {
	if (display === '') return undefined;
	const [family = '', first = '', middle = '', suffix = '', prefix = '', degree = ''] = parts;
	const given = [first, middle].filter((part) => part !== '');
	const suffixes = [suffix, degree].filter((part) => part !== '');
	return {
		text: display,
		...(family === '' ? {} : { family }),
		...(given.length === 0 ? {} : { given }),
		...(prefix === '' ? {} : { prefix: [prefix] }),
		...(suffixes.length === 0 ? {} : { suffix: suffixes }),
	};
}

export function practitioners(segment: Segment, field: number, context: Mentioning): Reference[] {
	return ofRepetitions(segment, field, (repetition) => practitioner(segment, field, repetition, context));
}

function ofRepetitions(segment: Segment, field: number, read: (repetition: number) => Reference | undefined): Reference[] {
	const found: Reference[] = [];
	const repetitions = segment.repetitions(field);
	for (let repetition = 0; repetition < repetitions; repetition++) {
		const reference = read(repetition);
		if (reference) found.push(reference);
	}
	return found;
}

/** XON (v2.5.1 §2.A.87): name, else id, of an organization. */
export function organization(segment: Segment, field: number, { mentions }: Mentioning, repetition = 0): Reference | undefined {
	const text = (component: number) => segment.text(field, component, repetition).trim();
	const name = text(1);
	const id = text(10) || text(3);
	if (name === '' && id === '') return undefined;
	const reference: Reference = { type: 'Organization' };
	if (id !== '') {
		const authority = (subcomponent: number) => segment.text(field, 6, repetition, subcomponent);
		const system = authoritySystem(authority(1), authority(2), authority(3));
		reference.identifier = { ...(system === '' ? {} : { system }), value: id };
	}
	if (name !== '') reference.display = name;
	mention(mentions, reference, `${nameOf(segment)}-${field}`, () => organizationOf(name));
	return reference;
}

export function organizations(segment: Segment, field: number, context: Mentioning): Reference[] {
	return ofRepetitions(segment, field, (repetition) => organization(segment, field, context, repetition));
}

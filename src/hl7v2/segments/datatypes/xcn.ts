import type { Reference } from '#fhir/datatypes.ts';
import { authoritySystem } from '#fhir/mapping/authority.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import { codeText, joined } from '#fhir/mapping/text.ts';
import type { Segment } from '../../message.ts';

const identifierTypes = v2Table('0203');

/** XCN (v2.5.1 §2.A.86) as a reference by identifier and name: practitioners have no resource of their own here. */
function practitioner(segment: Segment, field: number, repetition = 0): Reference | undefined {
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
	return reference;
}

export function practitioners(segment: Segment, field: number): Reference[] {
	const found: Reference[] = [];
	const repetitions = segment.repetitions(field);
	for (let repetition = 0; repetition < repetitions; repetition++) {
		const reference = practitioner(segment, field, repetition);
		if (reference) found.push(reference);
	}
	return found;
}

/** XON (v2.5.1 §2.A.87): name, else id, of an organization. */
export function organization(segment: Segment, field: number, repetition = 0): Reference | undefined {
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
	return reference;
}

export function organizations(segment: Segment, field: number): Reference[] {
	const found: Reference[] = [];
	const repetitions = segment.repetitions(field);
	for (let repetition = 0; repetition < repetitions; repetition++) {
		const reference = organization(segment, field, repetition);
		if (reference) found.push(reference);
	}
	return found;
}

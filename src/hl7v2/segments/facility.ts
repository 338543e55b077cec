import type { Reference } from '#fhir/datatypes.ts';
import { organizationOf } from '#fhir/mapping/mentions.ts';
import type { Context } from './context.ts';
import { namedEntity } from './datatypes/hd.ts';

/**
 * Returns the sending facility (MSH-4) as an Organization, for a sender whose messages refer to resources: it provides the visits that its
 * events are about, and issues the reports that it sends. Undefined for any other sender.
 */
export function sendingFacility({ mentions, header }: Context): Reference | undefined {
	if (mentions === undefined || header === undefined) return undefined;
	const identifiers = namedEntity(header.text(4), header.text(4, 2), header.text(4, 3));
	const [identifier] = identifiers;
	if (identifier === undefined) return undefined;
	const display = header.text(4).trim();
	const reference: Reference = { type: 'Organization', identifier, ...(display === '' ? {} : { display }) };
	mentions.add({ reference, identifiers, resource: organizationOf(display), field: 'MSH-4' });
	return reference;
}

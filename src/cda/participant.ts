import type { Reference } from '#fhir/datatypes.ts';
import type { Context } from '#hl7v3/context.ts';
import { namesOf } from '#hl7v3/datatypes/en.ts';
import { uncheckedIdentifier } from '#hl7v3/datatypes/ii.ts';
import type { XmlElement } from '#hl7v3/element.ts';

/**
 * Those who took part in a document, as references by identifier and name: they have no resource of their own here, as those of
 * HL7 v2 have none.
 */

/** assignedAuthor, assignedEntity: a person, else a device, else the organization that they act for. */
export function assigned(role: XmlElement | undefined, context: Context): Reference | undefined {
	if (role === undefined) return undefined;
	const person = role.first('assignedPerson');
	const device = role.first('assignedAuthoringDevice');
	const organization = role.first('representedOrganization');
	if (person === undefined && device === undefined && organization !== undefined) return organizationReference(organization, context);
	const display = person
		? (namesOf(person.children('name'), context)[0]?.text ?? '')
		: device?.first('softwareName')?.text || device?.first('manufacturerModelName')?.text || '';
	return reference(person === undefined && device !== undefined ? 'Device' : 'Practitioner', role, display, context);
}

/** An organization by its first id and name. */
export function organizationReference(element: XmlElement | undefined, context: Context): Reference | undefined {
	return element && reference('Organization', element, organizationName(element), context);
}

export function organizationName(element: XmlElement | undefined): string {
	return element?.children('name').find((name) => !name.isNull && name.text !== '')?.text ?? '';
}

function reference(type: string, role: XmlElement, display: string, context: Context): Reference | undefined {
	const identifier = role
		.children('id')
		.map((id) => uncheckedIdentifier(id, context))
		.find((found) => found !== undefined);
	if (identifier === undefined && display === '') return undefined;
	return { type, ...(identifier === undefined ? {} : { identifier }), ...(display === '' ? {} : { display }) };
}

import type { JsonObject } from '#core/json.ts';
import type { Reference } from '#fhir/datatypes.ts';
import { organizationOf, practitionerOf } from '#fhir/mapping/mentions.ts';
import type { Context } from '#hl7v3/context.ts';
import { namesOf } from '#hl7v3/datatypes/en.ts';
import { uncheckedIdentifier } from '#hl7v3/datatypes/ii.ts';
import type { XmlElement } from '#hl7v3/element.ts';

/**
 * Those who took part in a document, as references by identifier and name. Whether they lead to resources is decided when the document is
 * applied, if the setting of its sender says so.
 */

/** assignedAuthor, assignedEntity: a person, else a device, else the organization that they act for. */
export function assigned(role: XmlElement | undefined, context: Context): Reference | undefined {
	if (role === undefined) return undefined;
	const person = role.first('assignedPerson');
	const device = role.first('assignedAuthoringDevice');
	const organization = role.first('representedOrganization');
	if (person === undefined && device === undefined && organization !== undefined) return organizationReference(organization, context);
	if (person === undefined && device !== undefined) {
		return reference('Device', role, device.first('softwareName')?.text || device.first('manufacturerModelName')?.text || '', context);
	}
	const name = person && namesOf(person.children('name'), context)[0];
	return mentioned(reference('Practitioner', role, name?.text ?? '', context), role, practitionerOf(name), context);
}

/** An organization by its first id and name. */
export function organizationReference(element: XmlElement | undefined, context: Context): Reference | undefined {
	if (element === undefined) return undefined;
	const name = organizationName(element);
	return mentioned(reference('Organization', element, name, context), element, organizationOf(name), context);
}

export function organizationName(element: XmlElement | undefined): string {
	return element?.children('name').find((name) => !name.isNull && name.text !== '')?.text ?? '';
}

/** healthCareFacility (CDA R2 §4.2.3.5), for a sender whose documents refer to resources: a place by its first id and name. */
export function facilityReference(facility: XmlElement, context: Context): Reference | undefined {
	const place = facility.first('location');
	const display = organizationName(place);
	const provider = facility.first('serviceProviderOrganization');
	const organization = organizationReference(provider, context);
	const resource: JsonObject = {
		status: 'active',
		...(display === '' ? {} : { name: display }),
		mode: 'instance',
		...(organization === undefined ? {} : { managingOrganization: organization }),
	};
	return mentioned(reference('Location', facility, display, context), facility, resource, context);
}

function mentioned(found: Reference | undefined, role: XmlElement, resource: JsonObject, context: Context): Reference | undefined {
	if (context.mentions === undefined || found?.identifier === undefined) return found;
	const identifiers = role.children('id').flatMap((id) => uncheckedIdentifier(id, context) ?? []);
	context.mentions.add({ reference: found, identifiers, resource, field: role.name });
	return found;
}

function reference(type: string, role: XmlElement, display: string, context: Context): Reference | undefined {
	const identifier = role
		.children('id')
		.map((id) => uncheckedIdentifier(id, context))
		.find((found) => found !== undefined);
	if (identifier === undefined && display === '') return undefined;
	return { type, ...(identifier === undefined ? {} : { identifier }), ...(display === '' ? {} : { display }) };
}

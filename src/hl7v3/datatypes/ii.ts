import { authoritySystem, isOid, localUrn, namedAuthority } from '#fhir/mapping/authority.ts';
import type { StatedAuthority } from '#record/identity/learn.ts';
import type { Identifier } from '#record/resource-patch.ts';
import { type Context, failureAt, keyLengthMax } from '../context.ts';
import type { XmlElement } from '../element.ts';

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/**
 * II (Data Types R1 §2.9) as Identifier: root → system, extension → value. A root alone is the identifier itself; an
 * extension alone belongs to assigningAuthorityName, else to the site's authority. Undefined for nullFlavor, without both, and with an empty extension.
 * @throws Failure `value-too-long`
 */
export function identifier(element: XmlElement, context: Context, assigner = ''): Identifier | undefined {
	const result = uncheckedIdentifier(element, context, assigner);
	if (result !== undefined && (result.value.length > keyLengthMax || String(result['system'] ?? '').length > keyLengthMax)) {
		throw failureAt('value-too-long', element, `${element.name} has an identifier of more than ${keyLengthMax} characters`);
	}
	return result;
}

/** The same of any length, for what is no key in the database. */
export function uncheckedIdentifier(element: XmlElement, context: Context, assigner = ''): Identifier | undefined {
	if (element.isNull) return undefined;
	const root = element.attribute('root');
	const extension = element.attribute('extension');
	if (root === '' && extension === '') return undefined;
	// Its authority alone would be the number of everybody whose number was left empty.
	if (extension === '' && element.attributes['extension'] !== undefined) return undefined;
	const authority = element.attribute('assigningAuthorityName') || assigner;
	const result = extension === '' ? ofRoot(root) : scoped(root, extension, authority, context.defaultAuthority);
	if (authority !== '' && root !== '') result['assigner'] = { display: authority };
	return result;
}

/** FHIR R4 §2.24.0.12: what is unique by itself is a URI. */
function ofRoot(root: string): Identifier {
	const value = isOid(root) ? `urn:oid:${root}` : uuid.test(root) ? `urn:uuid:${root.toLowerCase()}` : root;
	return { value, system: 'urn:ietf:rfc:3986' };
}

function scoped(root: string, extension: string, authority: string, defaultAuthority: string | undefined): Identifier {
	const system = root === '' ? localUrn(authority) || (defaultAuthority ?? '') : authoritySystem('', root, '');
	return system === '' ? { value: extension } : { value: extension, system };
}

/** Every identifier of a role or entity, in order. */
export function identifiers(elements: readonly XmlElement[], context: Context, assigner = ''): Identifier[] {
	return elements.map((element) => identifier(element, context, assigner)).filter((found) => found !== undefined);
}

/** Returns the authorities that ids state by root and by assigningAuthorityName. */
export function statedAuthorities(elements: readonly XmlElement[]): StatedAuthority[] {
	return elements.flatMap((element) => {
		if (element.isNull || element.attribute('extension') === '') return [];
		return namedAuthority(element.attribute('assigningAuthorityName'), element.attribute('root'), '') ?? [];
	});
}

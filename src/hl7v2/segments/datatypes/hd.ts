import type { Identifier } from '#fhir/datatypes.ts';
import { authoritySystem } from '#fhir/mapping/authority.ts';

/** The system of identifiers that are URIs (FHIR R4 §2.24.0.12). */
const uris = 'urn:ietf:rfc:3986';

/**
 * HD (v2.5.1 §2.A.33) as what it names: the universal id, which is a URI, then the namespace, which belongs to the default authority of the
 * sender. Empty when there is neither.
 */
export function namedEntity(namespace: string, universalId: string, universalIdType: string): Identifier[] {
	const found: Identifier[] = [];
	const uri = universalId === '' ? '' : authoritySystem('', universalId, universalIdType);
	if (uri !== '') found.push({ system: uris, value: uri });
	const name = namespace.trim();
	if (name !== '') found.push({ value: name });
	return found;
}

const oid = /^[0-2](?:\.(?:0|[1-9][0-9]*))+$/;
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Caches authorities, because the same few come with every message. */
const known = new Map<string, string>();
/** The size of a cache. What is not in it is computed anew. */
const knownMax = 4096;

/**
 * Converts an HD (v2.5.1 §2.A.33) to a FHIR system URI: the universal id if there is one, else `urn:id:` and the namespace.
 * '' when there is neither.
 */
export function authoritySystem(namespace: string, universalId: string, universalIdType: string): string {
	if (universalId === '') return namespace === '' ? '' : localUrn(namespace);
	const key = `${universalIdType}|${universalId}`;
	const held = known.get(key);
	if (held !== undefined) return held;
	const system = universalSystem(universalId, universalIdType.toUpperCase());
	if (known.size < knownMax) known.set(key, system);
	return system;
}

/** Table 0301, universal id types. */
function universalSystem(id: string, type: string): string {
	if ((type === 'ISO' || type === '') && oid.test(id)) return `urn:oid:${id}`;
	if ((type === 'UUID' || type === 'GUID' || type === '') && uuid.test(id)) return `urn:uuid:${id.toLowerCase()}`;
	if (type === 'URI' || type === 'URL') return encodeSpaces(id);
	if (type === '' && /^(?:https?:\/\/|urn:)/.test(id)) return encodeSpaces(id);
	if (type === 'DNS') return `http://${encodeSpaces(id)}`;
	return localUrn(id);
}

/** Returns the URN of an authority that is known only by the sender's name for it, percent-encoded (RFC 3986 §2.1); '' for a blank name. */
export function localUrn(name: string): string {
	const held = known.get(name);
	if (held !== undefined) return held;
	const trimmed = name.trim();
	const urn = trimmed === '' ? '' : `urn:id:${encodeURIComponent(trimmed.toWellFormed())}`;
	if (known.size < knownMax) known.set(name, urn);
	return urn;
}

/** A FHIR uri has no whitespace (R4 §2.24.0.1). */
function encodeSpaces(text: string): string {
	return /\s/.test(text) ? text.replace(/\s/g, (space) => encodeURIComponent(space)) : text;
}

export function isOid(text: string): boolean {
	return oid.test(text);
}

/** A name of an authority and its universal id, as systems. */
interface NamedAuthority {
	name: string;
	universal: string;
}

/** Returns what an HD says of its authority if it has a namespace and a universal id: both are its names. */
export function namedAuthority(namespace: string, universalId: string, universalIdType: string): NamedAuthority | undefined {
	if (namespace === '' || universalId === '') return undefined;
	const name = localUrn(namespace);
	const universal = authoritySystem('', universalId, universalIdType);
	return name === '' || universal === name || universal.startsWith('urn:id:') ? undefined : { name, universal };
}

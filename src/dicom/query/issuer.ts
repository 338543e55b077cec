/**
 * Issuers of patient ids: the record names an assigning authority by a URI, DICOM by a local name or an OID
 * (PS3.3 C.7.1.1, Issuer of Patient ID).
 */

const oid = /^[0-2](?:\.(?:0|[1-9][0-9]*))+$/;
const localName = 'urn:id:';

/** The systems under which the record may have what DICOM calls so. */
export function systemsOfIssuer(issuer: string): string[] {
	const local = `${localName}${encodeURIComponent(issuer.toWellFormed())}`;
	return [local, issuer, ...(oid.test(issuer) ? [`urn:oid:${issuer}`] : []), `urn:uuid:${issuer.toLowerCase()}`];
}

/** Undefined: the system is empty. */
export function issuerOfSystem(system: string): string | undefined {
	if (system === '') return undefined;
	if (system.startsWith(localName)) {
		try {
			return decodeURIComponent(system.slice(localName.length));
		} catch {
			return system.slice(localName.length);
		}
	}
	return system.replace(/^urn:(?:oid|uuid):/, '');
}

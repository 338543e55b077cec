import type { FhirPolicy, Hl7v2Policy } from '#record/delivery.ts';

/** What a valid API key gives: one site. `keyId` is the public id, safe to log. */
export interface KeyGrant {
	keyId: string;
	siteId: string;
	siteSlug: string;
	/** The site's assigning authority for identifiers that name none; a FHIR system URI. */
	defaultAuthority: string | undefined;
	/** What the site lets FHIR clients do. */
	fhir: FhirPolicy;
}

/** What a matched integration client gives. */
export interface ClientGrant {
	clientId: string;
	siteId: string;
	siteSlug: string;
	policy: Hl7v2Policy;
}

export type SenderMatch =
	| { kind: 'match'; grant: ClientGrant }
	/** No active client of the protocol lists the address: the connection is closed. */
	| { kind: 'no-address' }
	/** The address fits, MSH-3/MSH-4 do not. */
	| { kind: 'no-sender' }
	/** Equally specific clients of different sites: nobody's. */
	| { kind: 'tie' };

/**
 * Who is calling, and which site that is. Answers from memory, synchronously; the snapshot is refreshed within a
 * second of a change on any node, so surfaces ask anew for every message and never keep an answer.
 */
export interface AccessDirectory {
	/** The header's raw value. Undefined for every reason alike: no oracle (CONTRACT §4). */
	grantOfKey(header: string | undefined): KeyGrant | undefined;
	/** False → a connection from here is closed at once. */
	mayConnect(protocol: 'hl7-mllp', address: string): boolean;
	matchSender(protocol: 'hl7-mllp', address: string, application: string, facility: string): SenderMatch;
}

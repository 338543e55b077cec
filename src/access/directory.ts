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

/**
 * The database has not answered for a moment, so that a caller who is not known may have been added meanwhile; or for so long that
 * nobody counts as known any more. Either way the caller is asked to come back and never told to be wrong.
 */
export type Unavailable = 'unavailable';

export type SenderMatch =
	| { kind: 'match'; grant: ClientGrant }
	| { kind: Unavailable }
	/** No active client of the protocol lists the address: the connection is closed. */
	| { kind: 'no-address' }
	/** The address fits, MSH-3/MSH-4 do not. */
	| { kind: 'no-sender' }
	/** Equally specific clients of different sites: nobody's. */
	| { kind: 'tie' };

/** What a DICOM association may do, and for which site. */
export interface AssociationGrant {
	siteId: string;
	siteSlug: string;
	/** Undefined: a site without clients of this protocol, which anybody near may send to. */
	clientId: string | undefined;
	/** What it may do beyond sending: `query`. */
	grants: ReadonlySet<string>;
}

export type AssociationMatch =
	| ({ kind: 'accepted' } & AssociationGrant)
	/** No active site has this called AE title. */
	| { kind: 'called-unknown' }
	| { kind: Unavailable }
	/** None of the site's clients has this calling AE title and address. */
	| { kind: 'calling-refused' };

/** A DICOM application entity that a site lets this service call. */
export interface RemoteAe {
	title: string;
	/** A name or an address. */
	host: string;
	port: number;
	tls: boolean;
}

/** Whom a site lets this service call: nobody else is ever called for it. */
export interface RemoteAeDirectory {
	/** The title without leading and trailing blanks. Undefined: not registered, or the site is disabled. */
	remoteAe(siteId: string, title: string): RemoteAe | Unavailable | undefined;
}

/** What a site may take of a node; undefined: as much as the node has. */
export interface SiteLimits {
	/** Messages that wait to be stored. */
	waitingMax: number | undefined;
	/** DICOM associations at once. */
	associationsMax: number | undefined;
}

/** As `AccessDirectory`, for DICOM associations. */
export interface AssociationDirectory {
	/** AE titles without leading and trailing blanks; letters count as they are. */
	matchAssociation(calledAe: string, callingAe: string, address: string): AssociationMatch;
}

/**
 * Who is calling, and which site that is. Answers from memory, synchronously. A change is in force on its node when it returns and on
 * the others within a second, so surfaces ask anew for every message and never keep an answer.
 */
export interface AccessDirectory {
	/** The header's raw value. Undefined for every reason alike: no oracle (CONTRACT §4). */
	grantOfKey(header: string | undefined): KeyGrant | Unavailable | undefined;
	/** Anything but true → a connection from here is closed at once. */
	mayConnect(protocol: 'hl7-mllp', address: string): boolean | Unavailable;
	matchSender(protocol: 'hl7-mllp', address: string, application: string, facility: string): SenderMatch;
}

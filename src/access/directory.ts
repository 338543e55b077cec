import type { KeyScope } from '#record/key-scopes.ts';
import type { Scopes } from '#record/scopes.ts';
import type { Settings } from '#record/settings/settings.ts';

/** A valid API key, or a valid access token, grants access to one site. */
export interface KeyGrant {
	/** The public id of the key, which may be logged. For an access token, `token:` and the id of its client. */
	keyId: string;
	siteId: string;
	siteSlug: string;
	/** The settings of the key, else of its site. */
	settings: Settings;
	/** The access token, or the limited API key, permits these on FHIR. An API key without limits has none, and permits everything. */
	scopes?: Scopes;
	/** The site is served from another database now: says where and since when. */
	moved?: string;
	/** The API key is limited to these. */
	keyScopes?: readonly KeyScope[];
}

/** The access that a matched integration client has. */
export interface ClientGrant {
	clientId: string;
	siteId: string;
	siteSlug: string;
	/** The settings of the client, else of its site. */
	settings: Settings;
}

/**
 * The database has not answered for a moment, so an unknown caller may have been added in the meantime. Or it has not answered for so
 * long that nobody counts as known. In both cases the caller is asked to try again later and is never told that a key is wrong.
 */
export type Unavailable = 'unavailable';

export type SenderMatch =
	| { kind: 'match'; grant: ClientGrant }
	| { kind: Unavailable }
	/** No active client of the protocol lists the address, so the connection is closed. */
	| { kind: 'no-address' }
	/** The address matches, but MSH-3 or MSH-4 does not. */
	| { kind: 'no-sender' }
	/** Clients of different sites match equally well, so no site receives the message. */
	| { kind: 'tie' };

/** A connection counts for this client and this site. They are undefined where its address alone does not tell. */
export interface ConnectionOwner {
	clientId: string | undefined;
	siteId: string | undefined;
}

/** The site of a DICOM association and its permissions. */
export interface AssociationGrant {
	siteId: string;
	siteSlug: string;
	/** Undefined for a site without DICOM clients, which accepts nearby senders. */
	clientId: string | undefined;
	/** The settings of the client, else of the site. */
	settings: Settings;
	/** The permissions beyond sending: `query`. */
	grants: ReadonlySet<string>;
}

export type AssociationMatch =
	| ({ kind: 'accepted' } & AssociationGrant)
	/** No active site has this called AE title. */
	| { kind: 'called-unknown' }
	| { kind: Unavailable }
	/** None of the site's clients has this calling AE title and address. */
	| { kind: 'calling-refused'; siteId?: string };

/** A DICOM application entity that a site lets this service call. */
export interface RemoteAe {
	title: string;
	/** A host name or an IP address. */
	host: string;
	port: number;
	tls: boolean;
}

/** The remote AEs of a site. The service never calls any other for it. */
export interface RemoteAeDirectory {
	/** The title has no leading and trailing blanks. Returns undefined if it is not registered or the site is disabled. */
	remoteAe(siteId: string, title: string): RemoteAe | Unavailable | undefined;
}

/** The limits of a site on each node. If undefined, only the node's own limits apply. */
export interface SiteLimits {
	/** Messages that wait to be stored. */
	waitingMax: number | undefined;
	/** Concurrent DICOM associations. */
	associationsMax: number | undefined;
}

/** Tells whether a site has loaded other profiles and terms since somebody read them. */
export interface DefinitionDirectory {
	/** The number of their state; `0` for a site that has loaded none. */
	definitionsVersionOf(siteId: string): string;
}

/** Like `AccessDirectory`, for DICOM associations. */
export interface AssociationDirectory {
	/** AE titles have no leading and trailing blanks. They are case-sensitive. */
	matchAssociation(calledAe: string, callingAe: string, address: string): AssociationMatch;
}

/**
 * Identifies callers and their sites. It answers synchronously from memory. A change is in force on its own node when the call returns,
 * and on the others within a second. Surfaces therefore ask again for every message and never keep an answer.
 */
export interface AccessDirectory {
	/**
	 * Takes the header's raw value. It returns undefined for every kind of wrong key, so that a caller learns nothing about keys.
	 * @param before what the same header granted a moment ago; if that still holds, the key is not checked again
	 */
	grantOfKey(header: string | undefined, before?: KeyGrant): KeyGrant | Unavailable | undefined;
	/** Unless it returns true, a connection from this address is closed immediately. */
	mayConnect(protocol: 'hl7-mllp', address: string): boolean | Unavailable;
	matchSender(protocol: 'hl7-mllp', address: string, application: string, facility: string): SenderMatch;
}

/** Tells for whom connections count, and whose an address is. */
export interface ConnectionDirectory {
	ownerAt(protocol: 'hl7-mllp', address: string): ConnectionOwner;
	/** Returns the site whose clients alone list the address, those that are disabled included; undefined where it is not one site's. */
	siteAt(address: string): string | undefined;
}

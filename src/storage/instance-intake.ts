import type { IndexOutcome, InstanceAttributes, StoredInstance } from '#record/instance.ts';

/** What the request says of an instance before its data set arrives: C-STORE-RQ and presentation context, or the file meta of STOW-RS. */
export interface AnnouncedInstance {
	siteId: string;
	callingAe: string;
	/** Address, or the public id of an API key. */
	source: string;
	affectedSopClassUid: string;
	affectedSopInstanceUid: string;
	transferSyntaxUid: string;
}

export interface IntakeResult {
	/**
	 * DIMSE status (PS3.4 B.2.3): 0x0000; 0xB007 other content under a known UID, kept aside; 0xA700 out of resources; 0xA900 data
	 * set and command differ; 0xC000 cannot understand; 0xC111 other content under a known UID, refused by the site's policy.
	 */
	status: number;
	/** For Error Comment (0000,0902): at most 64 characters of ASCII, without a patient's data. */
	comment: string | undefined;
	/** `failed`: nothing is kept. */
	outcome: IndexOutcome['kind'] | 'failed';
	/** What the data set says of itself, where it could be read. */
	attributes: InstanceAttributes | undefined;
}

/** One instance on its way in. Either `finish` or `abandon` ends it. */
export interface InstanceReception {
	/**
	 * A piece of the data set, without file meta information. The chunk is taken over and must not be changed afterwards. A promise
	 * means: read no more before it resolves. Never rejects and never throws; what went wrong is the status of `finish`.
	 */
	write(chunk: Uint8Array): Promise<void> | undefined;
	/** The whole data set was written. Never rejects. */
	finish(): Promise<IntakeResult>;
	/** The sender died or gave up: nothing is kept. Never rejects. */
	abandon(): Promise<void>;
}

/**
 * Puts an instance into the index of its site and resolves when that is committed.
 * @throws Failure when certainly nothing was committed (`unavailable` excepted); any other error leaves that open
 */
export type IndexInstance = (siteId: string, instance: StoredInstance) => Promise<IndexOutcome>;

/** Where DIMSE and STOW-RS hand instances in. */
export interface InstanceEntry {
	begin(announced: AnnouncedInstance): InstanceReception;
}

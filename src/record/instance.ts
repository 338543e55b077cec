import type { FailureRecord } from '#core/failure.ts';

/** Identifies and describes one DICOM composite instance as its data set states it. UIDs are checked (PS3.5 §9), texts are Unicode. */
export interface InstanceAttributes {
	sopClassUid: string;
	sopInstanceUid: string;
	studyUid: string;
	seriesUid: string;
	transferSyntaxUid: string;
	/** (0008,0201) as FHIR writes an offset: `+02:00`. */
	timezoneOffset?: string | undefined;
	patient: InstancePatient;
	study: {
		/** FHIR date or dateTime without zone: `2024-01-31`, `2024-01-31T10:20:30`. */
		started: string | undefined;
		/** The offset of `started` from UTC, where it has a time; and the zone by which it was found, where the data set does not state it. */
		startedOffset?: string | undefined;
		startedZone?: string | undefined;
		/** That zone, if it is the one of the host and nobody has set another. */
		assumedZone?: string | undefined;
		accessionNumber: string | undefined;
		accessionIssuer: string | undefined;
		/** (0020,0010) */
		studyId: string | undefined;
		description: string | undefined;
		/** With `^` between components and `=` between component groups. */
		referringPhysician: string | undefined;
	};
	series: {
		modality: string | undefined;
		number: number | undefined;
		description: string | undefined;
		bodyPart: string | undefined;
		station: string | undefined;
		started: string | undefined;
		startedOffset?: string | undefined;
	};
	number: number | undefined;
	rows: number | undefined;
	columns: number | undefined;
	frames: number | undefined;
}

export interface InstancePatient {
	/** (0010,0020); the patient is not identified when it is empty or absent. */
	id: string | undefined;
	/** (0010,0021), else the universal entity id of (0010,0024). */
	issuer: string | undefined;
	/** Universal Entity ID and its type, of (0010,0024). */
	universalIssuer?: { id: string; type: string };
	/**
	 * (0010,0010): the components of the alphabetic group, and the ideographic and phonetic groups whole, with `^` between components.
	 */
	name:
		| { family: string; given: string; middle: string; prefix: string; suffix: string; ideographic: string; phonetic: string }
		| undefined;
	/** FHIR date. */
	birthDate: string | undefined;
	/** FHIR administrative gender. */
	gender: 'male' | 'female' | 'other' | 'unknown' | undefined;
}

/** An instance as a request names it. */
export interface ReferencedInstance {
	sopClassUid: string;
	sopInstanceUid: string;
}

/** An instance whose object is complete, to be put into the index of its site. */
export interface StoredInstance {
	attributes: InstanceAttributes;
	/** Hex SHA-256 of the data set as it was received, without the file meta information. */
	digest: string;
	/** The size of the Part 10 file. */
	bytes: number;
	/** The key of the object in the object store. */
	objectKey: string;
	/** The size of the head of the file, of which the digest says nothing; known while the object is not in the store yet. */
	headBytes?: number;
	/** Empty for STOW-RS. */
	callingAe: string;
	/** Address, or the public id of an API key (STOW-RS). */
	source: string;
	/**
	 * The object that was the instance when the two were compared, and whether this one begins with all of it: then the former was cut
	 * off. Undefined before they are compared.
	 */
	compared?: { objectKey: string; isBeginning: boolean };
	/** The index has found that it names another patient than its study has. What is kept aside of it already has to be read then. */
	isForeign?: true;
}

/**
 * The result of indexing an instance. `undecided` asks for a comparison with the object under the key `held`, `foreign` for the instance
 * again with `isForeign`; nothing was recorded.
 */
export type IndexOutcome = DecidedOutcome | { kind: 'undecided'; held: string } | { kind: 'foreign' };

interface Filed {
	/** The study under which it is filed; undefined where that is certainly the one which its data set states. */
	studyUid?: string;
}

export type DecidedOutcome =
	/** It is new: the object at its key is the instance from now on. */
	| ({ kind: 'stored' } & Filed)
	/** The same content was stored already, so the newly written object is not needed. */
	| ({ kind: 'duplicate' } & Filed)
	/** Different content under the same UID was kept aside and listed. `isHeld` means that an earlier object already keeps it. */
	| { kind: 'quarantined'; isHeld: boolean }
	/** It names another patient than its study has, and was kept aside and listed. `isHeld` as for `quarantined`. */
	| { kind: 'aside'; isHeld: boolean }
	/** It names another patient than its study has, and is stored as part of a study of its own. */
	| ({ kind: 'split' } & Required<Filed>)
	/** Different content under the same UID replaced the object under the key `superseded`, which is kept aside. */
	| ({ kind: 'replaced'; superseded: string } & Filed)
	/** Different content under the same UID was refused, so the newly written object is not needed. */
	| { kind: 'refused' };

/** The index's answer to the sender of an instance: the outcome, or the failure. */
export type IndexAnswer = (
	| IndexOutcome
	| { kind: 'failed'; failure: FailureRecord }
	/** Its object was not durable in time; nothing was recorded. */
	| { kind: 'unplaced' }
) & {
	/** The key of the object, where the store gave it another one than it came with. */
	placed?: string;
};

/** A person's decision about a conflict. */
export interface ConflictDecision {
	conflictId: string;
	by: string;
	/** The address from which it was made; empty for the command line. */
	source: string;
	/** The object that was kept aside and becomes the instance; undefined when the stored one stays. */
	received: StoredInstance | undefined;
	/** The object becomes part of a study of its own: its study is another patient's. */
	isSplit?: boolean;
}

/** The result of a decision. */
export interface DecisionAnswer {
	failure: FailureRecord | undefined;
	/** Key of the object that was the instance before. */
	superseded: string | undefined;
}

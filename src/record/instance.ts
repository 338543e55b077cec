import type { FailureRecord } from '#core/failure.ts';

/** What identifies and describes one DICOM composite instance, as its data set says it; UIDs are checked (PS3.5 §9), texts are Unicode. */
export interface InstanceAttributes {
	sopClassUid: string;
	sopInstanceUid: string;
	studyUid: string;
	seriesUid: string;
	transferSyntaxUid: string;
	patient: InstancePatient;
	study: {
		/** FHIR date or dateTime without zone: `2024-01-31`, `2024-01-31T10:20:30`. */
		started: string | undefined;
		accessionNumber: string | undefined;
		accessionIssuer: string | undefined;
		/** (0020,0010) */
		studyId: string | undefined;
		description: string | undefined;
		referringPhysician: string | undefined;
	};
	series: {
		modality: string | undefined;
		number: number | undefined;
		description: string | undefined;
		bodyPart: string | undefined;
		station: string | undefined;
		started: string | undefined;
	};
	number: number | undefined;
	rows: number | undefined;
	columns: number | undefined;
	frames: number | undefined;
}

export interface InstancePatient {
	/** (0010,0020); empty or absent: the patient is not identified. */
	id: string | undefined;
	/** (0010,0021), else the universal entity id of (0010,0024). */
	issuer: string | undefined;
	/** Components of the alphabetic group of (0010,0010): family, given, middle, prefix, suffix. */
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

/** An instance whose object is whole, on its way into the index of its site. */
export interface StoredInstance {
	attributes: InstanceAttributes;
	/** Of the data set as it was received, without the file meta information: hex SHA-256. */
	digest: string;
	/** Of the Part 10 file. */
	bytes: number;
	/** Where the object lies. */
	objectKey: string;
	/** Empty: STOW-RS. */
	callingAe: string;
	/** Address, or the public id of an API key (STOW-RS). */
	source: string;
}

/** What the index made of an instance. */
export type IndexOutcome =
	/** New: the object at its key is the instance from now on. */
	| { kind: 'stored' }
	/** The same content was there: the object that was just written is not needed. */
	| { kind: 'duplicate' }
	/** Other content under the same UID, kept aside and listed. `isHeld`: by an object that came before this one. */
	| { kind: 'quarantined'; isHeld: boolean }
	/** Other content under the same UID took the place of the object under the key `superseded`, which is kept aside. */
	| { kind: 'replaced'; superseded: string }
	/** Other content under the same UID: the object that was just written is not needed. */
	| { kind: 'refused' };

/** What the sender of an instance is told by the index: the outcome, or why there is none. */
export type IndexAnswer = IndexOutcome | { kind: 'failed'; failure: FailureRecord };

/** A person's decision about a conflict. */
export interface ConflictDecision {
	conflictId: string;
	by: string;
	/** The address that it was made from; empty: the command line. */
	source: string;
	/** The object that was kept aside, to become the instance; undefined: what is stored stays. */
	received: StoredInstance | undefined;
}

/** What became of a decision. */
export interface DecisionAnswer {
	failure: FailureRecord | undefined;
	/** Key of the object that was the instance before. */
	superseded: string | undefined;
}

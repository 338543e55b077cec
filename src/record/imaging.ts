import type { StoredInstance } from './instance.ts';

/** What becomes of other content under a SOP Instance UID that is stored: the first stays, the last stays, or it is turned away. */
export const instancePolicies = ['keep', 'replace', 'refuse'] as const;
export type InstancePolicy = (typeof instancePolicies)[number];

/** An object that the index names, and what it says of it beside the attributes. */
export type HeldObject = Pick<StoredInstance, 'digest' | 'bytes' | 'objectKey' | 'callingAe' | 'source'> & {
	sopInstanceUid: string;
	studyUid: string;
};

/** What the index holds of an instance, as far as another one of its UID has to be compared with it. */
export interface HeldInstance extends HeldObject {
	/** Instant, as PostgreSQL writes it; undefined: this batch stores it. */
	storedAt: string | undefined;
}

/** What the index holds of a study, as far as a further instance of it and reports on it need. */
export interface HeldStudy {
	id: string;
	studyUid: string;
	/** Row id; null where the study has no patient. */
	patientId: string | null;
	accessionNumber: string | null;
	/** FHIR date, or dateTime without zone. */
	started: string | null;
	/** 0: this batch moved its last instance to another study, so that it goes. */
	instanceCount: number;
	/** There is a row of it, whatever this batch makes of it. */
	isStored: boolean;
}

/** An instance that a batch adds. */
export interface NewInstance {
	instance: StoredInstance;
	/** Row id of the patient whose the study is when the instance begins it. */
	patientId: string | null;
	/** Id of the study when the instance begins it. */
	studyId: string;
	isNewStudy: boolean;
	isNewSeries: boolean;
}

/** An instance that takes the place of the one of its UID. */
export interface Replacement {
	added: NewInstance;
	/** Where its UID was before. */
	studyUids: readonly string[];
	/** Row id of the patient whom its own data set names. */
	patientId: string | null;
	/**
	 * True: what it says of study and series holds from now on. False: only where it is their one instance, else what was said
	 * first stays.
	 */
	isLastWord: boolean;
}

/**
 * Why a conflict is none any more. `stored`, `received`: a person kept the one or the other. `replaced`: was the instance until the
 * site's policy replaced it. `superseded`: was the instance until a person decided for another.
 */
export type Settlement = 'stored' | 'received' | 'replaced' | 'superseded';

/** Other content under a known UID, kept aside. */
export interface Conflict extends HeldObject {
	id: string;
	/** As `HeldInstance.storedAt`; undefined: now. */
	receivedAt: string | undefined;
	/** Undefined: open. */
	settlement: { as: Settlement; by: string | null } | undefined;
}

/** What the index holds of a conflict that a person settles. */
export interface HeldConflict {
	sopInstanceUid: string;
	objectKey: string;
	isSettled: boolean;
}

/** A person's decision about a conflict. */
export interface SettledConflict {
	conflictId: string;
	as: 'stored' | 'received';
	/** Who decided: `cli:root`, or an e-mail address. */
	by: string;
}

/** A study as its first instance tells of it, before that is counted. */
export function beganStudy({ studyId, patientId, instance }: NewInstance): HeldStudy {
	const { studyUid, study } = instance.attributes;
	return {
		id: studyId,
		studyUid,
		patientId,
		accessionNumber: study.accessionNumber ?? null,
		started: study.started ?? null,
		instanceCount: 0,
		isStored: false,
	};
}

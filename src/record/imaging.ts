import type { StoredInstance } from './instance.ts';

/** The policy for different content under a stored SOP Instance UID: keep the first, replace it by the last, or refuse the new one. */
export const instancePolicies = ['keep', 'replace', 'refuse'] as const;
export type InstancePolicy = (typeof instancePolicies)[number];

/** An object that the index names, with its description beside the attributes. */
export type HeldObject = Pick<StoredInstance, 'digest' | 'bytes' | 'objectKey' | 'callingAe' | 'source'> & {
	sopInstanceUid: string;
	studyUid: string;
};

/** The indexed data of an instance that is needed to compare another one with the same UID. */
export interface HeldInstance extends HeldObject {
	/** An instant as PostgreSQL writes it; undefined when this batch stores it. */
	storedAt: string | undefined;
}

/** The indexed data of a study that further instances and reports on it need. */
export interface HeldStudy {
	id: string;
	studyUid: string;
	/** Row id; null when the study has no patient. */
	patientId: string | null;
	accessionNumber: string | null;
	/** FHIR date, or dateTime without zone. */
	started: string | null;
	/** 0 means that this batch moved its last instance to another study, so the study will be deleted. */
	instanceCount: number;
	/** True when it has a row, whatever this batch changes. */
	isStored: boolean;
}

/** An instance that a batch adds. */
export interface NewInstance {
	instance: StoredInstance;
	/** Row id of the study's patient, if the instance begins the study. */
	patientId: string | null;
	/** Id of the study, if the instance begins it. */
	studyId: string;
	isNewStudy: boolean;
	isNewSeries: boolean;
}

/** An instance that replaces the one with the same UID. */
export interface Replacement {
	added: NewInstance;
	/** The studies to which its UID belonged before. */
	studyUids: readonly string[];
	/** Row id of the patient that its own data set names. */
	patientId: string | null;
	/**
	 * True when its study and series attributes apply from now on. False when they apply only if it is the only instance; otherwise the
	 * first
	 * values stay.
	 */
	isLastWord: boolean;
}

/**
 * The way in which a conflict was settled. `stored`, `received`: a person kept the one or the other. `replaced`: it was the instance until
 * the site's policy replaced it, or the whole object of which it was the beginning. `superseded`: it was the instance until a person chose another.
 */
export type Settlement = 'stored' | 'received' | 'replaced' | 'superseded';

/** Different content under a known UID, kept aside. */
export interface Conflict extends HeldObject {
	id: string;
	/** Like `HeldInstance.storedAt`; undefined means now. */
	receivedAt: string | undefined;
	/** Undefined while the conflict is open. */
	settlement: { as: Settlement; by: string | null } | undefined;
}

/** The indexed data of a conflict that a person settles. */
export interface HeldConflict {
	sopInstanceUid: string;
	objectKey: string;
	isSettled: boolean;
}

/** An object that a conflict keeps aside. */
export interface KeptObject {
	/** Id of the conflict. */
	id: string;
	objectKey: string;
	isSettled: boolean;
}

/** A decision about a conflict. */
export interface SettledConflict {
	conflictId: string;
	as: 'stored' | 'received';
	/** The person who decided: `cli:root`, or an e-mail address. Null: the object of the conflict has become the instance otherwise. */
	by: string | null;
}

/** Builds a study from its first instance, before that is counted. */
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

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
	/** The Study Instance UID of its data set, if it is filed under another study. */
	statedStudyUid?: string | undefined;
	/** An instant as PostgreSQL writes it; undefined when this batch stores it. */
	storedAt: string | undefined;
}

/** An image states these of a person beside a number. */
export interface StatedFacts {
	/** The alphabetic group: `family^given^middle^prefix^suffix` without empty components at its end. */
	name: string;
	/** FHIR date. */
	birthDate?: string | undefined;
	/** FHIR administrative gender. */
	gender?: string | undefined;
}

/** A patient as an image names them. */
export interface StatedPatient extends StatedFacts {
	id: string;
	/** The system of its issuer or of the default authority; empty without one. */
	system: string;
}

/** A person whom an image names without a Patient ID. Such a person is nobody else's, and nobody else is that person: a name alone tells neither. */
export interface StatedPerson extends StatedFacts {
	id?: undefined;
	system?: undefined;
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
	/** The patient as its images state them, if it was stored without one. */
	stated?: StatedPatient | StatedPerson | undefined;
	/** Row ids of patients from whom a person took the study. */
	formerPatientIds?: readonly string[] | undefined;
	/** Row ids of these patients as they are now, after merges. */
	formerSurvivorIds?: readonly string[] | undefined;
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
	/** See HeldStudy, if the instance begins the study. */
	stated?: StatedPatient | StatedPerson | undefined;
	/** The Study Instance UID of its data set, if it is filed under another study. */
	statedStudyUid?: string | undefined;
	/** The ideographic and phonetic name that it states, if the instance begins the study. */
	nameGroups?: { ideographic: string; phonetic: string } | undefined;
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
	/** The patient whom the object names, if it was kept aside because its study is another patient's. */
	otherPatient?: StatedPatient | undefined;
}

/** The indexed data of a conflict that a person settles. */
export interface HeldConflict {
	sopInstanceUid: string;
	objectKey: string;
	isSettled: boolean;
	/** True when the object was kept aside because its study is another patient's. */
	isForeign?: boolean;
	/** The study and the patient that it names, if it is such an object. */
	aside?: { readonly studyUid: string; readonly id: string; readonly system: string };
}

/** A study without a patient, and the row ids of the patients who may be meant. */
export interface UnmatchedStudy {
	study: HeldStudy;
	candidates: readonly string[];
}

/** A study whose patient a batch decides, or of which it learns what its images state. */
export interface AssignedStudy {
	studyUid: string;
	patientId: string | null;
	stated: StatedPatient | StatedPerson | undefined;
	formerPatientIds: readonly string[];
	/** The patient under whom it was recorded before a merge, if an undone edit returns it there; null leaves that as it is. */
	recordedPatientId: string | null;
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
export function beganStudy({ studyId, patientId, instance, stated }: NewInstance): HeldStudy {
	const { studyUid, study } = instance.attributes;
	return {
		id: studyId,
		studyUid,
		patientId,
		accessionNumber: study.accessionNumber ?? null,
		started: study.started ?? null,
		...(stated && { stated }),
		instanceCount: 0,
		isStored: false,
	};
}

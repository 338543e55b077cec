import type { StoredInstance } from './instance.ts';

/** What the index holds of an instance, as far as another one of its UID has to be compared with it. */
export interface HeldInstance {
	digest: string;
	objectKey: string;
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

/** Other content under a known UID, kept aside. */
export interface Conflict {
	id: string;
	instance: StoredInstance;
}

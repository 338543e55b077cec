/** A person's decision to merge or separate two patients: the same as ADT^A40 and ADT^A37, with the patients named by row ids. */
export interface PatientEdit {
	/** `merge` replaces `prior` by `survivor`; `unmerge` undoes that. */
	operation: 'merge' | 'unmerge';
	survivor: string;
	prior: string;
	/** Values of the business identifiers of survivor and prior, by which the message log is searched. */
	identifiers: readonly string[];
	actor: string;
}

/** The images of a study that an edit takes along: all of them where no series and no instance is named. */
export interface NamedImages {
	seriesUids: readonly string[];
	sopInstanceUids: readonly string[];
}

/** A person puts right whose a study is, or to which study images belong. Patients are named by row ids. */
export type StudyEdit = {
	/** Values of the business identifiers of the patients, by which the message log is searched. */
	identifiers: readonly string[];
	actor: string;
	studyUid: string;
} & (
	| { operation: 'assign'; patientId: string }
	| { operation: 'move'; toStudyUid: string; images: NamedImages }
	/** `toStudyUid` is the UID of the new study. */
	| { operation: 'split'; toStudyUid: string; patientId: string; images: NamedImages }
	/** `undone` has what the edit recorded, by which its rows are read. */
	| {
			operation: 'undo';
			editId: string;
			undone: {
				toStudyUid: string | null;
				fromPatientId: string | null;
				/** The patient under whom the study was recorded before a merge gave it to that one. */
				recordedPatientId: string | null;
				sopInstanceUids: readonly string[];
			};
	  }
);

export type IdentityEdit = PatientEdit | StudyEdit;

export function isStudyEdit(edit: IdentityEdit): edit is StudyEdit {
	return 'studyUid' in edit;
}

export type IdentityOutcome = { kind: 'done' } | { kind: 'refused'; diagnostics: string };

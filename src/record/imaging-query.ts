/** Levels of the query/retrieve information models (PS3.4 C.6), from the top. */
export const queryLevels = ['PATIENT', 'STUDY', 'SERIES', 'IMAGE'] as const;

export type QueryLevel = (typeof queryLevels)[number];

/** The attributes that the index and the patient's record hold at each level, by keyword of PS3.6. */
export const imagingAttributes = {
	PATIENT: [
		'PatientName',
		'PatientID',
		'IssuerOfPatientID',
		'PatientBirthDate',
		'PatientSex',
		'NumberOfPatientRelatedStudies',
		'NumberOfPatientRelatedSeries',
		'NumberOfPatientRelatedInstances',
	],
	STUDY: [
		'StudyInstanceUID',
		'StudyDate',
		'StudyTime',
		'AccessionNumber',
		'ReferringPhysicianName',
		'StudyDescription',
		'StudyID',
		'ModalitiesInStudy',
		'SOPClassesInStudy',
		'NumberOfStudyRelatedSeries',
		'NumberOfStudyRelatedInstances',
	],
	SERIES: [
		'SeriesInstanceUID',
		'Modality',
		'SeriesNumber',
		'SeriesDescription',
		'SeriesDate',
		'SeriesTime',
		'BodyPartExamined',
		'StationName',
		'NumberOfSeriesRelatedInstances',
	],
	IMAGE: ['SOPInstanceUID', 'SOPClassUID', 'InstanceNumber', 'Rows', 'Columns', 'NumberOfFrames', 'AvailableTransferSyntaxUID'],
} as const satisfies Record<QueryLevel, readonly string[]>;

export type ImagingAttribute = (typeof imagingAttributes)[QueryLevel][number];

/** A component group of a name (PS3.5 §6.2.1): 0 alphabetic, 1 ideographic, 2 phonetic. */
export type NameGroup = 0 | 1 | 2;

/** A clause of a query. All clauses must hold (PS3.4 C.2.2.2). */
export type ImagingClause =
	/**
	 * The attribute, or one of its values, equals one of the texts; an empty list matches nothing. Person names ignore case, accents and trailing
	 * `^`;
	 * dates, times and integers are compared by ranges.
	 */
	| { kind: 'equals'; attribute: ImagingAttribute; values: readonly string[]; group?: NameGroup | undefined; asked?: readonly string[] }
	/** The attribute, or the group of a name, fits one of the patterns: `*` stands for any characters, `?` for one. */
	| { kind: 'like'; attribute: ImagingAttribute; patterns: readonly string[]; group?: NameGroup | undefined }
	/** The attribute is a person name that has, for each of these, a word that begins so; `*` and `?` as above. */
	| { kind: 'words'; attribute: ImagingAttribute; words: readonly string[] }
	/** A range that includes its ends; an undefined end is open. Dates are written `2024-01-31`, times `10:20:30`. */
	| { kind: 'range'; attribute: ImagingAttribute; from: string | undefined; to: string | undefined }
	/** Date and time as one moment (C.2.2.2.5): `2024-01-31`, `2024-01-31T10:20:30`. */
	| { kind: 'moment'; of: 'study' | 'series'; from: string | undefined; to: string | undefined }
	/** The attribute equals one of the integers. */
	| { kind: 'integer'; attribute: ImagingAttribute; values: readonly number[] };

/** A query of one site, as plain data. */
export interface ImagingQuery {
	level: QueryLevel;
	/** Clauses on this level and those above it. */
	clauses: readonly ImagingClause[];
	/** The attributes that the answers show, of this level and those above it. */
	attributes: readonly ImagingAttribute[];
	/** The largest number of answers in a page. */
	count: number;
	/** The position at which the previous page ended. `offset` is the number of answers to skip. */
	after: readonly string[] | undefined;
	offset: number;
}

/**
 * A study, series or instance, or a patient who has one. Values are written as in DICOM (PS3.5 §6.2), several of them separated by `\`;
 * null
 * when there is none.
 */
export type ImagingEntity = Partial<Record<ImagingAttribute, string | null>>;

/** An instance that can be retrieved. */
export interface RetrievableInstance {
	studyUid: string;
	seriesUid: string;
	sopInstanceUid: string;
	sopClassUid: string;
	transferSyntaxUid: string;
	/** The key of its DICOM file in the object store, and the length of the file including its head. */
	objectKey: string;
	bytes: number;
}

/** Levels of the query/retrieve information models (PS3.4 C.6), from the top. */
export const queryLevels = ['PATIENT', 'STUDY', 'SERIES', 'IMAGE'] as const;

export type QueryLevel = (typeof queryLevels)[number];

/** What the index and the patient's record can say of each level, by keyword of PS3.6. */
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

/** All clauses of a query hold (PS3.4 C.2.2.2). */
export type ImagingClause =
	/**
	 * The attribute, or one of its values, is one of the texts; none of them: nothing matches. Person names without case, and
	 * without trailing `^`; dates, times and integers by ranges.
	 */
	| { kind: 'equals'; attribute: ImagingAttribute; values: readonly string[] }
	/** It fits one of the patterns: `*` any characters, `?` one. */
	| { kind: 'like'; attribute: ImagingAttribute; patterns: readonly string[] }
	/** Ends included, each open where undefined. Dates as `2024-01-31`, times as `10:20:30`. */
	| { kind: 'range'; attribute: ImagingAttribute; from: string | undefined; to: string | undefined }
	/** Date and time as one moment (C.2.2.2.5): `2024-01-31`, `2024-01-31T10:20:30`. */
	| { kind: 'moment'; of: 'study' | 'series'; from: string | undefined; to: string | undefined }
	/** One of the integers. */
	| { kind: 'integer'; attribute: ImagingAttribute; values: readonly number[] };

/** What is asked of one site, as plain data. */
export interface ImagingQuery {
	level: QueryLevel;
	/** Of this level and those above it. */
	clauses: readonly ImagingClause[];
	/** What the answers show; of this level and those above it. */
	attributes: readonly ImagingAttribute[];
	/** Answers of a page at most. */
	count: number;
	/** Where the page before ended, or how many answers are passed over. */
	after: readonly string[] | undefined;
	offset: number;
}

/**
 * A study, series or instance, or a patient who has some: values as DICOM writes them (PS3.5 §6.2), several parted by `\`; null
 * where there is none.
 */
export type ImagingEntity = Partial<Record<ImagingAttribute, string | null>>;

/** An instance that can be retrieved. */
export interface RetrievableInstance {
	studyUid: string;
	seriesUid: string;
	sopInstanceUid: string;
	sopClassUid: string;
	transferSyntaxUid: string;
	/** Where its DICOM file lies in the object store, and how long that is with its head. */
	objectKey: string;
	bytes: number;
}

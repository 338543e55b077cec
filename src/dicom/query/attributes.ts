import { type ImagingAttribute, imagingAttributes, type QueryLevel, queryLevels } from '#record/imaging-query.ts';

/** How an attribute is matched (PS3.4 C.2.2.2); `none`: it is shown, and no key of its own. */
export type Matching = 'uid' | 'text' | 'code' | 'name' | 'date' | 'time' | 'integer' | 'issuer' | 'none';

export interface QueryAttribute {
	tag: number;
	vr: string;
	matching: Matching;
}

/** Tags and VRs of PS3.6 §6. */
export const queryAttributes: Readonly<Record<ImagingAttribute, QueryAttribute>> = {
	PatientName: { tag: 0x0010_0010, vr: 'PN', matching: 'name' },
	PatientID: { tag: 0x0010_0020, vr: 'LO', matching: 'text' },
	IssuerOfPatientID: { tag: 0x0010_0021, vr: 'LO', matching: 'issuer' },
	PatientBirthDate: { tag: 0x0010_0030, vr: 'DA', matching: 'date' },
	PatientSex: { tag: 0x0010_0040, vr: 'CS', matching: 'code' },
	NumberOfPatientRelatedStudies: { tag: 0x0020_1200, vr: 'IS', matching: 'none' },
	NumberOfPatientRelatedSeries: { tag: 0x0020_1202, vr: 'IS', matching: 'none' },
	NumberOfPatientRelatedInstances: { tag: 0x0020_1204, vr: 'IS', matching: 'none' },
	StudyInstanceUID: { tag: 0x0020_000d, vr: 'UI', matching: 'uid' },
	StudyDate: { tag: 0x0008_0020, vr: 'DA', matching: 'date' },
	StudyTime: { tag: 0x0008_0030, vr: 'TM', matching: 'time' },
	AccessionNumber: { tag: 0x0008_0050, vr: 'SH', matching: 'text' },
	ReferringPhysicianName: { tag: 0x0008_0090, vr: 'PN', matching: 'name' },
	StudyDescription: { tag: 0x0008_1030, vr: 'LO', matching: 'text' },
	StudyID: { tag: 0x0020_0010, vr: 'SH', matching: 'text' },
	ModalitiesInStudy: { tag: 0x0008_0061, vr: 'CS', matching: 'code' },
	SOPClassesInStudy: { tag: 0x0008_0062, vr: 'UI', matching: 'uid' },
	NumberOfStudyRelatedSeries: { tag: 0x0020_1206, vr: 'IS', matching: 'none' },
	NumberOfStudyRelatedInstances: { tag: 0x0020_1208, vr: 'IS', matching: 'none' },
	SeriesInstanceUID: { tag: 0x0020_000e, vr: 'UI', matching: 'uid' },
	Modality: { tag: 0x0008_0060, vr: 'CS', matching: 'code' },
	SeriesNumber: { tag: 0x0020_0011, vr: 'IS', matching: 'integer' },
	SeriesDescription: { tag: 0x0008_103e, vr: 'LO', matching: 'text' },
	SeriesDate: { tag: 0x0008_0021, vr: 'DA', matching: 'date' },
	SeriesTime: { tag: 0x0008_0031, vr: 'TM', matching: 'time' },
	BodyPartExamined: { tag: 0x0018_0015, vr: 'CS', matching: 'code' },
	StationName: { tag: 0x0008_1010, vr: 'SH', matching: 'text' },
	NumberOfSeriesRelatedInstances: { tag: 0x0020_1209, vr: 'IS', matching: 'none' },
	SOPInstanceUID: { tag: 0x0008_0018, vr: 'UI', matching: 'uid' },
	SOPClassUID: { tag: 0x0008_0016, vr: 'UI', matching: 'uid' },
	InstanceNumber: { tag: 0x0020_0013, vr: 'IS', matching: 'integer' },
	Rows: { tag: 0x0028_0010, vr: 'US', matching: 'integer' },
	Columns: { tag: 0x0028_0011, vr: 'US', matching: 'integer' },
	NumberOfFrames: { tag: 0x0028_0008, vr: 'IS', matching: 'integer' },
	AvailableTransferSyntaxUID: { tag: 0x0008_3002, vr: 'UI', matching: 'uid' },
};

const byTag: ReadonlyMap<number, ImagingAttribute> = new Map(
	Object.entries(queryAttributes).map(([keyword, { tag }]) => [tag, keyword as ImagingAttribute]),
);

export function queryAttributeOf(tag: number): ImagingAttribute | undefined {
	return byTag.get(tag);
}

const levels: ReadonlyMap<ImagingAttribute, QueryLevel> = new Map(
	queryLevels.flatMap((level) => imagingAttributes[level].map((attribute) => [attribute, level] as const)),
);

export function levelOf(attribute: ImagingAttribute): QueryLevel {
	const level = levels.get(attribute);
	if (level === undefined) throw new Error(`${attribute} has no level`);
	return level;
}

/** Tells whether `level` lies at `other` or above it. */
export function isAtOrAbove(level: QueryLevel, other: QueryLevel): boolean {
	return queryLevels.indexOf(level) <= queryLevels.indexOf(other);
}

/** Elements that the product reads, by tag (group << 16 | element): keyword and VR of PS3.6 §6. */
const elements = {
	SpecificCharacterSet: [0x0008_0005, 'CS'],
	SOPClassUID: [0x0008_0016, 'UI'],
	SOPInstanceUID: [0x0008_0018, 'UI'],
	StudyDate: [0x0008_0020, 'DA'],
	SeriesDate: [0x0008_0021, 'DA'],
	StudyTime: [0x0008_0030, 'TM'],
	SeriesTime: [0x0008_0031, 'TM'],
	AccessionNumber: [0x0008_0050, 'SH'],
	IssuerOfAccessionNumberSequence: [0x0008_0051, 'SQ'],
	Modality: [0x0008_0060, 'CS'],
	ReferringPhysicianName: [0x0008_0090, 'PN'],
	TimezoneOffsetFromUTC: [0x0008_0201, 'SH'],
	StationName: [0x0008_1010, 'SH'],
	StudyDescription: [0x0008_1030, 'LO'],
	SeriesDescription: [0x0008_103e, 'LO'],
	PatientName: [0x0010_0010, 'PN'],
	PatientID: [0x0010_0020, 'LO'],
	IssuerOfPatientID: [0x0010_0021, 'LO'],
	IssuerOfPatientIDQualifiersSequence: [0x0010_0024, 'SQ'],
	PatientBirthDate: [0x0010_0030, 'DA'],
	PatientSex: [0x0010_0040, 'CS'],
	BodyPartExamined: [0x0018_0015, 'CS'],
	StudyInstanceUID: [0x0020_000d, 'UI'],
	SeriesInstanceUID: [0x0020_000e, 'UI'],
	StudyID: [0x0020_0010, 'SH'],
	SeriesNumber: [0x0020_0011, 'IS'],
	InstanceNumber: [0x0020_0013, 'IS'],
	NumberOfFrames: [0x0028_0008, 'IS'],
	Rows: [0x0028_0010, 'US'],
	Columns: [0x0028_0011, 'US'],
	LocalNamespaceEntityID: [0x0040_0031, 'UT'],
	UniversalEntityID: [0x0040_0032, 'UT'],
	UniversalEntityIDType: [0x0040_0033, 'CS'],
} as const satisfies Record<string, readonly [number, string]>;

export type Keyword = keyof typeof elements;

export function tagOf(keyword: Keyword): number {
	return elements[keyword][0];
}

const byTag: ReadonlyMap<number, readonly [Keyword, string]> = new Map(
	Object.entries(elements).map(([keyword, [tag, vr]]) => [tag, [keyword as Keyword, vr]]),
);

export function keywordOf(tag: number): Keyword | undefined {
	return byTag.get(tag)?.[0];
}

/** `UN` when the element is not one of these. */
export function vrOf(tag: number): string {
	return byTag.get(tag)?.[1] ?? 'UN';
}

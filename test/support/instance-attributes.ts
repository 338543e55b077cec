import type { InstanceAttributes } from '#record/instance.ts';

/** A CT image of an invented patient, as its data set says it. */
export function instanceAttributes(changes: Partial<InstanceAttributes> = {}): InstanceAttributes {
	return {
		sopClassUid: '1.2.840.10008.5.1.4.1.1.2',
		sopInstanceUid: '1.2.3.4.5',
		studyUid: '1.2.3',
		seriesUid: '1.2.3.4',
		transferSyntaxUid: '1.2.840.10008.1.2.1',
		patient: { id: 'P1', issuer: undefined, name: undefined, birthDate: undefined, gender: undefined },
		study: {
			started: undefined,
			accessionNumber: undefined,
			accessionIssuer: undefined,
			studyId: undefined,
			description: undefined,
			referringPhysician: undefined,
		},
		series: { modality: 'CT', number: 1, description: undefined, bodyPart: undefined, station: undefined, started: undefined },
		number: 1,
		rows: 1,
		columns: 1,
		frames: 1,
		...changes,
	};
}

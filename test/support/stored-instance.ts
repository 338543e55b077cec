import type { StoredInstance } from '#record/instance.ts';

/** An instance of a study `1.2` or another one; its object lies at a key that names UID and content. */
export function storedInstance(number: number, content: string, studyUid = '1.2', accessionNumber?: string): StoredInstance {
	const sopInstanceUid = `${studyUid}.1.${number}`;
	const unsaid = { description: undefined, started: undefined };
	return {
		attributes: {
			...{
				sopClassUid: '1.2.840.10008.5.1.4.1.1.2',
				sopInstanceUid,
				studyUid,
				seriesUid: `${studyUid}.1`,
				transferSyntaxUid: '1.2.840.10008.1.2',
			},
			patient: { id: undefined, issuer: undefined, name: undefined, birthDate: undefined, gender: undefined },
			study: { ...unsaid, accessionNumber, accessionIssuer: undefined, studyId: undefined, referringPhysician: undefined },
			series: { ...unsaid, modality: 'CT', number: undefined, bodyPart: undefined, station: undefined },
			...{ number, rows: undefined, columns: undefined, frames: undefined },
		},
		digest: content,
		bytes: content.length,
		objectKey: `${sopInstanceUid}/${content}`,
		callingAe: 'CT1',
		source: '127.0.0.1',
	};
}

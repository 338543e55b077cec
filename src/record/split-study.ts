import { createHash } from 'node:crypto';
import type { StatedPatient } from './imaging.ts';

/**
 * Makes the UID of the study into which the images of one patient are split off from a study: of a UUID, under 2.25 (PS3.5 §B.2). The same
 * study and patient always make the same UID, so that further images find the study, on every node.
 */
export function splitStudyUid(studyUid: string, { system, id }: Pick<StatedPatient, 'system' | 'id'>): string {
	return uidOf(
		createHash('sha256')
			.update(JSON.stringify([studyUid, system, id]))
			.digest()
			.subarray(0, 16),
	);
}

/** Makes a UID of a UUID that was made anew. */
export function uidOfUuid(uuid: string): string {
	return `2.25.${BigInt(`0x${uuid.replaceAll('-', '')}`)}`;
}

/** RFC 9562 §5.8: a UUID of the product's own making has version 8. */
function uidOf(bytes: Buffer): string {
	bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
	bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
	return `2.25.${BigInt(`0x${bytes.toString('hex')}`)}`;
}

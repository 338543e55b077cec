import { createHash } from 'node:crypto';
import { isUuid, newId } from '#core/id.ts';

/** The ids by which an object is filed. */
export interface Filing {
	siteId: string;
	studyUid: string;
	seriesUid: string;
	sopInstanceUid: string;
}

const digestPart = '[0-9a-f]{32}';
const uuidPart = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const keyPattern = new RegExp(`^(quarantine/)?${uuidPart}/[0-9a-f]{2}/${digestPart}/${digestPart}/${digestPart}-[0-9a-f]{32}\\.dcm$`);
const quarantinePrefix = 'quarantine/';

function digest(uid: string): string {
	return createHash('sha256').update(uid, 'latin1').digest('hex').slice(0, 32);
}

/**
 * Returns a key that no object had before: site, then digests of study, series and instance, then an id of this delivery. So the removal of
 * a
 * duplicate can never remove the object that it duplicates. The key contains no received text.
 */
export function newObjectKey({ siteId, studyUid, seriesUid, sopInstanceUid }: Filing): string {
	if (!isUuid(siteId)) throw new TypeError('the id of a site is a UUID');
	const study = digest(studyUid);
	return `${siteId}/${study.slice(0, 2)}/${study}/${digest(seriesUid)}/${digest(sopInstanceUid)}-${newId().replaceAll('-', '')}.dcm`;
}

export function isObjectKey(text: string): boolean {
	return keyPattern.test(text);
}

export function isQuarantined(key: string): boolean {
	return key.startsWith(quarantinePrefix);
}

/** Returns the key of an object in quarantine. */
export function quarantineKey(key: string): string {
	return isQuarantined(key) ? key : quarantinePrefix + key;
}

/** The key under which a quarantined object was published, and which the index knows. */
export function publishedKey(key: string): string {
	return isQuarantined(key) ? key.slice(quarantinePrefix.length) : key;
}

import { createHash } from 'node:crypto';
import { isUuid, newId } from '#core/id.ts';
import { objectIdOf } from '#record/same-object.ts';

/** The ids by which an object is filed. */
export interface Filing {
	siteId: string;
	studyUid: string;
	seriesUid: string;
	sopInstanceUid: string;
}

/** Says where a record lies, and whose it is. */
export interface Place {
	siteId: string;
	/** The id of the segment, 32 hexadecimal digits. */
	segment: string;
	/** The position of the record in its segment. */
	offset: number;
	/** The id of the delivery, 32 hexadecimal digits. It stays when the record moves to another segment. */
	id: string;
}

const digestPart = '[0-9a-f]{32}';
const uuidPart = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const keyPattern = new RegExp(`^(?:quarantine/)?${uuidPart}/[0-9a-f]{2}/${digestPart}/${digestPart}/${digestPart}-[0-9a-f]{32}\\.dcm$`);
const placePattern = new RegExp(`^(?:quarantine/)?(${uuidPart})/segments/([0-9a-f]{32})/([1-9][0-9]{0,14})-([0-9a-f]{32})\\.dcm$`);
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

/** Returns the key of an object that is a record of a segment. It says where the record lies, so nothing has to be looked up. */
export function placedKey({ siteId, segment, offset, id }: Place): string {
	return `${siteId}/segments/${segment}/${offset}-${id}.dcm`;
}

/** Returns the place of an object in a segment; undefined when its key is that of a file of its own. */
export function placeOf(key: string): Place | undefined {
	const [, siteId, segment, offset, id] = placePattern.exec(key) ?? [];
	if (siteId === undefined || segment === undefined || id === undefined) return undefined;
	return { siteId, segment, offset: Number(offset), id };
}

/** Returns the site of a key, and the id of its delivery. */
export function ownerOf(key: string): Pick<Place, 'siteId' | 'id'> {
	const id = objectIdOf(key);
	if (id === undefined || !isObjectKey(key)) throw new TypeError('not a key of the object store');
	return { siteId: publishedKey(key).slice(0, 36), id };
}

export function isObjectKey(text: string): boolean {
	return keyPattern.test(text) || placePattern.test(text);
}

export function isQuarantined(key: string): boolean {
	return key.startsWith(quarantinePrefix);
}

/** Returns the key of an object in quarantine. A record stays where it is: its row says that it is kept aside. */
export function quarantineKey(key: string): string {
	return isQuarantined(key) ? key : quarantinePrefix + key;
}

/** The key under which a quarantined object was published, and which the index knows. */
export function publishedKey(key: string): string {
	return isQuarantined(key) ? key.slice(quarantinePrefix.length) : key;
}

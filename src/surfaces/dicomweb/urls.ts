import type { RetrievableInstance } from '#record/imaging-query.ts';
import type { HttpRequest } from '../http/message.ts';

export const root = '/dicomweb';

/** Tells whether a path belongs to DICOMweb; the origin serves other surfaces too. */
export function isDicomWeb(path: string): boolean {
	return path === root || path.startsWith(`${root}/`);
}

/** Returns the base URL of links, without a trailing slash. */
export function baseOf({ origin }: Pick<HttpRequest, 'origin'>): string {
	return origin + root;
}

/** Returns the URL of a study, series or instance (PS3.18 §10.1). */
export function resourceUrl(base: string, studyUid: string, seriesUid?: string, sopInstanceUid?: string): string {
	const series = seriesUid === undefined ? '' : `/series/${seriesUid}`;
	return `${base}/studies/${studyUid}${series}${sopInstanceUid === undefined ? '' : `/instances/${sopInstanceUid}`}`;
}

export function instanceUrl(base: string, { studyUid, seriesUid, sopInstanceUid }: RetrievableInstance): string {
	return resourceUrl(base, studyUid, seriesUid, sopInstanceUid);
}

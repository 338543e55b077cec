import type { DicomJson } from '#dicom/json-model.ts';
import type { HttpAnswer } from '../http/message.ts';
import type { PartResult } from './part-reception.ts';
import { resourceUrl } from './urls.ts';

const retryAfterSeconds = 5;

export function isStored({ status }: PartResult): boolean {
	return status === 0 || isWarning(status);
}

function isWarning(status: number): boolean {
	return status >> 12 === 0xb;
}

const uidElement = (uid: string) => ({ vr: 'UI', Value: [uid] });
const reasonElement = (status: number) => ({ vr: 'US', Value: [status] });
const urlElement = (url: string) => ({ vr: 'UR', Value: [url] });

/** The Store Instances Response Module (PS3.18 §I.2), in the DICOM JSON Model. */
function responseModule(base: string, results: readonly PartResult[]): DicomJson {
	const stored: DicomJson[] = [];
	const failed: DicomJson[] = [];
	const others: DicomJson[] = [];
	const studies = new Set<string>();
	for (const { status, sopClassUid, sopInstanceUid, studyUid, seriesUid } of results) {
		if (sopClassUid === undefined || sopInstanceUid === undefined) {
			others.push({ '00081197': reasonElement(status) });
			continue;
		}
		const named = { '00081150': uidElement(sopClassUid), '00081155': uidElement(sopInstanceUid) };
		if (status !== 0 && !isWarning(status)) {
			failed.push({ ...named, '00081197': reasonElement(status) });
			continue;
		}
		if (studyUid === undefined || seriesUid === undefined) throw new Error('an instance was stored without its study');
		studies.add(studyUid);
		const url = { '00081190': urlElement(resourceUrl(base, studyUid, seriesUid, sopInstanceUid)) };
		stored.push({ ...named, ...url, ...(isWarning(status) ? { '00081196': reasonElement(status) } : {}) });
	}
	const [studyUid] = studies;
	const sequence = (tag: string, items: DicomJson[]) => (items.length === 0 ? {} : { [tag]: { vr: 'SQ', Value: items } });
	return {
		...(studyUid !== undefined && studies.size === 1 ? { '00081190': urlElement(resourceUrl(base, studyUid)) } : {}),
		...sequence('00081198', failed),
		...sequence('00081199', stored),
		...sequence('0008119A', others),
	};
}

/** 503 where nothing was stored because the service cannot now: the same request may be sent again. */
function statusOf(results: readonly PartResult[]): number {
	if (results.every(({ status }) => status === 0)) return 200;
	if (results.some((result) => isStored(result))) return 202;
	return results.every(({ isTransient }) => isTransient) ? 503 : 409;
}

/** The answer to a store request (PS3.18 §10.5.3). */
export function storeAnswer(base: string, mediaType: string, results: readonly PartResult[]): HttpAnswer {
	const status = statusOf(results);
	const again = status === 503 ? { 'Retry-After': String(retryAfterSeconds) } : {};
	return { status, headers: { 'Content-Type': mediaType, ...again }, body: JSON.stringify(responseModule(base, results)) };
}

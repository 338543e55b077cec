import type { DicomJson } from '#dicom/json-model.ts';
import type { PartResult } from '#imaging/store-reasons.ts';
import type { ReferencedInstance } from '#record/instance.ts';
import type { HttpAnswer } from '../http/message.ts';
import { resourceUrl } from './urls.ts';

/** Advice to a client. A sender that comes earlier is not refused for it. */
const retryAfterSeconds = 5;

const uidElement = (uid: string) => ({ vr: 'UI', Value: [uid] });
const reasonElement = (status: number) => ({ vr: 'US', Value: [status] });
const urlElement = (url: string) => ({ vr: 'UR', Value: [url] });
/** Retrieve URL is of type 2: it is there, and empty where there is none (PS3.18 §I.2). */
const noUrl = { vr: 'UR' };
const namedElements = ({ sopClassUid, sopInstanceUid }: ReferencedInstance) => ({
	'00081150': uidElement(sopClassUid),
	'00081155': uidElement(sopInstanceUid),
});

/** Builds the Store Instances Response Module (PS3.18 §I.2) in the DICOM JSON Model. */
function responseModule(base: string, results: readonly PartResult[]): DicomJson {
	const stored: DicomJson[] = [];
	const failed: DicomJson[] = [];
	const others: DicomJson[] = [];
	const studies = new Set<string>();
	for (const result of results) {
		if (result.kind === 'failed') {
			const reason = { '00081197': reasonElement(result.failureReason) };
			if (result.named === undefined) others.push(reason);
			else failed.push({ ...namedElements(result.named), ...reason });
			continue;
		}
		const { studyUid, seriesUid, sopInstanceUid, warningReason, isRetrievable } = result;
		if (isRetrievable) studies.add(studyUid);
		const url = { '00081190': isRetrievable ? urlElement(resourceUrl(base, studyUid, seriesUid, sopInstanceUid)) : noUrl };
		const warning = warningReason === undefined ? {} : { '00081196': reasonElement(warningReason) };
		stored.push({ ...namedElements(result), ...url, ...warning });
	}
	const [studyUid] = studies;
	const sequence = (tag: string, items: DicomJson[]) => (items.length === 0 ? {} : { [tag]: { vr: 'SQ', Value: items } });
	return {
		...(stored.length > 0 && studies.size < 2
			? { '00081190': studyUid === undefined ? noUrl : urlElement(resourceUrl(base, studyUid)) }
			: {}),
		...sequence('00081198', failed),
		...sequence('00081199', stored),
		...sequence('0008119A', others),
	};
}

/** Answers 503 when nothing was stored because the service is not able to at the moment. The client may send the same request again. */
function statusOf(results: readonly PartResult[]): number {
	const failed = results.filter((result) => result.kind === 'failed');
	if (failed.length < results.length)
		return results.every((result) => result.kind === 'stored' && result.warningReason === undefined) ? 200 : 202;
	return failed.every(({ isTransient }) => isTransient) ? 503 : 409;
}

/** Builds the answer to a store request (PS3.18 §10.5.3). */
export function storeAnswer(base: string, mediaType: string, results: readonly PartResult[]): HttpAnswer {
	const status = statusOf(results);
	const again = status === 503 ? { 'Retry-After': String(retryAfterSeconds) } : {};
	return { status, headers: { 'Content-Type': mediaType, ...again }, body: JSON.stringify(responseModule(base, results)) };
}

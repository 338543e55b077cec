import { type UploadTarget, uploadPath, uploadTo } from '#administration/images/upload.ts';
import { PartReception } from '#imaging/part-reception.ts';
import { failureReasons, type PartResult } from '#imaging/store-reasons.ts';
import { jsonAnswer } from '../http/json-answer.ts';
import type { StreamingRoute } from '../http/message.ts';
import type { AdminContext } from './context.ts';
import { signedInStreaming } from './guard.ts';
import { apiPath, carryOut } from './operation-routes.ts';

/** A file may have a head before its data set. */
const headBytesMax = 1024 * 1024;

/** Stores one DICOM file, as a part of a store request of DICOMweb is stored, and tells what became of it. */
export function uploadRoute(context: AdminContext): StreamingRoute {
	const { intake, limits } = context;
	const pattern = apiPath + uploadPath.replace('{site}', ':site');
	const bytesMax = limits.dimseObjectBytesMax + headBytesMax;
	return signedInStreaming(context, { pattern, bytesMax }, async (session, request) => {
		const target = (await carryOut(context, uploadTo, session, request, { site: request.params['site'] ?? '' })) as UploadTarget;
		const { siteId, settings } = target;
		const source = session.email;
		const part = new PartReception({ intake, siteId, settings, source, studyUid: undefined, bytesMax });
		try {
			// The reception takes a chunk over, and the server may use its memory again.
			for await (const chunk of request.body) await part.write(Buffer.from(chunk));
		} catch (error) {
			await part.abandon();
			throw error;
		}
		const result = await part.finish();
		if (result.kind === 'stored') await target.note(result);
		return jsonAnswer(200, answerOf(result));
	});
}

const reasons: Readonly<Record<number, string>> = {
	[failureReasons.outOfResources]: 'it cannot be stored now, or is too large',
	[failureReasons.doesNotMatch]: 'it does not say which image it is',
	[failureReasons.cannotUnderstand]: 'it is no DICOM file that can be read',
	[failureReasons.contentRefused]: 'another image is stored under its SOP Instance UID, and the site refuses other content',
};

function answerOf(result: PartResult): object {
	if (result.kind === 'failed') return { outcome: 'failed', reason: reasons[result.failureReason] ?? 'it was refused' };
	const { sopInstanceUid, studyUid, warningReason } = result;
	const named = { sop_instance_uid: sopInstanceUid, study_uid: studyUid };
	if (warningReason === undefined) return { outcome: 'stored', ...named, reason: '' };
	return { outcome: 'kept-aside', ...named, reason: 'it is kept aside: see the conflicts of the site' };
}

import type { DataSetFault } from '#dicom/fault.ts';
import type { InstanceDelivery } from '#record/delivery.ts';
import type { InstanceAttributes } from '#record/instance.ts';
import { type Settings, settingOf } from '#record/settings/settings.ts';
import type { TraceIds } from '#record/trace-ids.ts';
import { isUid } from '#record/uid.ts';

/**
 * The request's description of an instance before its data set arrives: from C-STORE-RQ and presentation context, or the file meta of
 * STOW-RS.
 */
export interface AnnouncedInstance {
	siteId: string;
	surface: InstanceDelivery['surface'];
	/** The integration client; the nil id when there is none. */
	clientId: string;
	settings: Settings;
	/** Empty when the sender has no AE title: STOW-RS. */
	callingAe: string;
	/** Address, or the public id of an API key. */
	source: string;
	affectedSopClassUid: string;
	affectedSopInstanceUid: string;
	transferSyntaxUid: string;
	/** The study to which the instance must belong. */
	studyUid?: string;
	/** Set when the request is traced. */
	trace?: TraceIds | undefined;
}

/**
 * The reason why an instance is refused. `not-understood`: the request or the data set is no readable DICOM. `mismatch`: the data set lacks a UID,
 * or has others than the request. `other-content`: other content is stored under the UID, and the site's policy refuses it. `not-now`: it could not
 * be stored, but may be when it is sent again.
 */
export type RefusalReason = 'not-understood' | 'mismatch' | 'other-content' | 'not-now';

export interface Refusal {
	reason: RefusalReason;
	text: string;
}

export function refusalOf({ kind, text }: DataSetFault): Refusal {
	return { reason: kind === 'missing' ? 'mismatch' : 'not-understood', text };
}

/** Returns the fault of the request that is known before a byte of the data set is read. */
export function announcedFault(announced: AnnouncedInstance): Refusal | undefined {
	const { affectedSopClassUid, affectedSopInstanceUid, transferSyntaxUid, settings } = announced;
	const rules = [
		{ name: 'Affected SOP Class UID', uid: affectedSopClassUid, rule: 'strict' },
		{ name: 'Affected SOP Instance UID', uid: affectedSopInstanceUid, rule: settingOf(settings, 'uids') },
		{ name: 'Transfer Syntax UID', uid: transferSyntaxUid, rule: 'strict' },
	] as const;
	const wrong = rules.find(({ uid, rule }) => !isUid(uid, rule));
	return wrong && { reason: 'not-understood', text: `${wrong.name} is not a UID` };
}

/** Returns the contradiction between data set and request. */
export function contradiction(announced: AnnouncedInstance, attributes: InstanceAttributes): Refusal | undefined {
	const text =
		attributes.sopClassUid !== announced.affectedSopClassUid
			? 'SOP Class UID of data set and request differ'
			: attributes.sopInstanceUid !== announced.affectedSopInstanceUid
				? 'SOP Instance UID of data set and request differ'
				: announced.studyUid !== undefined && attributes.studyUid !== announced.studyUid
					? 'Study Instance UID of data set and request differ'
					: undefined;
	return text === undefined ? undefined : { reason: 'mismatch', text };
}

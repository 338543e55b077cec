import type { SiteAuditEvent } from '#access/audit.ts';
import { isAeTitle } from '#dicom/ae-title.ts';
import type { AnsweredQuery } from './context.ts';

/** `0xFF00` */
function statusText(status: number): string {
	return `0x${status.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** A query or retrieval as it stands in the audit trail: `dicom.c-find` by `client:<id>` about `study-root STUDY`. */
export function dimseQueryEvent(answered: AnsweredQuery): SiteAuditEvent {
	const { operation, siteId, clientId, callingAe, address, model, level, status, matches, completed, failed, destination } = answered;
	return {
		siteId,
		actor: clientId === undefined ? 'sender' : `client:${clientId}`,
		action: `dicom.${operation.toLowerCase()}`,
		subject: level === undefined ? model : `${model} ${level}`,
		source: address,
		detail: {
			calling_ae: callingAe,
			status: statusText(status),
			...(matches === undefined ? {} : { matches }),
			...(completed === undefined ? {} : { completed }),
			...(failed === undefined ? {} : { failed }),
			// What is no AE title may be anything.
			...(destination !== undefined && isAeTitle(destination) ? { destination } : {}),
		},
	};
}

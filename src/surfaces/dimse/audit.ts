import type { SiteAuditEvent } from '#access/audit.ts';
import { isAeTitle } from '#dicom/ae-title.ts';
import type { AnsweredQuery, EndedAssociation } from './context.ts';

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

/**
 * An association as it stands in the audit trail: `dicom.association` of a calling AE title. None of one that only tried the
 * connection (C-ECHO), as monitors do all day; the metrics count it.
 */
export function associationEvent(ended: EndedAssociation, nowMs: number): SiteAuditEvent[] {
	const { siteId, clientId, callingAe, calledAe, address, startedMs, bytes, end, requests } = ended;
	if (end === 'released' && requests.size > 0 && [...requests.keys()].every((name) => name === 'C-ECHO success')) return [];
	const stored = (outcome: string) => requests.get(`C-STORE ${outcome}`) ?? 0;
	const failed = [...requests].filter(([name]) => name.endsWith(' failure') || name.endsWith(' abandoned'));
	const event: SiteAuditEvent = {
		siteId,
		actor: clientId === undefined ? 'sender' : `client:${clientId}`,
		action: 'dicom.association',
		subject: callingAe,
		source: address,
		detail: {
			called_ae: calledAe,
			started_at: new Date(startedMs).toISOString(),
			milliseconds: Math.max(0, nowMs - startedMs),
			bytes,
			instances: stored('success') + stored('warning'),
			warnings: stored('warning'),
			failed: failed.reduce((sum, [, count]) => sum + count, 0),
			requests: [...requests].map(([name, count]) => `${count} × ${name}`).join(', '),
			end,
		},
	};
	return [event];
}

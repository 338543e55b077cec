import type { SiteAuditEvent } from '#access/audit.ts';
import type { SiteAccess } from '#access/gathered-accesses.ts';
import { isAeTitle } from '#dicom/ae-title.ts';
import { settingOf } from '#record/settings/settings.ts';
import type { AnsweredQuery, EndedAssociation } from './context.ts';

/** Formats a status, such as `0xFF00`. */
function statusText(status: number): string {
	return `0x${status.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Builds the audit event of a query or retrieval: `dicom.c-find` by `client:<id>` about `study-root STUDY`. */
export function dimseQueryEvent(answered: AnsweredQuery): SiteAccess[] {
	const { operation, siteId, clientId, callingAe, address, model, level, status, matches, completed, failed, destination } = answered;
	if (settingOf(answered.settings, 'recorded_reads') === 'none') return [];
	const studies = new Set(answered.studies);
	const access: SiteAccess = {
		siteId,
		actor: clientId === undefined ? 'sender' : `client:${clientId}`,
		action: `dicom.${operation.toLowerCase()}`,
		subject: level === undefined ? model : `${model} ${level}`,
		kind: operation,
		patients: [],
		studies,
		source: address,
		detail: {
			calling_ae: callingAe,
			status: statusText(status),
			...(matches === undefined ? {} : { matches }),
			...(completed === undefined ? {} : { completed }),
			...(failed === undefined ? {} : { failed }),
			// A text that is no AE title may contain anything, so it is left out.
			...(destination !== undefined && isAeTitle(destination) ? { destination } : {}),
		},
	};
	return [access];
}

/**
 * Builds the audit event of an association: `dicom.association` of a calling AE title. An association that only tried the connection
 * (C-ECHO), as monitors do all day, gives no event; the metrics count it.
 */
export function associationEvent(ended: EndedAssociation, nowMs: number): SiteAuditEvent[] {
	const { siteId, clientId, callingAe, calledAe, address, startedMs, bytes, end, requests, studies } = ended;
	if (end === 'released' && requests.size > 0 && [...requests.keys()].every((name) => name === 'C-ECHO success')) return [];
	const stored = (outcome: string) => requests.get(`C-STORE ${outcome}`) ?? 0;
	const failed = [...requests].filter(([name]) => name.endsWith(' failure') || name.endsWith(' abandoned'));
	const event: SiteAuditEvent = {
		siteId,
		actor: clientId === undefined ? 'sender' : `client:${clientId}`,
		action: 'dicom.association',
		subject: callingAe,
		source: address,
		studies,
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

import type { Clock } from '#core/clock.ts';
import { newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { Connection } from '#storage/connection.ts';
import { insertAuditEvent } from '#storage/statements/administrative/read-access.ts';
import type { AccessLimits } from './limits.ts';

export interface AuditEvent {
	action: string;
	subject: string;
	source: string;
}

/** An action by or for a known person or system. */
export interface SiteAuditEvent extends AuditEvent {
	/** Null if the event belongs to no site. */
	siteId: string | null;
	actor: string;
	/** It contains no patient data. */
	detail: Record<string, string | number>;
}

export interface Audit {
	/** Returns at once. If the same event repeats within a minute, it is counted but not written again. */
	record(event: AuditEvent): void;
	/** Returns at once. Every event is written. */
	recordOf(event: SiteAuditEvent): void;
	close(): Promise<void>;
}

/** Events wait this long at most while the database answers. */
const writeMs = 500;

export interface AuditOptions {
	connection: Pick<Connection, 'open' | 'run'>;
	limits: Pick<AccessLimits, 'auditRefusalsMax' | 'auditEventsMax'>;
	log: Log;
	clock: Clock;
}

interface Waiting extends AuditEvent {
	atMs: number;
	times: number;
}

/** Writes refusals to the audit trail. A flood becomes one row per minute with its count. */
export function openAudit({ connection, limits, log, clock }: AuditOptions): Audit {
	const waiting = new Map<string, Waiting>();
	const written = new Map<string, number>();
	const siteEvents: unknown[][] = [];
	let dropped = 0;
	let writing = Promise.resolve();

	async function write(force: boolean): Promise<void> {
		const nowMs = clock.nowMs();
		const due = [...waiting].filter(([key]) => force || nowMs - (written.get(key) ?? 0) >= 60_000);
		if (due.length === 0 && siteEvents.length === 0) return;
		await connection.open();
		for (const [key] of due) {
			waiting.delete(key);
			written.set(key, nowMs);
		}
		for (const [key, atMs] of written) if (nowMs - atMs >= 60_000) written.delete(key);
		for (const [, { action, subject, source, times, atMs }] of due) {
			const at = new Date(atMs).toISOString();
			await connection.run(insertAuditEvent, [newId(), at, null, 'sender', action, subject, source, JSON.stringify({ times })]);
		}
		await writeSiteEvents();
	}

	/** Events that could not be written wait for the next attempt. Those that the database will never accept are dropped. */
	async function writeSiteEvents(): Promise<void> {
		for (let values = siteEvents[0]; values !== undefined; values = siteEvents[0]) {
			try {
				await connection.run(insertAuditEvent, values);
			} catch (error) {
				if (!/^2[23]/.test(String((error as { code?: unknown }).code))) throw error;
				log.error({ err: error }, 'an audit event could not be written');
			}
			siteEvents.shift();
		}
	}

	function flush(force: boolean): void {
		writing = writing.then(() => write(force)).catch((error) => log.error({ err: error }, 'audit events could not be written'));
	}

	const timer = setInterval(() => flush(false), writeMs).unref();
	return {
		record(event) {
			const key = `${event.action}|${event.subject}|${event.source}`;
			const held = waiting.get(key);
			if (held) held.times++;
			else if (waiting.size < limits.auditRefusalsMax) waiting.set(key, { ...event, atMs: clock.nowMs(), times: 1 });
			else if (dropped++ % 1000 === 0) log.warn({ dropped }, 'more refusals than the audit trail takes');
		},
		recordOf({ siteId, actor, action, subject, source, detail }) {
			const nowMs = clock.nowMs();
			if (siteEvents.length >= limits.auditEventsMax) log.error({ action, site: siteId, actor }, 'an audit event is lost: too many wait');
			else siteEvents.push([newId(nowMs), new Date(nowMs).toISOString(), siteId, actor, action, subject, source, JSON.stringify(detail)]);
		},
		async close() {
			clearInterval(timer);
			flush(true);
			await writing;
		},
	};
}

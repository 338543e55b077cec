import type { Clock } from '#core/clock.ts';
import { newId, nilId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import { RepeatedTrouble } from '#core/repeated.ts';
import { systemTimers } from '#core/timers.ts';
import { rowIdOf } from '#record/row-id.ts';
import type { Connection } from '#storage/connection.ts';
import { stateOf, troubleOf } from '#storage/sqlstate.ts';
import { AuditChain, uniqueViolation } from './audit-chain.ts';
import type { LinkedEvent } from './audit-digest.ts';
import { linkUnlinked } from './audit-links.ts';
import { removeOldMonths } from './audit-retention.ts';
import { type Gathered, GatheredAccesses, type SiteAccess } from './gathered-accesses.ts';
import type { AccessLimits } from './limits.ts';
import type { AccessMetrics } from './metrics.ts';
import { addPatientsOfStudies } from './patients-of-studies.ts';

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
	/** The studies that it concerns. It is no access to their patients, so these are not looked up. */
	studies?: Iterable<string>;
}

export interface Audit {
	/** Returns at once. If the same event repeats within a minute, it is counted but not written again. */
	record(event: AuditEvent): void;
	/** Returns at once. Every event is written. */
	recordOf(event: SiteAuditEvent): void;
	/** Returns at once. Every access is written, those of a flood together. */
	recordAccess(access: SiteAccess): void;
	close(): Promise<void>;
}

/** Events of one batch. */
const batchEventsMax = 1000;
/** Events that changes wrote themselves are linked this often. */
const linkMs = 1000;
/** Old months are looked for this often. */
const removeMs = 3_600_000;

export interface AuditOptions {
	connection: Pick<Connection, 'open' | 'run'>;
	limits: Pick<AccessLimits, 'auditRefusalsMax' | 'auditEventsMax' | 'auditWaitMsMax' | 'auditKeepDays'>;
	metrics: Pick<AccessMetrics, 'auditEvents' | 'auditWaiting'>;
	log: Log;
	clock: Clock;
	/** True for the one process of a node that links what changes have written themselves. */
	links: boolean;
}

interface Waiting extends AuditEvent {
	atMs: number;
	times: number;
}

/**
 * Gathers events in memory and writes them in batches, so that nobody waits for them. What a process has gathered and not written when it is
 * killed is lost: events of AUDIT_WAIT_MS_MAX at most, while the database answers.
 */
export function openAudit(options: AuditOptions): Audit {
	const trail = new Trail(options);
	const timer = systemTimers.every(options.limits.auditWaitMsMax, () => trail.flush(false));
	return {
		record: (event) => trail.record(event),
		recordOf: (event) => trail.recordOf(event),
		recordAccess: (access) => trail.recordAccess(access),
		async close() {
			timer.stop();
			await trail.close();
		},
	};
}

class Trail {
	readonly #options: AuditOptions;
	readonly #chain: AuditChain;
	readonly #refusals = new Map<string, Waiting>();
	readonly #written = new Map<string, number>();
	readonly #events: LinkedEvent[] = [];
	readonly #accesses = new GatheredAccesses();
	readonly #unwritten: RepeatedTrouble;
	readonly #unlinked: RepeatedTrouble;
	#droppedRefusals = 0;
	#lost = 0;
	#linkedAtMs = 0;
	#removedAtMs = Number.NEGATIVE_INFINITY;
	#writing: Promise<void> | undefined;

	constructor(options: AuditOptions) {
		this.#options = options;
		this.#chain = new AuditChain(options);
		this.#unwritten = new RepeatedTrouble(options.log, 'audit events could not be written');
		this.#unlinked = new RepeatedTrouble(options.log, 'the audit trail could not be linked');
	}

	record(event: AuditEvent): void {
		const { limits, log, clock } = this.#options;
		const key = `${event.action}|${event.subject}|${event.source}`;
		const held = this.#refusals.get(key);
		if (held) held.times++;
		else if (this.#refusals.size < limits.auditRefusalsMax) this.#refusals.set(key, { ...event, atMs: clock.nowMs(), times: 1 });
		else if (this.#droppedRefusals++ % 1000 === 0) log.warn({ dropped: this.#droppedRefusals }, 'more refusals than the audit trail takes');
	}

	recordOf({ siteId, actor, action, subject, source, detail, studies = [] }: SiteAuditEvent): void {
		if (!this.#hasRoom({ action, siteId, actor })) return;
		const nowMs = this.#options.clock.nowMs();
		const event = linked(nowMs, { siteId: siteId ?? nilId, actor, action, subject, source, detail });
		const named = storableStudies(studies);
		this.#events.push(named === null ? event : { ...event, studies: named, patients: [] });
	}

	recordAccess(access: SiteAccess): void {
		const { siteId, actor, action } = access;
		const nowMs = this.#options.clock.nowMs();
		if (this.#accesses.join(access, nowMs) || !this.#hasRoom({ action, siteId, actor })) return;
		this.#accesses.begin(access, nowMs);
	}

	#hasRoom(event: { action: string; siteId: string | null; actor: string }): boolean {
		const { limits, log, metrics } = this.#options;
		if (this.#events.length + this.#accesses.weight + this.#chain.waiting < limits.auditEventsMax) return true;
		metrics.auditEvents.inc({ outcome: 'lost' });
		this.#lost++;
		// A flood while the database is away does not fill the disk with lines as well.
		if (this.#lost <= 100 || this.#lost % 1000 === 0)
			log.error(
				{ action: event.action, site: event.siteId, actor: event.actor, lost: this.#lost },
				'an audit event is lost: too many wait',
			);
		return false;
	}

	/** Writes what has gathered, unless that is under way. */
	flush(force: boolean): Promise<void> {
		this.#writing ??= this.#write(force)
			.catch((error) => this.#unwritten.happened(error))
			.finally(() => {
				this.#writing = undefined;
			});
		return this.#writing;
	}

	async close(): Promise<void> {
		const { log } = this.#options;
		await this.#writing;
		await this.flush(true);
		const lost = this.#events.length + this.#chain.waiting;
		if (lost > 0) log.error({ lost }, 'audit events are lost: the database does not take them');
		else await this.#chain.close().catch((error) => log.error({ err: error }, 'the chain of the audit trail could not be closed'));
	}

	async #write(force: boolean): Promise<void> {
		const { connection, metrics, clock, links } = this.#options;
		this.#takeRefusals(force);
		for (const gathered of this.#accesses.take()) this.#events.push(ofAccess(gathered));
		metrics.auditWaiting.set(this.#events.length + this.#chain.waiting);
		const isLinkDue = links && (force || clock.nowMs() - this.#linkedAtMs >= linkMs);
		if (this.#events.length === 0 && this.#chain.waiting === 0 && !isLinkDue) return;
		await connection.open();
		await this.#settle();
		while (this.#events.length > 0) await this.#writeBatch();
		metrics.auditWaiting.set(0);
		this.#unwritten.over();
		if (isLinkDue) await this.#link();
	}

	/** Links what changes wrote themselves. It may fail while events are written, so it is told for itself. */
	async #link(): Promise<void> {
		const { connection, clock } = this.#options;
		this.#linkedAtMs = clock.nowMs();
		try {
			await linkUnlinked(connection, this.#chain);
			await this.#removeOld();
			this.#unlinked.over();
		} catch (error) {
			this.#unlinked.happened(error);
		}
	}

	async #removeOld(): Promise<void> {
		const { connection, limits, log, clock } = this.#options;
		const nowMs = clock.nowMs();
		if (limits.auditKeepDays === 0 || nowMs - this.#removedAtMs < removeMs) return;
		this.#removedAtMs = nowMs;
		await removeOldMonths(connection, { chain: this.#chain, keepDays: limits.auditKeepDays, nowMs, log });
	}

	#takeRefusals(force: boolean): void {
		const nowMs = this.#options.clock.nowMs();
		for (const [key, { action, subject, source, times, atMs }] of this.#refusals) {
			if (!force && nowMs - (this.#written.get(key) ?? 0) < 60_000) continue;
			this.#refusals.delete(key);
			this.#written.set(key, nowMs);
			this.#events.push(linked(atMs, { siteId: nilId, actor: 'sender', action, subject, source, detail: { times } }));
		}
		for (const [key, atMs] of this.#written) if (nowMs - atMs >= 60_000) this.#written.delete(key);
	}

	/** Tries the batch again that the database did not take before. */
	async #settle(): Promise<void> {
		try {
			await this.#chain.settle();
		} catch (error) {
			if (!isOfRow(error)) throw error;
			await this.#writeSingly(this.#chain.abandon());
		}
	}

	async #writeBatch(): Promise<void> {
		const events = this.#events.slice(0, batchEventsMax);
		await addPatientsOfStudies(this.#options.connection, events);
		try {
			await this.#chain.append('write', events);
			this.#events.splice(0, events.length);
		} catch (error) {
			// Otherwise the chain keeps the batch and tries it again, or it has not come so far as to have one.
			if (isOfRow(error) || this.#chain.waiting > 0) this.#events.splice(0, events.length);
			if (!isOfRow(error)) throw error;
			this.#chain.abandon();
			await this.#writeSingly(events);
		}
	}

	/** An event that the database will never accept is dropped, so that it does not keep the others from the trail. */
	async #writeSingly(events: readonly LinkedEvent[]): Promise<void> {
		for (const [index, event] of events.entries()) {
			try {
				await this.#chain.append('write', [event]);
			} catch (error) {
				if (!isOfRow(error)) {
					this.#events.unshift(...events.slice(this.#chain.waiting > 0 ? index + 1 : index));
					throw error;
				}
				this.#chain.abandon();
				this.#options.metrics.auditEvents.inc({ outcome: 'lost' });
				this.#options.log.error({ err: error, action: event.action }, 'an audit event could not be written');
			}
		}
	}
}

/** Tells whether the database refuses what it was given, and would again. */
function isOfRow(error: unknown): boolean {
	return troubleOf(error) === 'row' && stateOf(error) !== uniqueViolation;
}

type Described = Pick<LinkedEvent, 'siteId' | 'actor' | 'action' | 'subject' | 'source' | 'detail'>;

/** Senders choose some of the texts, and PostgreSQL takes neither NUL nor half a surrogate pair. */
function linked(atMs: number, { siteId, actor, action, subject, source, detail }: Described, id = newId(atMs)): LinkedEvent {
	const own = { siteId, actor: storable(actor), action, subject: storable(subject), source: source || null };
	return { id, atMicros: `${atMs}000`, ...own, detail: storableDetail(detail), patients: null, studies: null };
}

function storable(text: string): string {
	return (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed();
}

function storableDetail(detail: unknown): unknown {
	return JSON.parse(JSON.stringify(detail), (_name, value: unknown) => (typeof value === 'string' ? storable(value) : value));
}

function ofAccess({ id, access, atMs, patients, studies, times, lastAtMs, lastRequestId }: Gathered): LinkedEvent {
	const { siteId, actor, action, subject, source, detail, requestId } = access;
	const further = times === 1 ? {} : { times, until: new Date(lastAtMs).toISOString(), last_request: lastRequestId };
	const told = { ...detail, ...(requestId === undefined ? {} : { request: requestId }), ...further };
	return {
		...linked(atMs, { siteId, actor, action, subject, source, detail: told }, id),
		patients: patients.size === 0 ? null : [...new Set([...patients].map(rowIdOf))].sort(),
		studies: storableStudies(studies),
	};
}

function storableStudies(studies: Iterable<string>): string[] | null {
	const named = [...studies].map(storable).sort();
	return named.length === 0 ? null : named;
}

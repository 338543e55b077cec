import type { SiteAuditEvent } from '#access/audit.ts';
import type { KeyGrant } from '#access/directory.ts';
import type { Clock } from '#core/clock.ts';
import { actorOf } from '#record/report.ts';

/** One access to the data of a site. */
export interface NotedAccess {
	grant: Pick<KeyGrant, 'siteId' | 'keyId'>;
	action: 'dicomweb.search' | 'dicomweb.retrieve';
	/** Level of the search, or Study Instance UID. */
	subject: string;
	/** Address of the caller. */
	source: string;
}

/** The same access is written this often at most. */
const everyMs = 60_000;
/** Accesses that are remembered. Forgetting one only writes it once more. */
const notedMax = 10_000;

/**
 * Writes searches and retrievals to the audit trail. A viewer asks for each frame of a study separately, so the same access is written
 * once a minute.
 */
export class AccessNotes {
	readonly #record: (event: SiteAuditEvent) => void;
	readonly #clock: Clock;
	/** The last time at which each access was written. */
	readonly #noted = new Map<string, number>();

	constructor(record: (event: SiteAuditEvent) => void, clock: Clock) {
		this.#record = record;
		this.#clock = clock;
	}

	note({ grant, action, subject, source }: NotedAccess): void {
		const key = [grant.siteId, grant.keyId, action, subject, source].join('|');
		const nowMs = this.#clock.nowMs();
		if (nowMs - (this.#noted.get(key) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
		// Clearing the map only means that some accesses are written once more.
		if (this.#noted.size >= notedMax) this.#noted.clear();
		this.#noted.set(key, nowMs);
		this.#record({ siteId: grant.siteId, actor: actorOf(grant), action, subject, source, detail: {} });
	}
}

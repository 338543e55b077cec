import type { SiteAuditEvent } from '#access/audit.ts';
import type { KeyGrant } from '#access/directory.ts';
import type { Clock } from '#core/clock.ts';

/** Who saw something of a site. */
export interface NotedAccess {
	grant: Pick<KeyGrant, 'siteId' | 'keyId'>;
	action: 'dicomweb.search' | 'dicomweb.retrieve';
	/** Level of the search, or Study Instance UID. */
	subject: string;
	/** Address of the caller. */
	source: string;
}

const everyMs = 60_000;
const notedMax = 10_000;

/**
 * The audit trail of searches and retrievals. A viewer asks for each frame of a study by itself: the same access is written once a
 * minute.
 */
export class AccessNotes {
	readonly #record: (event: SiteAuditEvent) => void;
	readonly #clock: Clock;
	/** When each was written last. */
	readonly #noted = new Map<string, number>();

	constructor(record: (event: SiteAuditEvent) => void, clock: Clock) {
		this.#record = record;
		this.#clock = clock;
	}

	note({ grant, action, subject, source }: NotedAccess): void {
		const key = [grant.siteId, grant.keyId, action, subject, source].join('|');
		const nowMs = this.#clock.nowMs();
		if (nowMs - (this.#noted.get(key) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
		// Forgetting means writing once more.
		if (this.#noted.size >= notedMax) this.#noted.clear();
		this.#noted.set(key, nowMs);
		this.#record({ siteId: grant.siteId, actor: `key:${grant.keyId}`, action, subject, source, detail: {} });
	}
}

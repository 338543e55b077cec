import type { KeyGrant } from '#access/directory.ts';
import type { SiteAccess } from '#access/gathered-accesses.ts';
import type { Clock } from '#core/clock.ts';
import { actorOf } from '#record/report.ts';
import { settingOf } from '#record/settings/settings.ts';

/** One access to the data of a site. */
export interface NotedAccess {
	grant: Pick<KeyGrant, 'siteId' | 'keyId' | 'settings'>;
	action: 'dicomweb.search' | 'dicomweb.retrieve';
	/** Level of the search, or Study Instance UID. */
	subject: string;
	/** The studies that the answer names. */
	studies: Iterable<string>;
	/** Address of the caller. */
	source: string;
	requestId: string;
}

/** The same retrieval is written this often at most. */
const everyMs = 60_000;
/** Retrievals that are remembered. Forgetting one only writes it once more. */
const notedMax = 10_000;

/**
 * Has searches and retrievals stand in the audit trail. A viewer asks for each frame of a study separately, so the retrieval of a study is
 * written once a minute.
 */
export class AccessNotes {
	readonly #record: (access: SiteAccess) => void;
	readonly #clock: Clock;
	/** The last time at which each retrieval was written. */
	readonly #noted = new Map<string, number>();

	constructor(record: (access: SiteAccess) => void, clock: Clock) {
		this.#record = record;
		this.#clock = clock;
	}

	note({ grant, action, subject, studies, source, requestId }: NotedAccess): void {
		if (settingOf(grant.settings, 'recorded_reads') === 'none') return;
		const named = new Set(studies);
		const actor = actorOf(grant);
		if (action === 'dicomweb.retrieve' && !this.#isDue([grant.siteId, actor, subject, source].join('|'))) return;
		const detail = { status: 200, studies: named.size };
		this.#record({ siteId: grant.siteId, actor, action, subject, kind: action, source, detail, requestId, patients: [], studies: named });
	}

	#isDue(key: string): boolean {
		const nowMs = this.#clock.nowMs();
		if (nowMs - (this.#noted.get(key) ?? Number.NEGATIVE_INFINITY) < everyMs) return false;
		// Clearing the map only means that some retrievals are written once more.
		if (this.#noted.size >= notedMax) this.#noted.clear();
		this.#noted.set(key, nowMs);
		return true;
	}
}

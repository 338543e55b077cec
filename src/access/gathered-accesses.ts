import { newId } from '#core/id.ts';

/** One access to the data of a site by an interface. */
export interface SiteAccess {
	siteId: string;
	actor: string;
	action: string;
	/** The object with its type, or what was searched; it contains no patient data. */
	subject: string;
	/** The kind of object, which accesses of a flood have in common. */
	kind: string;
	source: string;
	/** The outcome and what was asked for; it contains no patient data. */
	detail: Readonly<Record<string, string | number>>;
	requestId?: string;
	/** Ids of the patients whom the answer names. */
	patients: Iterable<string>;
	/** Study Instance UIDs that the answer names. */
	studies: Iterable<string>;
}

/** An access as it waits to be written; several of them if they came in a flood. */
export interface Gathered {
	/** Made when the access came: events are listed in the order of their ids, and those that changes write themselves do not wait. */
	id: string;
	access: Omit<SiteAccess, 'patients' | 'studies'>;
	atMs: number;
	patients: Set<string>;
	studies: Set<string>;
	times: number;
	lastAtMs: number;
	lastRequestId: string | undefined;
}

/** This many accesses of one kind by one caller stand by themselves until the next batch is written. */
const aloneMax = 20;
/** This many ids weigh as much as one event when the room in memory is counted. */
const idsOfWeight = 16;
/** An event names no more patients and studies than this; then another one begins. */
const idsMax = 5000;

interface Flood {
	alone: number;
	together: Gathered | undefined;
}

/**
 * Gathers accesses. Those of a caller who makes many of one kind within a moment become one event after the first few, which has the patients
 * of all, how many they were and when they ended. So a program that reads thousands of resources a second costs the trail a few rows.
 */
export class GatheredAccesses {
	#floods = new Map<string, Flood>();
	#gathered: Gathered[] = [];
	#ids = 0;

	/** The room that they take, in events. */
	get weight(): number {
		return this.#gathered.length + Math.floor(this.#ids / idsOfWeight);
	}

	/** Adds the access to those that came before it. Returns false when it needs an event of its own. */
	join(access: SiteAccess, nowMs: number): boolean {
		const flood = this.#floods.get(keyOf(access));
		const held = flood?.together;
		if (flood === undefined || held === undefined || held.patients.size + held.studies.size >= idsMax) return false;
		held.times++;
		held.lastAtMs = nowMs;
		held.lastRequestId = access.requestId;
		this.#fill(held, access);
		return true;
	}

	begin(access: SiteAccess, nowMs: number): void {
		const key = keyOf(access);
		let flood = this.#floods.get(key);
		if (flood === undefined) {
			flood = { alone: 0, together: undefined };
			this.#floods.set(key, flood);
		}
		const isAlone = flood.alone < aloneMax;
		const { patients: _patients, studies: _studies, ...own } = access;
		const gathered: Gathered = {
			id: newId(nowMs),
			access: isAlone ? own : { ...own, subject: own.kind },
			atMs: nowMs,
			patients: new Set(),
			studies: new Set(),
			times: 1,
			lastAtMs: nowMs,
			lastRequestId: undefined,
		};
		this.#fill(gathered, access);
		this.#gathered.push(gathered);
		if (isAlone) flood.alone++;
		else flood.together = gathered;
	}

	#fill(gathered: Gathered, { patients, studies }: SiteAccess): void {
		const before = gathered.patients.size + gathered.studies.size;
		for (const patient of patients) gathered.patients.add(patient);
		for (const study of studies) gathered.studies.add(study);
		this.#ids += gathered.patients.size + gathered.studies.size - before;
	}

	/** Returns all and begins anew. */
	take(): Gathered[] {
		const taken = this.#gathered;
		if (taken.length === 0) return taken;
		this.#gathered = [];
		this.#floods = new Map();
		this.#ids = 0;
		return taken;
	}
}

function keyOf({ siteId, actor, action, kind, source, detail }: SiteAccess): string {
	return `${siteId}|${actor}|${action}|${kind}|${source}|${detail['status'] ?? ''}`;
}

import { newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { StatementRunner } from '#storage/connection.ts';
import { plainArray, textArray } from '#storage/statement.ts';
import { endAlerts, forgetAlerts, noteAlerts, readActiveAlerts } from '#storage/statements/administrative/notify.ts';
import type { AwayTeller, Telling } from './away-teller.ts';
import type { Alert } from './judged.ts';
import type { Severity } from './rule.ts';

/** An alert of this node that the database may not know yet. */
interface Held {
	/** The database gets to know it by this id. */
	id: string;
	alert: Alert;
	startedMs: number;
	seenMs: number;
}

/** While the database is away, this many alerts are remembered. */
const heldMax = 1000;
const forgetEveryMs = 3_600_000;

export interface RecorderOptions {
	database: StatementRunner;
	/** Tells nodes apart; names may be alike. */
	nodeId: string;
	node: string;
	endMs: number;
	/** Tells of what begins while the database is away. */
	away: Pick<AwayTeller, 'begin' | 'send' | 'isSending' | 'told' | 'forget'>;
	log: Log;
	nowMs(): number;
}

/** Keeps the alerts of this node in the database, where those of the network come together. */
export class AlertRecorder {
	readonly #options: RecorderOptions;
	/** The alerts that fire, and those that fired while the database was away. */
	readonly #held = new Map<string, Held>();
	/** The alerts that the database has as active, and when this node last said so there. */
	readonly #noted = new Map<string, number>();
	#forgotMs = 0;
	#isAway = false;

	constructor(options: RecorderOptions) {
		this.#options = options;
	}

	/** Keeps the alerts that fire now, and ends those that no node has seen for a while. Never rejects: the next call makes up for this one. */
	async record(firing: readonly Alert[]): Promise<void> {
		const { log, nowMs } = this.#options;
		const now = nowMs();
		for (const alert of firing) {
			const held = this.#held.get(alert.key);
			if (held !== undefined) Object.assign(held, { alert, seenMs: now });
			else if (this.#held.size < heldMax) this.#held.set(alert.key, { id: newId(now), alert, startedMs: now, seenMs: now });
		}
		// The database may take long to say that it is away still.
		if (this.#isAway) this.#tell(now);
		try {
			await this.#note(now);
			this.#isAway = false;
		} catch (error) {
			if (!this.#isAway) log.warn({ err: error }, 'alerts cannot be kept in the database; they are when it is back');
			this.#isAway = true;
			this.#tell(now);
		}
	}

	/** An alert about the node itself waits for no database. What is about a site or the network does, because all nodes tell of it once. */
	#tell(now: number): void {
		const { away } = this.#options;
		for (const [key, { id, alert, seenMs }] of this.#held)
			if (seenMs === now && !alert.ofNetwork && alert.site === undefined && !this.#noted.has(key)) away.begin(id, alert);
		away.send();
	}

	async #note(now: number): Promise<void> {
		const { database, endMs, away } = this.#options;
		// An alert that is being told is noted when the outcome is known.
		const noted = [...this.#held].filter(([, { id }]) => !away.isSending(id));
		if (noted.length > 0) await database.run(noteAlerts, this.#values(noted, now));
		for (const [key, { id, seenMs }] of noted) {
			this.#noted.set(key, seenMs);
			away.forget(id);
			if (seenMs < now) this.#held.delete(key);
		}
		await database.run(endAlerts, [String(endMs)]);
		for (const [key, seenMs] of this.#noted) if (now - seenMs > endMs && !this.#held.has(key)) this.#noted.delete(key);
		if (now - this.#forgotMs <= forgetEveryMs) return;
		await database.run(forgetAlerts, []);
		this.#forgotMs = now;
	}

	#values(noted: readonly (readonly [string, Held])[], now: number): unknown[] {
		const { node, nodeId, away } = this.#options;
		const rows = noted.map(([, held]) => held);
		const texts = (value: (held: Held) => string) => textArray(rows.map(value));
		const ages = (value: (held: Held) => number) => plainArray(rows.map((held) => Math.max(0, Math.round(now - value(held)))));
		return [
			// Whoever asks to be told of an alert that has begun before is not told of its start: only the first time has the id that begins it.
			plainArray(noted.map(([key, { id }]) => (this.#noted.has(key) ? newId(now) : id))),
			texts(({ alert }) => keyOf(alert, nodeId)),
			texts(({ alert }) => alert.name),
			texts(({ alert }) => alert.severity),
			texts(({ alert }) => alert.summary),
			texts(({ alert }) => alert.list ?? ''),
			texts(({ alert }) => alert.site ?? ''),
			texts(({ alert }) => (alert.ofNetwork ? '' : node)),
			ages(({ alert }) => alert.sinceMs),
			ages(({ startedMs }) => startedMs),
			ages(({ seenMs }) => seenMs),
			...tellingColumns(
				rows.flatMap(({ id }) => away.told(id).map((telling) => [id, telling] as const)),
				now,
			),
		];
	}
}

/** Returns what was told while the database was away: the ids of alert, notification and delivery, the outcome, and its time. */
function tellingColumns(told: readonly (readonly [string, Telling])[], now: number): unknown[] {
	const of = (value: (telling: Telling) => string | number | null) => plainArray(told.map(([, telling]) => value(telling)));
	const age = (atMs: number) => Math.max(0, Math.round(now - atMs));
	return [
		plainArray(told.map(([alert]) => alert)),
		of(({ to }) => to.notification),
		of(({ id }) => id),
		of(({ state }) => state),
		of(({ attempts }) => attempts),
		textArray(told.map(([, { fault }]) => fault)),
		of(({ nextMs }) => Math.max(0, Math.round(nextMs - now))),
		of(({ createdMs }) => age(createdMs)),
		of(({ doneMs }) => (doneMs === undefined ? null : age(doneMs))),
	];
}

/** The key by which the network knows an alert. */
export function keyOf({ key, ofNetwork }: Pick<Alert, 'key' | 'ofNetwork'>, nodeId: string): string {
	return ofNetwork ? key : `${nodeId} ${key}`;
}

/** Reads the alerts that this node, or the network, had when it last ended: a start goes on where it was. */
export async function activeAlerts(database: StatementRunner, nodeId: string): Promise<Alert[]> {
	const rows = await database.run(readActiveAlerts, []);
	return rows.flatMap(([stored = null, name, severity, summary, list, site, since]) => {
		const key = stored?.startsWith(`${nodeId} `) ? stored.slice(nodeId.length + 1) : stored;
		if (key === null || !key.startsWith(`${name} `)) return [];
		const of = { name: name ?? '', severity: (severity ?? 'info') as Severity, summary: summary ?? '', site: site ?? undefined };
		return [{ ...of, key, sinceMs: Number(since), ofNetwork: key === stored, list: list ?? undefined }];
	});
}

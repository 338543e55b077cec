import { newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { StatementRunner } from '#storage/connection.ts';
import { plainArray, textArray } from '#storage/statement.ts';
import { endAlerts, forgetAlerts, noteAlerts, readActiveAlerts } from '#storage/statements/administrative/notify.ts';
import type { Alert } from './judged.ts';
import type { Severity } from './rule.ts';

/** An alert of this node that the database may not know yet. */
interface Held {
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
	log: Log;
	nowMs(): number;
}

/** Keeps the alerts of this node in the database, where those of the network come together. */
export class AlertRecorder {
	readonly #options: RecorderOptions;
	/** The alerts that fire, and those that fired while the database was away. */
	readonly #held = new Map<string, Held>();
	#forgotMs = 0;
	#isAway = false;

	constructor(options: RecorderOptions) {
		this.#options = options;
	}

	/** Keeps the alerts that fire now, and ends those that no node has seen for a while. Never rejects: the next call makes up for this one. */
	async record(firing: readonly Alert[]): Promise<void> {
		const { database, endMs, log, nowMs } = this.#options;
		const now = nowMs();
		for (const alert of firing) {
			const held = this.#held.get(alert.key);
			if (held !== undefined) Object.assign(held, { alert, seenMs: now });
			else if (this.#held.size < heldMax) this.#held.set(alert.key, { alert, startedMs: now, seenMs: now });
		}
		try {
			if (this.#held.size > 0) await database.run(noteAlerts, this.#rows(now));
			for (const [key, { seenMs }] of this.#held) if (seenMs < now) this.#held.delete(key);
			await database.run(endAlerts, [String(endMs)]);
			if (now - this.#forgotMs > forgetEveryMs) {
				await database.run(forgetAlerts, []);
				this.#forgotMs = now;
			}
			this.#isAway = false;
		} catch (error) {
			if (!this.#isAway) log.warn({ err: error }, 'alerts cannot be kept in the database; they are when it is back');
			this.#isAway = true;
		}
	}

	#rows(now: number): unknown[] {
		const { node, nodeId } = this.#options;
		const rows = [...this.#held.values()];
		const texts = (value: (held: Held) => string) => textArray(rows.map(value));
		const ages = (value: (held: Held) => number) => plainArray(rows.map((held) => Math.max(0, Math.round(now - value(held)))));
		return [
			plainArray(rows.map(() => newId())),
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
		];
	}
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

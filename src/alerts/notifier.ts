import { newId } from '#core/id.ts';
import { type Stoppable, systemTimers } from '#core/timers.ts';
import type { Cell } from '#storage/cell.ts';
import type { StatementRunner } from '#storage/connection.ts';
import { claimDeliveries, countTroubled, noteDelivery, readNodeRecipients } from '#storage/statements/administrative/notify.ts';
import { type Addressee, type AttemptMeans, attempt } from './attempt.ts';
import { addressOf, type Notice } from './notice.ts';
import type { Severity } from './rule.ts';
import { runbooks } from './rules/index.ts';

/** Looks for what is due this often. */
const everyMs = 2000;
/** Taken at a time, and sent at once. */
const claimedMax = 4;
/** The counts and the recipients change slowly. */
const countEveryMs = 10_000;
/** A process holds what it sends for this many times the time that one attempt may take, so that no other begins while it is under way. */
const holdFactor = 3;

export interface NotifierOptions extends AttemptMeans {
	database: StatementRunner;
	/** Returns the address at which people reach the console; undefined before it listens. */
	consoleUrl(): string | undefined;
	/** Is given the rows of `readNodeRecipients`, for while the database is away. */
	remember(recipients: readonly (readonly Cell[])[]): void;
	nowMs(): number;
}

interface Delivery extends Addressee {
	id: string;
	attempts: number;
	/** The person may still see it, and has not turned it off. */
	tells: boolean;
	notice: Notice;
}

/**
 * Sends what the database says is due. A delivery is claimed there, so one process of the network sends it; when that process dies, another one
 * does after the claim has run out. A receiver gets a delivery twice only if a process died, or lost the database, between the receiver's answer
 * and the note about it.
 */
export class Notifier {
	readonly #options: NotifierOptions;
	readonly #holder = newId();
	readonly #timer: Stoppable;
	#round: Promise<void> | undefined;
	#isClosing = false;
	#isAway = false;
	#countedMs = 0;

	constructor(options: NotifierOptions) {
		this.#options = options;
		this.#timer = systemTimers.every(everyMs, () => this.#wake());
	}

	async close(): Promise<void> {
		this.#isClosing = true;
		this.#timer.stop();
		await this.#round;
	}

	#wake(): void {
		this.#round ??= this.#rounds()
			.then(() => {
				this.#isAway = false;
			})
			.catch((error: unknown) => {
				if (!this.#isAway)
					this.#options.log.warn({ err: error }, 'while the database is away, only alerts about this node are told, to whom it remembers');
				this.#isAway = true;
			})
			.finally(() => {
				this.#round = undefined;
			});
	}

	async #rounds(): Promise<void> {
		const { database, limits, nowMs } = this.#options;
		const heldMs = holdFactor * limits.notificationMsMax;
		for (;;) {
			const rows = await database.run(claimDeliveries, [this.#holder, claimedMax, String(heldMs)]);
			await Promise.all(rows.map((row) => this.#deliver(this.#deliveryOf(row))));
			if (rows.length < claimedMax || this.#isClosing) break;
		}
		if (nowMs() - this.#countedMs < countEveryMs) return;
		this.#countedMs = nowMs();
		const [counted] = await database.run(countTroubled, []);
		this.#options.metrics.notificationsFailing.set(Number(counted?.[0] ?? 0));
		this.#options.metrics.notificationsWaiting.set(Number(counted?.[1] ?? 0));
		this.#options.remember(await database.run(readNodeRecipients, []));
	}

	async #deliver(delivery: Delivery): Promise<void> {
		const { id, by, attempts, notice } = delivery;
		if (!delivery.tells) {
			this.#options.metrics.notifications.inc({ by, outcome: 'withheld' });
			return this.#note(id, 'failed', 'the person may no longer see it, or has turned the notification off');
		}
		const { state, fault, pauseMs } = await attempt(this.#options, delivery, notice, attempts);
		await this.#note(id, state, fault, pauseMs);
	}

	async #note(id: string, state: 'sent' | 'failed' | 'waiting', fault: string | null, pauseMs = 0): Promise<void> {
		await this.#options.database.run(noteDelivery, [id, this.#holder, state, fault, String(pauseMs)]);
	}

	#deliveryOf(cells: readonly Cell[]): Delivery {
		const [id, phase, attempts, notification, by, target, secret, tells, alert, name, severity, summary, list, site, node, since, ended] =
			cells;
		return {
			id: id ?? '',
			attempts: Number(attempts),
			notification: notification ?? '',
			by: by === 'webhook' ? 'webhook' : 'email',
			target: target ?? '',
			secret: secret ?? null,
			tells: tells === 't' || tells === 'true',
			notice: {
				id: id ?? '',
				event: phase === 'end' ? 'alert.end' : 'alert.start',
				alert: {
					id: alert ?? '',
					name: name ?? '',
					severity: (severity ?? 'info') as Severity,
					summary: summary ?? '',
					site: site ?? null,
					node: node ?? null,
					since: since ?? '',
					ended: ended ?? null,
					runbook: runbooks.get(name ?? '') ?? '',
					list: addressOf(this.#options.consoleUrl(), list),
				},
			},
		};
	}
}

import { newId } from '#core/id.ts';
import type { Cell } from '#storage/cell.ts';
import { type Addressee, type AttemptMeans, attempt, type Outcome } from './attempt.ts';
import type { Alert } from './judged.ts';
import { addressOf, type Notice } from './notice.ts';
import { runbooks } from './rules/index.ts';

/** Somebody who is told of alerts about nodes. */
interface Remembered extends Addressee {
	/** Empty: all alerts. */
	alerts: readonly string[];
	severities: readonly string[];
}

/** The start of an alert, as one recipient is told of it. */
export interface Telling extends Outcome {
	/** The id of the delivery, the same at each attempt. */
	id: string;
	to: Addressee;
	notice: Notice;
	attempts: number;
	createdMs: number;
	/** The time of the next attempt. */
	nextMs: number;
	doneMs: number | undefined;
}

export interface AwayTellerOptions extends AttemptMeans {
	node: string;
	/** See NotifierOptions. */
	consoleUrl(): string | undefined;
	nowMs(): number;
}

/** Sent at once. */
const atOnce = 4;

/**
 * Tells of alerts about this node that begin while the database is away, from what it remembers of those who are told. What was sent becomes
 * rows when the database is back; until then a process that ends forgets it.
 */
export class AwayTeller {
	readonly #options: AwayTellerOptions;
	#remembered: readonly Remembered[] = [];
	/** The key is the id of the alert. */
	readonly #tellings = new Map<string, Telling[]>();
	/** The alerts of which something is being sent. */
	#sending = new Set<string>();
	#round: Promise<void> | undefined;
	#isClosing = false;

	constructor(options: AwayTellerOptions) {
		this.#options = options;
	}

	async close(): Promise<void> {
		this.#isClosing = true;
		await this.#round;
	}

	/** Remembers the rows of `readNodeRecipients`. */
	remember(rows: readonly (readonly Cell[])[]): void {
		this.#remembered = rows.map(([notification, by, target, secret, alerts, severities]) => ({
			...{ notification: notification ?? '', by: by === 'webhook' ? 'webhook' : 'email', target: target ?? '', secret: secret ?? null },
			...{ alerts: listed(alerts), severities: listed(severities) },
		}));
		this.#options.metrics.notificationRecipients.set(this.#remembered.length);
	}

	/** Tells of an alert unless it is told already. The database is to know it by `id`. */
	begin(id: string, alert: Alert): void {
		if (this.#tellings.has(id)) return;
		const { nowMs } = this.#options;
		const now = nowMs();
		const told = this.#remembered.filter(
			({ alerts, severities }) => (alerts.length === 0 || alerts.includes(alert.name)) && severities.includes(alert.severity),
		);
		this.#tellings.set(
			id,
			told.map((to) => {
				const delivery = newId(now);
				const notice = this.#noticeOf(delivery, id, alert);
				const state = { state: 'waiting', fault: null, pauseMs: 0 } as const;
				return { ...state, id: delivery, to, notice, attempts: 0, createdMs: now, nextMs: now, doneMs: undefined };
			}),
		);
	}

	/** Sends what is due. Never rejects. */
	send(): void {
		this.#round ??= this.#sendDue().finally(() => {
			this.#round = undefined;
		});
	}

	async #sendDue(): Promise<void> {
		const now = this.#options.nowMs();
		const due = [...this.#tellings].flatMap(([alert, tellings]) =>
			tellings.filter(({ state, nextMs }) => state === 'waiting' && nextMs <= now).map((telling) => ({ alert, telling })),
		);
		this.#sending = new Set(due.map(({ alert }) => alert));
		for (let at = 0; at < due.length && !this.#isClosing; at += atOnce)
			await Promise.all(due.slice(at, at + atOnce).map(({ telling }) => this.#tell(telling)));
		this.#sending.clear();
	}

	async #tell(telling: Telling): Promise<void> {
		const { nowMs } = this.#options;
		telling.attempts++;
		Object.assign(telling, await attempt(this.#options, telling.to, telling.notice, telling.attempts));
		telling.nextMs = nowMs() + telling.pauseMs;
		if (telling.state !== 'waiting') telling.doneMs = nowMs();
	}

	/** Says whether something about this alert is being sent now, so that what becomes of it is not known yet. */
	isSending(alert: string): boolean {
		return this.#sending.has(alert);
	}

	/** Returns what was told of an alert. */
	told(alert: string): readonly Telling[] {
		return this.#tellings.get(alert) ?? [];
	}

	/** The database has what was told of an alert from now on. */
	forget(alert: string): void {
		this.#tellings.delete(alert);
	}

	#noticeOf(id: string, alertId: string, { name, severity, summary, sinceMs, list }: Alert): Notice {
		const { node, consoleUrl } = this.#options;
		return {
			id,
			event: 'alert.start',
			alert: {
				...{ id: alertId, name, severity, summary, site: null, node, since: new Date(sinceMs).toISOString(), ended: null },
				...{ runbook: runbooks.get(name) ?? '', list: addressOf(consoleUrl(), list) },
			},
		};
	}
}

const listed = (cell: Cell | undefined): string[] => (cell ? cell.split(',') : []);

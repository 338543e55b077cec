import type { Log } from '#core/log.ts';
import type { AlertLimits } from './limits.ts';
import type { AlertMetrics } from './metrics.ts';
import type { Notice } from './notice.ts';
import { NotSent, type Recipient, type Sender } from './sender.ts';

export interface AttemptMeans {
	sender: Sender;
	/** Opens the sealed secret of a webhook. */
	open(sealed: Buffer, notification: string): Uint8Array;
	limits: AlertLimits;
	metrics: AlertMetrics;
	log: Log;
}

/** Whom a notification tells, and how. */
export interface Addressee {
	notification: string;
	by: 'email' | 'webhook';
	target: string;
	/** The sealed secret of a webhook, in base64. */
	secret: string | null;
}

export interface Outcome {
	state: 'sent' | 'failed' | 'waiting';
	/** Says why it was not sent. */
	fault: string | null;
	/** The time until the next attempt. */
	pauseMs: number;
}

const longestPauseMs = 3_600_000;

/** Tries once to send a notice; `attempts` counts this one. Never rejects. */
export async function attempt(means: AttemptMeans, to: Addressee, notice: Notice, attempts: number): Promise<Outcome> {
	const { sender, limits, metrics, log } = means;
	const { notification, by } = to;
	try {
		await sender.send(recipientOf(means, to), notice);
	} catch (error) {
		const fault = error instanceof NotSent ? error.message : 'the secret of the webhook cannot be read on this node';
		const isLast = attempts >= limits.notificationAttemptsMax;
		metrics.notifications.inc({ by, outcome: isLast ? 'given-up' : 'retried' });
		log.warn({ notification, delivery: notice.id, alert: notice.alert.name, attempts, reason: fault }, 'a notification could not be sent');
		const pauseMs = Math.min(longestPauseMs, limits.notificationRetryMs * 2 ** (attempts - 1));
		return { state: isLast ? 'failed' : 'waiting', fault, pauseMs };
	}
	metrics.notifications.inc({ by, outcome: 'sent' });
	return { state: 'sent', fault: null, pauseMs: 0 };
}

function recipientOf({ open }: AttemptMeans, { notification, by, target, secret }: Addressee): Recipient {
	return by === 'email' ? { by, target } : { by, target, secret: open(Buffer.from(secret ?? '', 'base64'), notification) };
}

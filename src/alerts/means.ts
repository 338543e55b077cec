import { SecretBox } from '#access/second-factor/secret-box.ts';
import type { HttpReach } from '#core/permitted-request.ts';
import { targetPolicy } from '#core/target-policy.ts';
import { type Config, mailOf } from '../config.ts';
import { Sender } from './sender.ts';

/** The means of telling somebody of an alert. */
export interface NotificationMeans {
	sender: Sender;
	/** Seals the secret of a webhook. */
	seal(secret: Uint8Array, notification: string): Buffer;
	/** @throws Failure `internal` where this node has another key */
	open(sealed: Buffer, notification: string): Buffer;
}

/** @param trace follows the calls of webhooks */
export function notificationMeans(config: Config, nowMs: () => number, trace?: HttpReach['trace']): NotificationMeans {
	const box = new SecretBox({ key: config.SECOND_FACTOR_KEY, dataDir: config.DATA_DIR });
	const of = (notification: string) => `webhook ${notification}`;
	return {
		sender: new Sender({
			mail: mailOf(config),
			targets: targetPolicy(config.ALLOWED_TARGETS, config.HOST),
			msMax: config.limits.notificationMsMax,
			trace,
			nowMs,
		}),
		seal: (secret, notification) => box.seal(secret, of(notification)),
		open: (sealed, notification) => box.open(sealed, of(notification)),
	};
}

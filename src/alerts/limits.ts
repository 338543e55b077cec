import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const hour = 3_600_000;

/** Limits of alerts and of the notifications about them. */
export const alertLimitDefinitions = {
	alertEndMs: {
		variable: 'ALERT_END_MS',
		default: 60_000,
		min: 1000,
		max: hour,
		answer: 'an alert that no node has seen for this long has ended; a restart that is shorter neither ends nor repeats it',
	},
	notificationMsMax: {
		variable: 'NOTIFICATION_MS_MAX',
		default: 20_000,
		min: 100,
		max: 120_000,
		answer: 'a mail server or a receiver of webhooks does not answer for this long; the notification is tried again',
	},
	notificationRetryMs: {
		variable: 'NOTIFICATION_RETRY_MS',
		default: 10_000,
		min: 10,
		max: hour,
		answer: 'the pause after the first attempt that failed; it doubles with each further one, up to an hour',
	},
	notificationAttemptsMax: {
		variable: 'NOTIFICATION_ATTEMPTS_MAX',
		default: 12,
		min: 1,
		max: 100,
		answer: 'attempts to send a notification; then it is given up and listed as failed',
	},
	notificationsMax: {
		variable: 'NOTIFICATIONS_MAX',
		default: 20,
		min: 1,
		max: 1000,
		answer: 'notifications that a person, a site or the network may have; a further one is refused, 422',
	},
} as const satisfies LimitDefinitions;

export type AlertLimits = LimitsOf<typeof alertLimitDefinitions>;

import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const MiB = 1024 * 1024;

/** Limits of the messages that wait for a worker, and of those that a worker takes at once. */
export const mailboxLimitDefinitions = {
	mailboxMessagesMax: {
		variable: 'MAILBOX_MESSAGES_MAX',
		default: 1024,
		min: 1,
		max: 1_000_000,
		ofNode: 'divided',
		answer: 'waiting messages of one site; MLLP pauses reading, HTTP answers 503 with Retry-After',
	},
	mailboxBytesMax: {
		variable: 'MAILBOX_BYTES_MAX',
		default: 128 * MiB,
		min: MiB,
		max: 16_384 * MiB,
		ofNode: 'divided',
		answer: 'bytes of the waiting messages of one site; MLLP pauses reading, HTTP answers 503 with Retry-After',
	},
	mailboxClientMessagesMax: {
		variable: 'MAILBOX_CLIENT_MESSAGES_MAX',
		default: 768,
		min: 1,
		max: 1_000_000,
		ofNode: 'divided',
		answer: 'waiting messages of one integration client or key; MLLP pauses reading, HTTP answers 503 with Retry-After',
	},
	mailboxClientBytesMax: {
		variable: 'MAILBOX_CLIENT_BYTES_MAX',
		default: 96 * MiB,
		min: MiB,
		max: 16_384 * MiB,
		ofNode: 'divided',
		answer:
			'bytes of the waiting messages of one integration client or key, never less than one message; MLLP pauses reading, HTTP answers 503 with Retry-After',
	},
	waitingBytesMax: {
		variable: 'WAITING_BYTES_MAX',
		default: 512 * MiB,
		min: MiB,
		max: 65_536 * MiB,
		ofNode: 'divided',
		answer: 'bytes of the waiting messages of all sites; MLLP pauses reading, HTTP answers 503 with Retry-After',
	},
	batchMessagesMax: {
		variable: 'BATCH_MESSAGES_MAX',
		default: 128,
		min: 1,
		max: 1024,
		answer: 'messages of one transaction; further ones wait for the next',
	},
	batchSiteMessagesMax: {
		variable: 'BATCH_SITE_MESSAGES_MAX',
		default: 32,
		min: 1,
		max: 1024,
		answer: 'messages of one site in a transaction while others send too, so that theirs do not wait long',
	},
	batchWaitMsMax: {
		variable: 'BATCH_WAIT_MS_MAX',
		default: 4,
		min: 0,
		max: 100,
		answer: 'time that a batch waits for senders whose last messages were just answered; it then starts without them',
	},
	batchAheadMin: {
		variable: 'BATCH_AHEAD_MIN',
		default: 32,
		min: 0,
		max: 1024,
		answer: 'messages of a batch that is interpreted while the one before it is stored; 0: one after the other',
	},
	siteAloneMs: {
		variable: 'SITE_ALONE_MS',
		default: 1000,
		min: 0,
		max: 600_000,
		answer:
			'a site sends alone when no other one has sent for this time; else nothing is interpreted ahead, and BATCH_SITE_MESSAGES_MAX holds',
	},
	batchBytesMax: {
		variable: 'BATCH_BYTES_MAX',
		default: 16 * MiB,
		min: 1024,
		max: 512 * MiB,
		answer: 'bytes of one transaction; a larger message has a transaction of its own',
	},
	longMessageBytes: {
		variable: 'LONG_MESSAGE_BYTES',
		default: 2 * MiB,
		min: 1024,
		max: 512 * MiB,
		answer: 'bytes from which a message is processed in a worker for long messages, so that other sites go on',
	},
	sharedCpuMsMax: {
		variable: 'SHARED_CPU_MS_MAX',
		default: 2000,
		min: 100,
		max: 600_000,
		answer: 'processor time of a message in a worker that sites share; it is tried again in that for long messages',
	},
	messageCpuMsMax: {
		variable: 'MESSAGE_CPU_MS_MAX',
		default: 10_000,
		min: 100,
		max: 600_000,
		answer: 'processor time of a message in the worker for long messages; exceeded twice, AE 207 or 422',
	},
} as const satisfies LimitDefinitions;

export type MailboxLimits = LimitsOf<typeof mailboxLimitDefinitions>;

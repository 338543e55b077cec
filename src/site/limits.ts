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
	batchWaitMsMax: {
		variable: 'BATCH_WAIT_MS_MAX',
		default: 4,
		min: 0,
		max: 100,
		answer: 'time that a batch waits for senders whose last messages were just answered; it then starts without them',
	},
	batchBytesMax: {
		variable: 'BATCH_BYTES_MAX',
		default: 16 * MiB,
		min: 1024,
		max: 512 * MiB,
		answer: 'bytes of one transaction; a larger message has a transaction of its own',
	},
} as const satisfies LimitDefinitions;

export type MailboxLimits = LimitsOf<typeof mailboxLimitDefinitions>;

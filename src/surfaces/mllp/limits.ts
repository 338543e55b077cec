import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const MiB = 1024 * 1024;

/** Connections and frames of HL7 v2 over MLLP. */
export const mllpLimitDefinitions = {
	mllpFrameBytesMax: {
		variable: 'MLLP_FRAME_BYTES_MAX',
		default: 32 * MiB,
		min: 1024,
		max: 512 * MiB,
		answer: 'AE (the head of the message is read, the rest is skipped), the connection stays open',
	},
	mllpConnectionsMax: {
		variable: 'MLLP_CONNECTIONS_MAX',
		default: 4096,
		min: 1,
		max: 65_535,
		answer: 'a further connection is closed at once and counted',
	},
	mllpConnectionMessagesMax: {
		variable: 'MLLP_CONNECTION_MESSAGES_MAX',
		default: 64,
		min: 1,
		max: 10_000,
		answer: 'messages of one connection that wait for their answer; reading from it pauses',
	},
	mllpIdleMsMax: {
		variable: 'MLLP_IDLE_MS_MAX',
		default: 30 * 60_000,
		min: 1000,
		max: 86_400_000,
		answer: 'a connection without traffic is closed',
	},
	mllpFrameMsMax: {
		variable: 'MLLP_FRAME_MS_MAX',
		default: 60_000,
		min: 100,
		max: 3_600_000,
		answer: 'a frame that was begun and does not go on for this long: the connection is closed, nothing stored',
	},
} as const satisfies LimitDefinitions;

export type MllpLimits = LimitsOf<typeof mllpLimitDefinitions>;

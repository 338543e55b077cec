import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const MiB = 1024 * 1024;

/** Connections and frames of HL7 v2 over MLLP. */
export const mllpLimitDefinitions = {
	mllpFrameBytesMax: {
		variable: 'MLLP_FRAME_BYTES_MAX',
		default: 32 * MiB,
		min: 1024,
		max: 512 * MiB,
		answer: 'bytes of a frame; AE, the connection stays open (the head of the message is read, the rest is skipped)',
	},
	mllpConnectionsMax: {
		variable: 'MLLP_CONNECTIONS_MAX',
		default: 4096,
		min: 1,
		max: 65_535,
		ofNode: 'shared',
		answer: 'open connections; a further one is closed immediately and counted',
	},
	mllpAddressConnectionsMax: {
		variable: 'MLLP_ADDRESS_CONNECTIONS_MAX',
		default: 2048,
		min: 1,
		max: 65_535,
		ofNode: 'shared',
		answer: 'open connections from one address (of an IPv6 address, its /64); a further one is closed immediately and counted',
	},
	mllpClientConnectionsMax: {
		variable: 'MLLP_CLIENT_CONNECTIONS_MAX',
		default: 2048,
		min: 1,
		max: 65_535,
		ofNode: 'shared',
		answer: 'open connections from the addresses of one integration client; a further one is closed immediately and counted',
	},
	mllpSiteConnectionsMax: {
		variable: 'MLLP_SITE_CONNECTIONS_MAX',
		default: 3072,
		min: 1,
		max: 65_535,
		ofNode: 'shared',
		answer: 'open connections from addresses of one site alone; a further one is closed immediately and counted',
	},
	mllpConnectionMessagesMax: {
		variable: 'MLLP_CONNECTION_MESSAGES_MAX',
		default: 64,
		min: 1,
		max: 10_000,
		answer: 'messages of one connection that wait for an answer; reading from it pauses',
	},
	mllpIdleMsMax: {
		variable: 'MLLP_IDLE_MS_MAX',
		default: 30 * 60_000,
		min: 1000,
		max: 86_400_000,
		answer: 'time without traffic; the connection is closed',
	},
	mllpFrameMsMax: {
		variable: 'MLLP_FRAME_MS_MAX',
		default: 60_000,
		min: 100,
		max: 3_600_000,
		answer: 'time in which an unfinished frame receives nothing; the connection is closed, nothing is stored',
	},
} as const satisfies LimitDefinitions;

export type MllpLimits = LimitsOf<typeof mllpLimitDefinitions>;

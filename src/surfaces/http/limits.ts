import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const MiB = 1024 * 1024;

/** Requests and answers of every HTTP surface. */
export const httpLimitDefinitions = {
	httpBodyBytesMax: { variable: 'HTTP_BODY_BYTES_MAX', default: 32 * MiB, min: 1024, max: 512 * MiB, answer: '413' },
	httpRequestsMax: {
		variable: 'HTTP_REQUESTS_MAX',
		default: 2048,
		min: 1,
		max: 100_000,
		ofNode: 'divided',
		answer: 'concurrent requests of one surface; 503 with Retry-After',
	},
	httpAddressRequestsMax: {
		variable: 'HTTP_ADDRESS_REQUESTS_MAX',
		default: 1536,
		min: 1,
		max: 100_000,
		ofNode: 'divided',
		answer: 'concurrent requests of one address (of an IPv6 address, its /64) on one surface; 429 with Retry-After',
	},
	httpKeyRequestsMax: {
		variable: 'HTTP_KEY_REQUESTS_MAX',
		default: 1024,
		min: 1,
		max: 100_000,
		ofNode: 'divided',
		answer: 'concurrent requests of one key, or of the client of access tokens, on one surface; 429 with Retry-After',
	},
	httpSiteRequestsMax: {
		variable: 'HTTP_SITE_REQUESTS_MAX',
		default: 1536,
		min: 1,
		max: 100_000,
		ofNode: 'divided',
		answer: 'concurrent requests of one site on one surface; 429 with Retry-After',
	},
	httpWaitingBytesMax: {
		variable: 'HTTP_WAITING_BYTES_MAX',
		default: 512 * MiB,
		min: 1024,
		max: 65_536 * MiB,
		ofNode: 'divided',
		answer: 'bytes of the request bodies in progress on one surface; 503 with Retry-After',
	},
	httpAddressWaitingBytesMax: {
		variable: 'HTTP_ADDRESS_WAITING_BYTES_MAX',
		default: 256 * MiB,
		min: 1024,
		max: 65_536 * MiB,
		ofNode: 'divided',
		answer: 'bytes of the request bodies of one address in progress on one surface, never less than one body; 429 with Retry-After',
	},
	httpKeyWaitingBytesMax: {
		variable: 'HTTP_KEY_WAITING_BYTES_MAX',
		default: 192 * MiB,
		min: 1024,
		max: 65_536 * MiB,
		ofNode: 'divided',
		answer: 'bytes of the request bodies of one key in progress on one surface, never less than one body; 429 with Retry-After',
	},
	httpSiteWaitingBytesMax: {
		variable: 'HTTP_SITE_WAITING_BYTES_MAX',
		default: 256 * MiB,
		min: 1024,
		max: 65_536 * MiB,
		ofNode: 'divided',
		answer: 'bytes of the request bodies of one site in progress on one surface, never less than one body; 429 with Retry-After',
	},
	httpHeaderBytesMax: {
		variable: 'HTTP_HEADER_BYTES_MAX',
		default: 16_384,
		min: 1024,
		max: 65_536,
		answer: 'bytes of a request line and its headers, so of a GET with a long query as well (POST _search takes it in its body); 431',
	},
	httpDiscardBytesMax: {
		variable: 'HTTP_DISCARD_BYTES_MAX',
		default: 64 * MiB,
		min: 0,
		max: 65_536 * MiB,
		answer: 'bytes of a refused body that are read and dropped, so that its sender gets the answer; the connection is closed',
	},
	httpBodyStallMsMax: {
		variable: 'HTTP_BODY_STALL_MS_MAX',
		default: 10_000,
		min: 100,
		max: 600_000,
		answer: 'time in which the next 64 KiB of a body, or its end, arrive; 408',
	},
	httpStallMsMax: {
		variable: 'HTTP_STALL_MS_MAX',
		default: 60_000,
		min: 1000,
		max: 3_600_000,
		answer: 'time in which a client reads nothing of a streamed answer; the connection is closed',
	},
} as const satisfies LimitDefinitions;

export type HttpLimits = LimitsOf<typeof httpLimitDefinitions>;

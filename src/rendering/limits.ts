import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const MiB = 1024 * 1024;

/** Pictures of images. */
export const renderingLimitDefinitions = {
	renderedPixelsMax: {
		variable: 'RENDERED_PIXELS_MAX',
		default: 50_000_000,
		min: 1024,
		max: 1_000_000_000,
		answer: 'pixels of a frame that is rendered, and of the picture; 406',
	},
	renderedMsMax: {
		variable: 'RENDERED_MS_MAX',
		default: 20_000,
		min: 100,
		max: 600_000,
		answer: 'time in which a frame is rendered; 422, and the thread that was at it is ended',
	},
	renderingsMax: {
		variable: 'RENDERINGS_MAX',
		default: 1,
		min: 1,
		max: 64,
		answer: 'frames that a process renders at the same time, each in a thread of its own; further ones wait',
	},
	renderingsWaitingMax: {
		variable: 'RENDERINGS_WAITING_MAX',
		default: 256,
		min: 1,
		max: 100_000,
		answer: 'frames that wait in a process to be rendered; 503 with Retry-After',
	},
	renderedCacheBytesMax: {
		variable: 'RENDERED_CACHE_BYTES_MAX',
		default: 64 * MiB,
		min: 0,
		max: 16_384 * MiB,
		ofNode: 'divided',
		answer: 'bytes of pictures that are kept in memory; the one that was not asked for longest goes first',
	},
	renderedFramesMax: {
		variable: 'RENDERED_FRAMES_MAX',
		default: 1000,
		min: 1,
		max: 1_000_000,
		answer: 'frames of one request for rendered pictures; 413',
	},
} as const satisfies LimitDefinitions;

export type RenderingLimits = LimitsOf<typeof renderingLimitDefinitions>;

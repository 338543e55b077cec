import type { Format } from './seeds.ts';

/** Cases of one format that a thread tries in a row. */
export const roundCases = 200;

/** The format of a case. Cases are counted from 1, and each thread begins with another format. */
export function formatOf(formats: readonly Format[], thread: number, number: number): Format {
	return formats[(Math.floor((number - 1) / roundCases) + thread) % formats.length] ?? 'hl7v2';
}

/** The seed of one case: a run with the same seed makes it again, whatever the other cases were. */
export function caseSeed(seed: number, thread: number, number: number): number {
	return (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(thread + 1, 0xc2b2ae35) ^ Math.imul(number, 0x27d4eb2f)) >>> 0;
}

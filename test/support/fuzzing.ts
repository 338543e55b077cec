import { randomInt } from 'node:crypto';
import type { TestContext } from 'node:test';
import fc from 'fast-check';

const times = Number(process.env['TRIBUTARY_FUZZ_TIMES'] ?? 1);
const givenSeed = process.env['FUZZ_SEED'];
/** In `npm test` the same cases every time; in `npm run test:fuzz -- --properties` others each time. */
const seed = givenSeed === undefined ? (times === 1 ? 20_260_314 : randomInt(2 ** 31)) : Number(givenSeed);
const usualRuns = 100;
fc.configureGlobal({ seed, numRuns: runs(usualRuns) });

/** fast-check from the seed of this run: every property is tried by this one. */
export { fc };

/** How many cases of a property stand for so many in `npm test`. */
export function runs(cases: number): number {
	return Math.ceil(cases * times);
}

/** Parameters for `fc.assert`: so many cases, more of them in `npm run test:fuzz -- --properties`; the report of the test names the seed. */
export function fuzzing(context: TestContext, cases: number): { numRuns: number; seed: number } {
	const numRuns = runs(cases);
	context.diagnostic(`${numRuns} cases from seed ${seed}`);
	return { numRuns, seed };
}

/** A valid text of bytes with some changed, taken out, put in or repeated: `kind` modulo 4, at a position modulo its length. */
export interface Change {
	at: number;
	kind: number;
	bytes: Uint8Array;
}

export function changed(valid: Buffer, changes: readonly Change[]): Buffer {
	return changes.reduce((text, { at: position, kind, bytes }) => {
		const at = text.length === 0 ? 0 : position % text.length;
		const [before, behind] = [text.subarray(0, at), text.subarray(at)];
		if (kind % 4 === 0) return Buffer.concat([before, bytes, behind.subarray(bytes.length)]);
		if (kind % 4 === 1) return Buffer.concat([before, behind.subarray(bytes.length + 1)]);
		if (kind % 4 === 2) return Buffer.concat([before, bytes, behind]);
		return Buffer.concat([before, behind.subarray(0, 40), behind]);
	}, valid);
}

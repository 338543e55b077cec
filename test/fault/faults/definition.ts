import type { Seeded } from '#test/trust/seeded.ts';
import type { Bed } from '../bed.ts';

/** A kind of fault. */
export interface Fault {
	name: string;
	/** The database says that it is a fault of what is written. */
	mayRefuse?: boolean;
	/** Why it cannot be made here; undefined where it can. */
	impossible?(bed: Bed): string | undefined;
	/**
	 * Makes it, and heals what does not heal by itself.
	 * @returns in how many places it was observed to bite; 0 fails the run
	 */
	strike(bed: Bed, chance: Seeded): Promise<number>;
}

/** Counts before and after something is done, and returns the difference. */
export async function growth(count: () => number | Promise<number>, doing: () => Promise<void>): Promise<number> {
	const before = await count();
	await doing();
	return (await count()) - before;
}

import type { Quotas } from './node-line.ts';

/** One of several bounds that a thing counts against: that of its address, its client or its site. */
export interface Share<By extends string> {
	by: By;
	/** The name of the quota. */
	name: string;
	most: number;
}

/** Takes one of each share. Returns whose share is used up, and has then taken nothing; undefined when it has taken all. */
export function takeShares<By extends string>(quotas: Quotas, shares: readonly Share<By>[]): By | undefined | Promise<By | undefined> {
	const taken = shares.map(({ name, most }) => quotas.take(name, most));
	const settle = (results: readonly boolean[]) => {
		const full = shares.find((_, index) => !results[index]);
		if (full === undefined) return undefined;
		for (const [index, { name }] of shares.entries()) if (results[index]) quotas.give(name);
		return full.by;
	};
	const known = taken.filter((room) => typeof room === 'boolean');
	// The parent of several processes is asked for all of them at once.
	return known.length === taken.length ? settle(known) : Promise.all(taken).then(settle);
}

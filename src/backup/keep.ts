import type { Manifest } from './manifest.ts';

/** The number of backups that each rule keeps. A rule of 0 keeps none. */
export interface KeepRules {
	/** The newest ones. */
	last: number;
	/** The newest one of each of so many days, weeks and months that have one. They are those of UTC; a week begins on Monday. */
	daily: number;
	weekly: number;
	monthly: number;
}

/** Why a backup stays. The newest one and the newest one that was verified stay whatever the rules say. */
export type KeepReason = keyof KeepRules | 'newest' | 'verified';

const dayMs = 86_400_000;
/** 1970-01-01 was a Thursday. */
const mondayOffset = 3;
const dayOf = (at: Date) => Math.floor(at.getTime() / dayMs);

const periods: Readonly<Record<Exclude<keyof KeepRules, 'last'>, (at: Date) => number>> = {
	daily: dayOf,
	weekly: (at) => Math.floor((dayOf(at) + mondayOffset) / 7),
	monthly: (at) => at.getUTCFullYear() * 12 + at.getUTCMonth(),
};

/**
 * Returns the cuts that stay, with the reasons. Backups of everything and backups of the objects alone are counted apart, because neither can
 * stand in for the other.
 * @param verified the cuts of which all files were read and were whole
 */
export function keptCuts(
	manifests: readonly Manifest[],
	verified: ReadonlySet<string>,
	rules: Readonly<KeepRules>,
): Map<string, KeepReason[]> {
	const kept = new Map<string, KeepReason[]>();
	const keep = (manifest: Manifest | undefined, reason: KeepReason) => {
		if (manifest !== undefined) kept.set(manifest.cut, [...(kept.get(manifest.cut) ?? []), reason]);
	};
	for (const kind of ['full', 'objects'] as const) {
		const newestFirst = manifests
			.filter((manifest) => manifest.kind === kind)
			.sort((one, other) => Date.parse(other.cut_at) - Date.parse(one.cut_at));
		keep(newestFirst[0], 'newest');
		keep(
			newestFirst.find(({ cut }) => verified.has(cut)),
			'verified',
		);
		for (const manifest of newestFirst.slice(0, rules.last)) keep(manifest, 'last');
		for (const rule of ['daily', 'weekly', 'monthly'] as const) {
			const seen = new Set<number>();
			for (const manifest of newestFirst) {
				const period = periods[rule](new Date(manifest.cut_at));
				if (seen.has(period)) continue;
				if (seen.size >= rules[rule]) break;
				seen.add(period);
				keep(manifest, rule);
			}
		}
	}
	return kept;
}

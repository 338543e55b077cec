import type { Log } from '#core/log.ts';
import { type Watch, watch } from '#core/watch.ts';
import type { OperationContext } from '../context.ts';
import { sitesOfSilentFeeds } from './list-feeds.ts';

/** A feed counts as silent after minutes at least. */
const lookMs = 60_000;

/** Keeps the gauge of silent feeds current, for the alert about them. One process of a node looks for all. */
export function watchSilentFeeds(options: {
	database: OperationContext['database'];
	nowMs(): number;
	metrics: { silentFeeds: { set(labels: { site: string }, value: number): void } };
	log: Log;
}): Watch {
	const { database, nowMs, metrics, log } = options;
	const sites = new Set<string>();
	const look = async () => {
		const counts = new Map([...sites].map((site) => [site, 0]));
		for (const site of await sitesOfSilentFeeds({ database, nowMs })) if (site !== null) counts.set(site, (counts.get(site) ?? 0) + 1);
		for (const [site, count] of counts) {
			metrics.silentFeeds.set({ site }, count);
			sites.add(site);
		}
	};
	return watch({ everyMs: lookMs, look, failure: 'silent feeds could not be counted', log });
}

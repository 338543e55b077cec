import type { Beginning } from '#core/exposition.ts';
import type { Log } from '#core/log.ts';
import { type Watch, watch } from '#core/watch.ts';
import type { StatementRunner } from '../connection.ts';
import type { StorageMetrics } from '../metrics.ts';
import { listCountedFeeds, listLastHeard } from '../statements/administrative/feed-figures.ts';
import type { FeedMinute } from './counts.ts';

/** Alerts on these gauges look at hours. */
const lookMs = 15_000;

/** A feed without metrics of its own: those of a site beyond FEED_METRICS_MAX, and whatever no client and no key accounts for. */
const other = 'other';

export interface FeedFiguresOptions {
	database: StatementRunner;
	metrics: Pick<StorageMetrics, 'siteLastMessage' | 'feedLastMessage' | 'feedMessages'> & Beginning;
	/** FEED_METRICS_MAX: every process and node takes the same feeds, the oldest ones. */
	feedMetricsMax: number;
	log: Log;
}

/**
 * The metrics of sites and feeds that come from what is stored: they outlive a restart, so silence that began before it is still seen.
 */
export class FeedFigures {
	readonly #options: FeedFiguresOptions;
	/** The slugs of the sites, by id. */
	#sites = new Map<string, string>();
	#counted = new Set<string>();
	#written: FeedMinute[] = [];
	readonly #watch: Watch;

	constructor(options: FeedFiguresOptions) {
		this.#options = options;
		this.#watch = watch({ everyMs: lookMs, look: () => this.#look(), failure: 'the figures of feeds could not be read', log: options.log });
	}

	/** Takes what was written, and counts it with the next look: a feed may be newer than the last one. */
	written(minutes: readonly FeedMinute[]): void {
		this.#written.push(...minutes);
	}

	/** Traffic of no site has metrics of its own. */
	#count(): void {
		const { feedMessages } = this.#options.metrics;
		for (const { siteId, feed: id, received, refused } of this.#written) {
			const site = this.#sites.get(siteId);
			if (site === undefined) continue;
			const feed = this.#counted.has(`${siteId} ${id}`) ? id : other;
			feedMessages.inc({ site, feed, outcome: 'taken' }, received - refused);
			feedMessages.inc({ site, feed, outcome: 'refused' }, refused);
		}
		this.#written = [];
	}

	async #look(): Promise<void> {
		const { database, metrics, feedMetricsMax } = this.#options;
		const [sites, feeds] = await Promise.all([database.run(listLastHeard, []), database.run(listCountedFeeds, [String(feedMetricsMax)])]);
		this.#sites = new Map(sites.map(([id, slug]) => [id ?? '', slug ?? '']));
		this.#counted = new Set(feeds.map(([siteId, , feed]) => `${siteId} ${feed}`));
		for (const [, site] of sites) metrics.begin({ site: site ?? '', feed: other });
		for (const [, site, feed] of feeds) metrics.begin({ site: site ?? '', feed: feed ?? '' });
		this.#count();
		// Sites and feeds that are no more have no time either.
		metrics.siteLastMessage.reset();
		metrics.feedLastMessage.reset();
		for (const [, site, at] of sites) if (at) metrics.siteLastMessage.set({ site: site ?? '' }, Number(at));
		for (const [, site, feed, name, at] of feeds)
			if (at) metrics.feedLastMessage.set({ site: site ?? '', feed: feed ?? '', name: name ?? '' }, Number(at));
	}

	close(): Promise<void> {
		return this.#watch.close();
	}
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Overview, OverviewPoint, OverviewState } from '#administration/overview.ts';
import { metricsOf, quantiles } from '#alerts/expression.ts';
import { type Alert, Alerts, type KeptAlerts } from '#alerts/judged.ts';
import { type KeptHistory, MetricHistory } from '#alerts/metric-history.ts';
import { alertRules } from '#alerts/rules/index.ts';
import type { Clock } from '#core/clock.ts';
import type { Exposition } from '#core/exposition.ts';
import type { Log } from '#core/log.ts';
import { type LoopLagReader, loopLag } from '#core/loop-lag.ts';
import type { MetricSnapshot } from '#core/metric-snapshot.ts';
import type { FigureSource, NodeLine, Reading, StorageRead, StorageUsed } from '#core/node-line.ts';
import { type Stoppable, systemTimers } from '#core/timers.ts';
import type { StatementRunner } from '#storage/connection.ts';
import { databaseBytes, imageBytes } from '#storage/statements/administrative/storage-used.ts';
import { StoredHour } from './last-hour.ts';

/** The time between two points. */
export const pointMs = 10_000;
/** The console draws an hour; Prometheus keeps longer histories. */
const keptMs = 3_600_000;
/** Measuring the storage costs statements, and it changes slowly. */
const storageMs = 300_000;
/** Figures do not wait longer for a database that is away. They then have what was read last. */
const waitMsMax = 2000;

const eventLoopLag = 'nodejs_eventloop_lag_p99_seconds';
const messages = 'tributary_site_messages_total';
const acknowledgements = 'tributary_hl7_acknowledgement_seconds_bucket';
const associations = 'tributary_dimse_associations';

/** Messages of the ten seconds before a point, by site; sites without any are left out. */
interface SiteCounts {
	received: number;
	refused: number;
}

interface Instant {
	atMs: number;
	bySite: ReadonlyMap<string, SiteCounts>;
	/** The number of waiting messages by site slug. */
	waiting: ReadonlyMap<string, number>;
	latencySeconds: { p50: number | undefined; p99: number | undefined };
	associations: number;
	/** The storage as last read; undefined until it is first read. */
	storage: StorageUsed | undefined;
}

/** Tells whose figures are shown: those of the whole node, or those of some sites. */
export type Viewed = 'all' | readonly string[];

export interface FiguresOptions {
	/** The name of the node, as alerts tell it. */
	node: string;
	/** Reads the alerts that were active when the node last ended. */
	active(): Promise<Alert[]>;
	database: StatementRunner;
	/** Returns the number of waiting messages by site id. */
	waitingBySite(): ReadonlyMap<string, number>;
	metrics: Exposition;
	clock: Clock;
	log: Log;
}

interface Kept {
	instants: readonly Instant[];
	history: KeptHistory;
	alerts: KeptAlerts;
}

/**
 * Records the activity of this node every ten seconds and keeps it for an hour. The figures come from the existing metrics. In a node of
 * several processes each keeps the same figures: the parent adds up what they measure, and tells all of them.
 */
export class Figures implements FigureSource {
	readonly #options: FiguresOptions;
	readonly #history: MetricHistory;
	readonly #alerts: Alerts;
	readonly #stored: StoredHour;
	#lag: LoopLagReader | undefined;
	#instants: Instant[] = [];
	readonly #listeners = new Set<() => void>();
	/** Readings that came before the history of another process did; undefined at any other time. */
	#early: Reading[] | undefined;
	/** This process has read these. The ones that are shown come with each reading. */
	#storage: StorageRead = { slugs: new Map(), used: undefined };
	#storageAtMs = 0;
	#timer: Stoppable | undefined;
	#taking: Promise<void> = Promise.resolve();

	constructor(options: FiguresOptions) {
		this.#options = options;
		this.#stored = new StoredHour(options);
		this.#alerts = new Alerts(alertRules, options.node);
		const judged = alertRules.flatMap(({ expression }) => metricsOf(expression)).filter((metric) => metric !== eventLoopLag);
		this.#history = new MetricHistory(options.metrics.registry, [...judged, messages, acknowledgements, associations], keptMs);
	}

	/**
	 * Takes the first point as the base for counting, and then one every ten seconds. The timer does not keep the service running.
	 * @param line the line to the other processes of the node, which then say when points are taken
	 */
	async start(line?: NodeLine): Promise<void> {
		this.#lag = loopLag.follow();
		if (line !== undefined) {
			this.#early = [];
			const kept = await line.joinFigures(this);
			if (kept === undefined) await this.#resume();
			this.#adopt(kept);
			const lastMs = this.#instants.at(-1)?.atMs ?? 0;
			const early = this.#early.filter(({ atMs }) => atMs > lastMs);
			this.#early = undefined;
			for (const reading of early) await this.take(reading);
			return;
		}
		await this.#resume();
		void this.take();
		this.#timer = systemTimers.every(pointMs, () => void this.take());
	}

	/** Takes a point now: that of the node if it is given, else that of this process. Never rejects. */
	take(reading?: Reading): Promise<void> {
		if (reading !== undefined && this.#early !== undefined) {
			this.#early.push(reading);
			return Promise.resolve();
		}
		this.#taking = this.#taking
			.then(async () => this.#take(reading ?? (await this.measure())))
			.catch((error: unknown) => this.#options.log.error({ err: error }, 'live figures could not be taken'));
		return this.#taking;
	}

	async close(): Promise<void> {
		this.#timer?.stop();
		await this.#taking;
		this.#lag?.end();
	}

	async measure(): Promise<Reading> {
		const { metrics, clock, waitingBySite } = this.#options;
		const lag = { labels: {}, value: this.#lag?.read().p99 ?? 0 };
		const held: MetricSnapshot = { name: eventLoopLag, help: '', type: 'gauge', across: 'process', values: [lag] };
		const [atMs, waiting] = [clock.nowMs(), waitingBySite()];
		await patiently(this.#readStorage(atMs, waiting));
		return { atMs, metrics: [...(await metrics.snapshot(this.#history.metrics)), held], waiting, storage: this.#storage };
	}

	history(): Kept {
		return { instants: this.#instants, history: this.#history.kept(), alerts: this.#alerts.kept() };
	}

	/** Goes on where the node was when it ended. */
	async #resume(): Promise<void> {
		const { active, clock, log } = this.#options;
		try {
			this.#alerts.resume(await active(), clock.nowMs());
		} catch (error) {
			log.warn({ err: error }, 'the alerts of before the start could not be read; they begin anew');
		}
	}

	/** Goes on where another process of the node is, if there is one. */
	#adopt(kept: unknown): void {
		if (kept === undefined) return;
		// The line passes on only what a process of the same release keeps.
		const { instants, history, alerts } = kept as Kept;
		this.#instants = [...instants];
		this.#history.adopt(history);
		this.#alerts.adopt(alerts);
	}

	#take({ atMs, metrics, waiting, storage: { slugs, used } }: Reading): void {
		this.#history.take(atMs, metrics);
		this.#alerts.judge(this.#history, atMs);
		this.#instants.push({
			atMs,
			bySite: this.#counts(),
			waiting: bySlug(waiting, slugs),
			latencySeconds: { p50: this.#latency(0.5), p99: this.#latency(0.99) },
			associations: this.#history.values(associations)[0]?.value ?? 0,
			storage: used,
		});
		while ((this.#instants[0]?.atMs ?? atMs) <= atMs - keptMs) this.#instants.shift();
		for (const listener of this.#listeners) listener();
	}

	#counts(): Map<string, SiteCounts> {
		const counts = new Map<string, SiteCounts>();
		for (const { labels, value } of this.#history.increases(messages, 1)) {
			const site = labels['site'] ?? '';
			const held = counts.get(site) ?? { received: 0, refused: 0 };
			const refused = labels['outcome'] === 'refused' ? value : 0;
			counts.set(site, { received: held.received + value, refused: held.refused + refused });
		}
		return counts;
	}

	/** Returns a quantile of the acknowledgement time since the last point. Replays are left out, because no sender waits for them. */
	#latency(quantile: number): number | undefined {
		const buckets = new Map<string, number>();
		for (const { labels, value } of this.#history.increases(acknowledgements, 1)) {
			if (labels['surface'] !== 'replay') buckets.set(labels['le'] ?? '', (buckets.get(labels['le'] ?? '') ?? 0) + value);
		}
		const samples = [...buckets].map(([le, value]) => ({ labels: { le }, value }));
		return quantiles(samples, quantile)[0]?.value;
	}

	/** Reads the storage only now and then, and when a site is new, because adding up the images of a network takes a moment. */
	async #readStorage(nowMs: number, waiting: ReadonlyMap<string, number>): Promise<void> {
		const { database, log } = this.#options;
		const isKnown = [...waiting.keys()].every((id) => this.#storage.slugs.has(id));
		if (isKnown && this.#storageAtMs !== 0 && nowMs - this.#storageAtMs < storageMs) return;
		try {
			const [sites, size] = await Promise.all([database.run(imageBytes, []), database.run(databaseBytes, [])]);
			const images = sites.map(([, slug, bytes]) => [slug ?? '', Number(bytes)] as const);
			this.#storage = {
				slugs: new Map(sites.map(([id, slug]) => [id ?? '', slug ?? ''])),
				used: { databaseBytes: Number(size[0]?.[0]), imageBytes: new Map(images) },
			};
			this.#storageAtMs = nowMs;
		} catch (error) {
			// An alert of its own reports that the database is away. The last figure is kept.
			log.debug({ err: error }, 'the storage used could not be read');
		}
	}

	overview(viewed: Viewed): Overview {
		return { points: this.#instants.map((instant) => pointOf(instant, viewed)), ...this.state(viewed) };
	}

	/** Reads what all nodes received in the last hour, for the next answer. */
	refresh(): Promise<void> {
		return patiently(this.#stored.refresh());
	}

	state(viewed: Viewed): OverviewState {
		// A stream shows with this point what was read for the one before.
		void this.#stored.refresh();
		const nowMs = this.#instants.at(-1)?.atMs ?? 0;
		const waiting = this.#instants.at(-1)?.waiting ?? new Map<string, number>();
		const alerts = this.#alerts.firing(nowMs).filter(({ site }) => viewed === 'all' || (site !== undefined && viewed.includes(site)));
		return {
			mailboxes: [...waiting]
				.filter(([site]) => viewed === 'all' || viewed.includes(site))
				.sort(([, left], [, right]) => right - left)
				.map(([site, count]) => ({ site, waiting: count })),
			last_hour: this.#stored.of(viewed),
			storage_bytes: storageOf(this.#instants.at(-1)?.storage, viewed),
			alerts: alerts.map(alertOutput),
		};
	}

	/** The alerts that fire on this node. */
	firing(): Alert[] {
		return this.#alerts.firing(this.#instants.at(-1)?.atMs ?? 0);
	}

	latest(viewed: Viewed): OverviewPoint | undefined {
		const instant = this.#instants.at(-1);
		return instant && pointOf(instant, viewed);
	}

	/** Calls `listener` for each further point until the returned function is called. */
	onPoint(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}
}

/** Waits for what is read from the database, but not for a database that is away. */
async function patiently(reading: Promise<void>): Promise<void> {
	const patience = new AbortController();
	const late = pause(waitMsMax, undefined, { ref: false, signal: patience.signal }).catch(() => undefined);
	await Promise.race([reading, late]);
	patience.abort();
}

const runbooks = new Map(alertRules.map(({ name, runbook }) => [name, runbook]));

function alertOutput({ name, sinceMs, summary, severity, list }: Alert): OverviewState['alerts'][number] {
	return { name, since: new Date(sinceMs).toISOString(), summary, severity, runbook: runbooks.get(name) ?? '', list: list ?? null };
}

function bySlug(waiting: ReadonlyMap<string, number>, slugs: ReadonlyMap<string, string>): Map<string, number> {
	return new Map([...waiting].flatMap(([id, count]) => (slugs.has(id) ? [[slugs.get(id) as string, count] as const] : [])));
}

/** Returns the size of the database and all images. For some sites it returns the size of their images only. */
function storageOf(storage: StorageUsed | undefined, viewed: Viewed): number | null {
	if (storage === undefined) return null;
	const { databaseBytes, imageBytes: images } = storage;
	if (viewed === 'all') return [...images.values()].reduce((sum, bytes) => sum + bytes, databaseBytes);
	return viewed.reduce((sum, site) => sum + (images.get(site) ?? 0), 0);
}

function pointOf({ atMs, bySite, waiting, latencySeconds, associations: open, storage }: Instant, viewed: Viewed): OverviewPoint {
	const isAll = viewed === 'all';
	const of = <V>(map: ReadonlyMap<string, V>): V[] => [...map].filter(([site]) => isAll || viewed.includes(site)).map(([, value]) => value);
	const counts = of(bySite);
	const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
	const ms = (seconds: number | undefined) => (isAll && seconds !== undefined ? Math.round(seconds * 1e5) / 100 : null);
	return {
		at: new Date(atMs).toISOString(),
		received: sum(counts.map(({ received }) => received)),
		refused: sum(counts.map(({ refused }) => refused)),
		latency_p50_ms: ms(latencySeconds.p50),
		latency_p99_ms: ms(latencySeconds.p99),
		waiting: sum(of(waiting)),
		associations: isAll ? open : null,
		storage_bytes: storageOf(storage, viewed),
	};
}

import type { z } from 'zod';
import { readSettings, settingOf } from '#record/settings/settings.ts';
import { acknowledgedMs, nearbyFeed, unmatchedFeed } from '#storage/feeds/counts.ts';
import {
	feedsSince,
	listFeedHours,
	listFeedPauses,
	listFeedQueues,
	listSiteHours,
	listFeeds as listStatement,
} from '#storage/statements/administrative/read-feeds.ts';
import type { OperationContext } from '../context.ts';
import { visibleSiteIds } from '../visible-sites.ts';
import type { FeedKind, FeedRecord, feedHour, listFeedsInput, NetworkRecord, networkInput } from './records.ts';
import { p99Of, silentAfterMinutes, silentMinutesMin, type WeekOfFeed } from './silence.ts';
import { silenceOf, silentAlert, stateOf } from './state.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;
const hoursShown = 24;
/** Feeds that no client and no key account for are listed for so long after they were last heard. */
const strangersMs = hoursShown * hourMs;
/** Minutes by which a feed counts as failing. */
const recentMinutes = 15;

/** A feed as the tables have it. */
export interface FeedRow {
	site_id: string;
	site: string | null;
	feed: string;
	kind: 'client' | 'key' | 'other';
	name: string | null;
	protocols: string[] | null;
	settings: unknown;
	active: boolean | null;
	last_at: Date | null;
	first_hour: Date | null;
}

interface HourRow {
	site_id: string;
	feed: string;
	hour: Date;
	received: number;
	refused: number;
	received_by_minute: number[] | null;
	refused_by_minute: number[] | null;
	acknowledged: number[] | null;
}

interface PauseRow {
	site_id: string;
	feed: string;
	hour: Date;
	minutes: number[] | null;
	before_hour: Date | null;
	before_minutes: number[] | null;
	after_hour: Date | null;
	after_minutes: number[] | null;
}

const keyOf = ({ site_id, feed }: { site_id: string; feed: string }) => `${site_id} ${feed}`;
const isoOf = (at: Date | null) => at?.toISOString() ?? null;
const iso = (ms: number) => new Date(ms).toISOString();
const hourOf = (ms: number) => Math.floor(ms / hourMs) * hourMs;

type Sites = [ids: string[] | null, withNone: boolean];
const allSites: Sites = [null, true];

/** The sites that the caller sees. Traffic of no site is shown to those who see all of them. */
async function shownSites(context: FeedsContext): Promise<Sites> {
	return [await visibleSiteIds(context), context.visibleSites === 'all'];
}

type FeedsContext = Pick<OperationContext, 'database' | 'nowMs' | 'em' | 'visibleSites'>;

/** Lists feeds with their figures: those of all nodes, as they were written in the last seconds. */
export async function listFeeds(
	context: FeedsContext,
	{ state }: Pick<z.infer<typeof listFeedsInput>, 'state'> = {},
): Promise<FeedRecord[]> {
	const records = await readFeeds(context, null);
	return state === undefined ? records : records.filter((record) => record.state === state);
}

/** Finds a feed by its id, which may have the slug of its site before it. */
export async function feedById(context: FeedsContext, id: string): Promise<FeedRecord | undefined> {
	const records = await readFeeds(context, [id, id.slice(id.indexOf(':') + 1)]);
	return records.find((record) => record.id === id);
}

/** Reads the feeds of these names, or all of them. */
async function readFeeds(context: FeedsContext, feeds: string[] | null): Promise<FeedRecord[]> {
	const { database, nowMs } = context;
	const sites = await shownSites(context);
	const now = nowMs();
	const rows = await database.rows<FeedRow>(listStatement, [...sites, iso(now - strangersMs), feeds]);
	const hoursBy = await readHours(database, sites, { hours: hoursShown, feeds, nowMs: now });
	const queues = await database.rows<{ site_id: string; feed: string; waiting: number }>(listFeedQueues, sites);
	const weeksBy = await readWeeks(database, rows, now);
	const waitingBy = new Map(queues.map((queue) => [keyOf(queue), queue.waiting]));
	return rows.map((row) => {
		const key = keyOf(row);
		return recordOf(row, { hours: hoursBy.get(key) ?? [], weeks: weeksBy.get(key) ?? [], queued: waitingBy.get(key) ?? 0, nowMs: now });
	});
}

/** Returns the site of each silent feed, over all sites. It reads no more than tells that, because a node asks every minute. */
export async function sitesOfSilentFeeds({ database, nowMs }: Pick<OperationContext, 'database' | 'nowMs'>): Promise<(string | null)[]> {
	const now = nowMs();
	const rows = await database.rows<FeedRow>(listStatement, [...allSites, iso(now - strangersMs), null]);
	const hoursBy = await readHours(database, allSites, { hours: 2, feeds: null, nowMs: now });
	const isQuiet = ({ last_at: last }: FeedRow) => last !== null && now - last.getTime() >= silentMinutesMin * minuteMs;
	const weeksBy = await readWeeks(database, rows.filter(isQuiet), now);
	const silent = rows.filter((row) => {
		const key = keyOf(row);
		return judged(row, { hours: hoursBy.get(key) ?? [], weeks: weeksBy.get(key) ?? [], nowMs: now }).state === 'silent';
	});
	return silent.map(({ site }) => site);
}

/** The last hours of feeds, with the minutes of the last two. */
async function readHours(
	database: OperationContext['database'],
	sites: Sites,
	{ hours, feeds, nowMs }: { hours: number; feeds: string[] | null; nowMs: number },
): Promise<Map<string, HourRow[]>> {
	const present = hourOf(nowMs);
	const values = [...sites, iso(present - (hours - 1) * hourMs), iso(present - hourMs), feeds];
	return Map.groupBy(await database.rows<HourRow>(listFeedHours, values), keyOf);
}

/** The pauses of those feeds whose silence shows by their history. */
async function readWeeks(
	database: OperationContext['database'],
	rows: readonly FeedRow[],
	nowMs: number,
): Promise<Map<string, WeekOfFeed[]>> {
	const asked = rows.filter((row) => isJudged(row) && silenceOf(readSettings(row.settings).silent_after, undefined).silent_by === null);
	const values = [asked.map(({ site_id: siteId }) => siteId), asked.map(({ feed }) => feed), iso(hourOf(nowMs))];
	const weeks = new Map<string, WeekOfFeed[]>();
	for (const [key, pauses] of Map.groupBy(await database.rows<PauseRow>(listFeedPauses, values), keyOf)) weeks.set(key, pauses.map(weekOf));
	return weeks;
}

function weekOf(row: PauseRow): WeekOfFeed {
	const hour = (at: Date | null, minutes: number[] | null) => (at === null ? undefined : { hourMs: at.getTime(), minutes: minutes ?? [] });
	return {
		hourMs: row.hour.getTime(),
		minutes: row.minutes ?? undefined,
		before: hour(row.before_hour, row.before_minutes),
		after: hour(row.after_hour, row.after_minutes),
	};
}

interface FeedHistory {
	hours: readonly HourRow[];
	weeks: readonly WeekOfFeed[];
	nowMs: number;
}

function isJudged(row: FeedRow): boolean {
	const kind = kindOf(row);
	return kind !== 'unmatched' && kind !== 'former';
}

function judged(row: FeedRow, { hours, weeks, nowMs }: FeedHistory) {
	const settings = readSettings(row.settings);
	const silence = silenceOf(settings.silent_after, isJudged(row) ? silentAfterMinutes(weeks) : undefined);
	const state = stateOf({
		kind: kindOf(row),
		isPaused: settingOf(settings, 'paused'),
		isActive: row.active !== false,
		lastMs: row.last_at?.getTime(),
		recent: within(hours, nowMs, recentMinutes),
		silentAfterMinutes: silence.silent_after_minutes ?? undefined,
		nowMs,
	});
	return { silence, state };
}

function recordOf(row: FeedRow, history: FeedHistory & { queued: number }): FeedRecord {
	const { hours, queued, nowMs } = history;
	const kind = kindOf(row);
	const { silence, state } = judged(row, history);
	const p99 = p99Of(acknowledgedOf(hours), acknowledgedMs);
	return {
		id: idOf(row),
		site: row.site,
		kind,
		name: row.name ?? nameOf(kind, row.feed),
		protocols: row.protocols ?? [],
		state,
		last_heard: isoOf(row.last_at),
		...silence,
		...within(hours, nowMs, 60),
		queued,
		p99_ms: p99 === undefined ? null : Math.min(p99, 30_000),
		alert: state === 'silent' ? silentAlert : null,
		since: isoOf(row.first_hour),
		hours: shownHours(hours, nowMs),
	};
}

function idOf({ site, feed, kind }: FeedRow): string {
	if (kind !== 'other') return feed;
	return site === null ? feed : `${site}:${feed}`;
}

export function kindOf({ kind, feed }: Pick<FeedRow, 'kind' | 'feed'>): FeedKind {
	if (kind !== 'other') return kind;
	if (feed === unmatchedFeed || feed === nearbyFeed) return feed;
	return feed.startsWith('token:') ? 'token' : 'former';
}

function nameOf(kind: FeedKind, feed: string): string {
	switch (kind) {
		case 'unmatched':
			return 'Unmatched traffic';
		case 'nearby':
			return 'Nearby DICOM senders';
		case 'token':
			return feed.slice('token:'.length);
		default:
			return feed;
	}
}

/** Adds up the last minutes, the present one included. */
function within(hours: readonly HourRow[], nowMs: number, minutes: number): { received: number; refused: number } {
	const fromMs = (Math.floor(nowMs / minuteMs) - minutes + 1) * minuteMs;
	let received = 0;
	let refused = 0;
	for (const { hour, received_by_minute: all, refused_by_minute: bad } of hours) {
		const first = Math.max(0, (fromMs - hour.getTime()) / minuteMs);
		for (let minute = first; minute < 60; minute++) {
			received += all?.[minute] ?? 0;
			refused += bad?.[minute] ?? 0;
		}
	}
	return { received, refused };
}

function acknowledgedOf(hours: readonly HourRow[]): number[] {
	const sums: number[] = [];
	for (const { acknowledged } of hours)
		for (const [bucket, count] of (acknowledged ?? []).entries()) sums[bucket] = (sums[bucket] ?? 0) + count;
	return sums;
}

function shownHours(hours: readonly HourRow[], nowMs: number): z.infer<typeof feedHour>[] {
	const byHour = new Map(hours.map((hour) => [hour.hour.getTime(), hour]));
	return hoursUntil(nowMs, hoursShown).map((ms) => {
		const { received = 0, refused = 0 } = byHour.get(ms) ?? {};
		return { at: iso(ms), received, refused };
	});
}

function hoursUntil(nowMs: number, count: number): number[] {
	return Array.from({ length: count }, (_, index) => hourOf(nowMs) - (count - 1 - index) * hourMs);
}

/** Shows what the sites sent in each hour. A site without any has zeros, so that a silent one is seen. */
export async function showNetwork(context: OperationContext, { days }: Pick<z.infer<typeof networkInput>, 'days'>): Promise<NetworkRecord> {
	const { database, nowMs } = context;
	const sites = await shownSites(context);
	const hours = hoursUntil(nowMs(), days * 24);
	const first = iso(hours[0] ?? 0);
	type Row = { site: string | null; hour: Date; received: number; refused: number };
	const rows = await database.rows<Row>(listSiteHours, [...sites, first]);
	const [begin] = await database.rows<{ since: Date | null }>(feedsSince, sites);
	const feeds = await database.rows<FeedRow>(listStatement, [...sites, first, null]);
	const slugs = [...new Set(feeds.map(({ site }) => site))];
	const bySite = Map.groupBy(rows, ({ site }) => site);
	return {
		since: isoOf(begin?.since ?? null),
		hours: hours.map(iso),
		sites: slugs.map((site) => {
			const byHour = new Map((bySite.get(site) ?? []).map((row) => [row.hour.getTime(), row]));
			return {
				site,
				received: hours.map((ms) => byHour.get(ms)?.received ?? 0),
				refused: hours.map((ms) => byHour.get(ms)?.refused ?? 0),
			};
		}),
	};
}

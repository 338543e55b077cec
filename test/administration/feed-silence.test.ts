import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { minutesOf, p99Of, silentAfterMinutes, type WeekOfFeed } from '#administration/feeds/silence.ts';
import { type FeedSigns, silenceOf, stateOf } from '#administration/feeds/state.ts';

const hourMs = 3_600_000;
const week = 7 * 24 * hourMs;
const noon = Date.parse('2026-03-02T12:00:00Z');
const at = (...minutes: number[]) => Array.from({ length: 60 }, (_, minute) => (minutes.includes(minute) ? 1 : 0));

/** An hour of the week in which messages came in these minutes, and in the hours around it at the full hour. */
function weekAgo(weeks: number, ...minutes: number[]): WeekOfFeed {
	const own = noon - weeks * week;
	return {
		hourMs: own,
		minutes: minutes.length === 0 ? undefined : at(...minutes),
		before: { hourMs: own - hourMs, minutes: at(0, 55) },
		after: { hourMs: own + hourMs, minutes: at(5) },
	};
}

describe('a feed counts as silent', () => {
	test('after three times the longest usual pause of the hour, those across its borders included', () => {
		assert.equal(silentAfterMinutes([weekAgo(1, 10, 30, 50), weekAgo(2, 20, 45)]), 3 * 25);
		assert.equal(silentAfterMinutes([weekAgo(1), weekAgo(2)]), 3 * 70, 'an hour in which nothing comes');
	});

	test('after a time that one unusual pause among a hundred does not decide', () => {
		const every = (step: number) => Array.from({ length: 60 / step }, (_, index) => index * step);
		const weeks = [
			weekAgo(1, ...every(1)),
			weekAgo(2, ...every(1)),
			weekAgo(3, ...every(1).filter((minute) => minute < 20 || minute > 49)),
		];
		assert.equal(silentAfterMinutes(weeks), 18, 'three times the six minutes behind the hour');
	});

	test('never sooner than after five minutes, because pauses are known to the minute', () => {
		const busy = (weeks: number): WeekOfFeed => {
			const all = at(...Array.from({ length: 60 }, (_, minute) => minute));
			const own = noon - weeks * week;
			return { hourMs: own, minutes: all, before: { hourMs: own - hourMs, minutes: all }, after: { hourMs: own + hourMs, minutes: all } };
		};
		assert.equal(silentAfterMinutes([busy(1), busy(2)]), 5);
	});

	test('only where two of the four weeks are known from before the hour to behind it', () => {
		assert.equal(silentAfterMinutes([]), undefined);
		assert.equal(silentAfterMinutes([weekAgo(1, 10), { ...weekAgo(2, 10), before: undefined }]), undefined);
		assert.equal(silentAfterMinutes([weekAgo(1, 10), { ...weekAgo(2, 10), after: undefined }]), undefined);
	});

	test('by the time that somebody has set, before all history', () => {
		assert.deepEqual(['90m', '2h', '3d', 'x'].map(minutesOf), [90, 120, 4320, undefined]);
		assert.deepEqual(silenceOf('2h', 15), { silent_after_minutes: 120, silent_by: 'setting' });
		assert.deepEqual(silenceOf(undefined, 15), { silent_after_minutes: 15, silent_by: 'history' });
		assert.deepEqual(silenceOf(undefined, undefined), { silent_after_minutes: null, silent_by: null });
	});
});

describe('the state of a feed', () => {
	const signs: FeedSigns = {
		kind: 'client',
		isPaused: false,
		isActive: true,
		lastMs: noon - 600_000,
		recent: { received: 10, refused: 0 },
		silentAfterMinutes: 30,
		nowMs: noon,
	};
	const cases: [string, Partial<FeedSigns>, string][] = [
		['heard within its usual pause', {}, 'connected'],
		['heard longer ago', { lastMs: noon - 1_860_000, recent: { received: 0, refused: 0 } }, 'silent'],
		['one message in five refused', { recent: { received: 10, refused: 2 } }, 'connected'],
		['more than one in five refused', { recent: { received: 10, refused: 3 } }, 'failing'],
		['paused, whatever came', { isPaused: true, recent: { received: 10, refused: 9 } }, 'paused'],
		['disabled', { isActive: false, isPaused: true }, 'disabled'],
		['never heard', { lastMs: undefined }, 'unheard'],
		['heard within the hour, its pauses unknown', { silentAfterMinutes: undefined }, 'connected'],
		['heard hours ago, its pauses unknown', { silentAfterMinutes: undefined, lastMs: noon - 3 * hourMs }, 'not-known'],
		['traffic that nobody takes', { kind: 'unmatched' }, 'failing'],
	];
	for (const [title, change, state] of cases) test(`is ${state}: ${title}`, () => assert.equal(stateOf({ ...signs, ...change }), state));
});

test('the 99th percentile of acknowledgements is the bound below which 99 of 100 stayed', () => {
	const bounds = [1, 2, 5];
	assert.equal(p99Of([0, 0, 0, 0], bounds), undefined);
	assert.equal(p99Of([98, 1, 1, 0], bounds), 2);
	assert.equal(p99Of([98, 0, 2, 0], bounds), 5);
	assert.equal(p99Of([1, 0, 0, 9], bounds), Number.POSITIVE_INFINITY);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nilId } from '#core/id.ts';
import type { Delivery } from '#record/delivery.ts';
import { acknowledgedMs, FeedCounts, hoursOf, minutesKeptMax } from '#storage/feeds/counts.ts';
import { delivery } from '#test/site/letters.ts';

const minuteMs = 60_000;
const noon = Date.UTC(2026, 0, 5, 12);
const sent = (more: object) => ({ ...delivery('a1'), siteId: 'north', receivedAtMs: noon, ...more }) as Delivery;

describe('the figures of feeds', () => {
	test('count what a sender was answered, by minute and by the time that it took; people and replays are no senders', () => {
		const counts = new FeedCounts();
		const client = sent({ clientId: 'laboratory' });
		counts.answered(client, { outcome: 'accepted' }, noon + 3);
		counts.answered(client, { outcome: 'refused' }, noon + 50_000);
		counts.answered(sent({ clientId: 'laboratory', receivedAtMs: noon + minuteMs }), { outcome: 'duplicate' }, noon + minuteMs + 1);
		counts.answered(sent({ clientId: 'laboratory', surface: 'replay' }), { outcome: 'accepted' }, noon);
		counts.refused(undefined, 'unmatched', noon + 5);
		const taken = counts.take();
		const shown = taken.map(({ siteId, feed, minute, received, refused }) => [siteId, feed, minute - noon / minuteMs, received, refused]);
		assert.deepEqual(shown, [
			['north', 'laboratory', 0, 2, 1],
			['north', 'laboratory', 1, 1, 0],
			[nilId, 'unmatched', 0, 1, 1],
		]);
		const { length } = acknowledgedMs;
		assert.deepEqual(
			taken.map(({ acknowledged }) => acknowledged.flatMap((count, bucket) => (count === 0 ? [] : [bucket]))),
			[[acknowledgedMs.indexOf(5), length], [acknowledgedMs.indexOf(1)], []],
		);
		assert.deepEqual(counts.take(), []);
	});

	test('of a caller without a client are those of its key, or of nearby modalities', () => {
		const counts = new FeedCounts();
		counts.answered(sent({ clientId: nilId, source: 'key-1', surface: 'hl7-http' }), { outcome: 'accepted' }, noon);
		counts.answered(sent({ clientId: nilId, surface: 'dimse' }), { outcome: 'accepted' }, noon);
		assert.deepEqual(
			counts.take().map(({ feed }) => feed),
			['key-1', 'nearby'],
		);
	});

	test('are added up to hours in the order of their keys, what could not be written before included', () => {
		const counts = new FeedCounts();
		const client = sent({ clientId: 'b' });
		counts.answered(client, { outcome: 'accepted' }, noon);
		counts.putBack(counts.take());
		counts.answered(client, { outcome: 'refused' }, noon + 59 * minuteMs);
		counts.answered(client, { outcome: 'accepted' }, noon + 60 * minuteMs);
		counts.answered(sent({ clientId: 'a' }), { outcome: 'accepted' }, noon);
		const hours = hoursOf(counts.take());
		assert.deepEqual(
			hours.map(({ feed, hourMs, receivedSum, refusedSum, lastMs }) => [feed, hourMs - noon, receivedSum, refusedSum, lastMs - noon]),
			[
				['a', 0, 1, 0, 0],
				['b', 0, 2, 1, 59 * minuteMs],
				['b', 60 * minuteMs, 1, 0, 60 * minuteMs],
			],
		);
		const [, both] = hours;
		assert.deepEqual([both?.received[0], both?.received[59], both?.refused[59]], [1, 1, 1]);
		assert.equal(
			both?.acknowledged.reduce((total, count) => total + count, 0),
			2,
		);
	});

	test('wait while they cannot be written: one row for each feed and minute, and the oldest are given up', () => {
		const counts = new FeedCounts();
		const client = sent({ clientId: 'laboratory' });
		for (let attempt = 0; attempt < 12; attempt++) {
			counts.answered(client, { outcome: attempt === 0 ? 'refused' : 'accepted' }, noon + attempt * 5000);
			counts.putBack(counts.take());
		}
		const [waiting, ...others] = counts.take();
		assert.deepEqual(others, []);
		assert.deepEqual([waiting?.received, waiting?.refused, waiting?.lastMs], [12, 1, noon + 55_000]);
		assert.equal(
			waiting?.acknowledged.reduce((total, count) => total + count, 0),
			12,
		);
		for (let minute = 0; minute < minutesKeptMax + 10; minute++) counts.refused('north', 'unmatched', noon + minute * minuteMs);
		counts.putBack(counts.take());
		const kept = counts.take();
		assert.equal(kept.length, minutesKeptMax);
		assert.deepEqual([kept[0]?.minute, kept.at(-1)?.minute], [noon / minuteMs + 10, noon / minuteMs + minutesKeptMax + 9]);
	});
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseExact } from '#core/json.ts';
import { compareTexts, hasBecome, placesIn, RetimedTexts, retime, statesTimes } from '#record/retimed.ts';

const compared = (before: unknown, after: unknown): RetimedTexts => {
	const texts = new RetimedTexts();
	compareTexts(before, after, '', texts);
	return texts;
};

describe('texts that two readings of a message state differently', () => {
	test('are known by their element, whether it is named by a member or by the path of a patch', () => {
		const texts = compared({ patch: { elements: { 'period.start': 'a' } } }, { patch: { elements: { 'period.start': 'b' } } });
		assert.deepEqual([texts.after('start', 'a'), texts.after('end', 'a'), texts.isEmpty], ['b', undefined, false]);
	});

	test('are unsure where the message states the same with an offset, or comes to two texts', () => {
		const local = '2026-03-29T03:30:00+02:00';
		assert.equal(compared({ list: [{ at: local }, { at: local }] }, { list: [{ at: 'x' }, { at: local }] }).after('at', local), null);
		const twice = compared({ list: [{ at: local }, { at: local }] }, { list: [{ at: 'x' }, { at: 'y' }] });
		assert.deepEqual([twice.after('at', local), twice.isEmpty], [null, true]);
	});

	test('are none where a list got shorter, a member went or bytes are carried', () => {
		const bytes = Buffer.from('2026');
		assert.equal(compared({ list: ['a', 'b'], gone: 'c', bytes }, { list: ['a'], bytes }).isEmpty, true);
	});

	test('replace what a resource has at the same place, and no digit of a number changes', () => {
		const texts = compared({ start: 'a' }, { start: 'b' });
		const resource = parseExact('{"value":1.20,"period":{"start":"a","end":"a"},"stay":[{"start":"a"},{"start":"z"}],"title":"a"}');
		const places = placesIn(resource, texts);
		assert.deepEqual(
			[...places],
			[
				['.period.start a', 'b'],
				['.stay.start a', 'b'],
			],
		);
		assert.equal(hasBecome(resource, places), false);
		places.delete('.stay.start a');
		assert.equal(retime(resource, places), true);
		assert.equal(
			JSON.stringify(resource),
			'{"value":1.20,"period":{"start":"b","end":"a"},"stay":[{"start":"a"},{"start":"z"}],"title":"a"}',
		);
		assert.deepEqual([hasBecome(resource, places), retime(resource, places)], [true, false]);
	});

	test('are looked for only in what states times of day', () => {
		assert.deepEqual([statesTimes({ a: ['2026-01-01'] }), statesTimes({ a: ['2026-01-01T10:00:00Z'] })], [false, true]);
	});
});

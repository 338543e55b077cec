import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hostTimeZone, isTimeZone, isUtc, localOffset } from '#core/time-zone.ts';

const at = (zone: string, local: string) => localOffset(zone, Date.parse(`${local}Z`));
const minutes = (zone: string, local: string) => at(zone, local).minutes;

describe('a time zone', () => {
	test('is named as in the IANA database', () => {
		for (const name of ['Europe/Berlin', 'America/Argentina/Buenos_Aires', 'UTC', 'Etc/GMT-3', 'Asia/Kolkata'])
			assert.ok(isTimeZone(name), name);
		for (const name of ['', '+02:00', 'Berlin', 'Europe/Nowhere', 'Europe/Berlin ', 'a'.repeat(300), '../etc'])
			assert.ok(!isTimeZone(name), name);
		assert.ok(isTimeZone(hostTimeZone()));
		assert.deepEqual(['UTC', 'Etc/UTC', 'Europe/London'].map(isUtc), [true, true, false]);
	});

	test('has the offset of winter and of summer, on both halves of the earth, and where clocks never change', () => {
		assert.deepEqual([minutes('Europe/Berlin', '2026-01-15T12:00:00'), minutes('Europe/Berlin', '2026-07-15T12:00:00')], [60, 120]);
		assert.deepEqual(
			[minutes('America/New_York', '2026-01-15T12:00:00'), minutes('America/New_York', '2026-07-15T12:00:00')],
			[-300, -240],
		);
		assert.deepEqual(
			[minutes('Australia/Adelaide', '2026-01-15T12:00:00'), minutes('Australia/Adelaide', '2026-07-15T12:00:00')],
			[630, 570],
		);
		assert.deepEqual([minutes('Asia/Kolkata', '2026-07-15T12:00:00'), minutes('UTC', '2026-07-15T12:00:00')], [330, 0]);
	});

	test('moves a time that clocks were put over by the length of the gap', () => {
		assert.deepEqual(at('Europe/Berlin', '2026-03-29T01:59:59'), { kind: 'plain', minutes: 60, moved: 0 });
		assert.deepEqual(at('Europe/Berlin', '2026-03-29T02:00:00'), { kind: 'gap', minutes: 120, moved: 60 });
		assert.deepEqual(at('Europe/Berlin', '2026-03-29T02:59:59'), { kind: 'gap', minutes: 120, moved: 60 });
		assert.deepEqual(at('Europe/Berlin', '2026-03-29T03:00:00'), { kind: 'plain', minutes: 120, moved: 0 });
		assert.deepEqual(at('Australia/Lord_Howe', '2026-10-04T02:15:00'), { kind: 'gap', minutes: 660, moved: 30 });
	});

	test('takes the first of two times that are alike', () => {
		assert.deepEqual(at('Europe/Berlin', '2026-10-25T01:59:59'), { kind: 'plain', minutes: 120, moved: 0 });
		assert.deepEqual(at('Europe/Berlin', '2026-10-25T02:00:00'), { kind: 'fold', minutes: 120, moved: 0 });
		assert.deepEqual(at('Europe/Berlin', '2026-10-25T02:59:59'), { kind: 'fold', minutes: 120, moved: 0 });
		assert.deepEqual(at('Europe/Berlin', '2026-10-25T03:00:00'), { kind: 'plain', minutes: 60, moved: 0 });
	});

	test('knows changes at the turn of a year, days that a zone left out, and years far away', () => {
		assert.deepEqual([minutes('Asia/Kathmandu', '1985-12-31T23:00:00'), minutes('Asia/Kathmandu', '1986-01-01T01:00:00')], [330, 345]);
		assert.deepEqual(at('Pacific/Apia', '2011-12-30T12:00:00'), { kind: 'gap', minutes: 840, moved: 1440 });
		assert.equal(minutes('Europe/Berlin', '9999-07-01T00:00:00'), 60);
		assert.equal(minutes('Europe/Berlin', '0900-07-01T00:00:00'), 60);
	});

	test('agrees with the database of zones for every hour of two years', () => {
		for (const zone of ['Europe/Berlin', 'America/New_York', 'Africa/Casablanca']) {
			const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
			for (let ms = Date.UTC(2025, 0, 1); ms < Date.UTC(2027, 0, 1); ms += 3_600_000) {
				const localMs = Date.parse(`${format.format(ms).replace(' ', 'T')}Z`);
				const { kind, minutes: offset } = localOffset(zone, localMs);
				if (kind === 'plain') assert.equal(localMs - offset * 60_000, ms, `${zone} ${new Date(localMs).toISOString()}`);
			}
		}
	});
});

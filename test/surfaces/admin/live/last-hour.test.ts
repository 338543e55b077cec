import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '#core/log.ts';
import { StoredHour } from '#surfaces/admin/live/last-hour.ts';
import { StatementNotes } from '#test/support/statement-runner.ts';

test('the last hour is read again after five seconds, also when the clock was set back by an hour', async () => {
	const database = new StatementNotes();
	const time = { wallMs: Date.parse('2026-10-25T03:00:00Z'), elapsedMs: 0 };
	const hour = new StoredHour({ database, log: silentLog, clock: { nowMs: () => time.wallMs }, elapsedMs: () => time.elapsedMs });
	const readings = () => database.names().filter((name) => name === 'list_minutes').length;
	await hour.refresh();
	assert.equal(readings(), 1);
	time.elapsedMs = 4000;
	await hour.refresh();
	assert.equal(readings(), 1, 'the last reading is fresh');
	time.wallMs -= 3_600_000;
	time.elapsedMs = 5000;
	await hour.refresh();
	assert.equal(readings(), 2);
});

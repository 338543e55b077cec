import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SiteAuditEvent } from '#access/audit.ts';
import { openRefusals } from '#access/refusals.ts';
import { createLog } from '#core/log.ts';
import { ManualTimers } from '#test/support/manual-timers.ts';

/** Refusals with time of their own, what the audit trail got and what the log says. */
function opened(auditRefusalsMax = 100) {
	const timers = new ManualTimers();
	const events: SiteAuditEvent[] = [];
	const lines: Record<string, unknown>[] = [];
	const log = createLog('info', { write: (line: string) => lines.push(JSON.parse(line)) });
	const audit = { recordOf: (event: SiteAuditEvent) => void events.push(event) };
	const clock = { nowMs: () => timers.elapsedMs() };
	const refusals = openRefusals({ audit, limits: { auditRefusalsMax }, log, clock, timers });
	const told = () => events.splice(0).map(({ action, subject, source, detail }) => [action, subject, source, detail]);
	const logged = () => lines.splice(0).map(({ action, reason, address, times, named }) => [action, reason, address, times, named]);
	return { refusals, timers, told, logged };
}

const wrong = { action: 'key.refused', reason: 'not valid', source: '192.0.2.1' };

describe('a refused caller', () => {
	test('is told once, with the names that it used, and its repetitions once a minute with their count', async () => {
		const { refusals, timers, told, logged } = opened();
		for (const named of ['trb_a', 'trb_b', 'trb_a']) refusals.note({ ...wrong, named });
		await timers.advance(500);
		const first = { times: 3, named: 'trb_a, trb_b' };
		assert.deepEqual(told(), [['key.refused', 'not valid', '192.0.2.1', first]]);
		assert.deepEqual(logged(), [['key.refused', 'not valid', '192.0.2.1', 3, 'trb_a, trb_b']]);
		for (let count = 0; count < 10_000; count++) refusals.note({ ...wrong, named: `trb_${count}` });
		await timers.advance(59_000);
		assert.deepEqual([told(), logged()], [[], []]);
		await timers.advance(1500);
		assert.deepEqual(told(), [['key.refused', 'not valid', '192.0.2.1', { times: 10_000, named: 'trb_0, trb_1, trb_2, trb_3, trb_4' }]]);
		await timers.advance(120_000);
		assert.deepEqual(told(), []);
		refusals.note(wrong);
		await timers.advance(500);
		assert.deepEqual(told(), [['key.refused', 'not valid', '192.0.2.1', { times: 1 }]]);
	});

	test('has all addresses of its /64', async () => {
		const { refusals, timers, told } = opened();
		for (let count = 1; count <= 9; count++) refusals.note({ ...wrong, source: `2001:db8:1:2::${count}` });
		await timers.advance(500);
		assert.deepEqual(told(), [['key.refused', 'not valid', '2001:db8:1:2::1', { times: 9 }]]);
	});

	test('beyond AUDIT_REFUSALS_MAX in a minute is told with all others in one line', async () => {
		const { refusals, timers, told, logged } = opened(2);
		const flood = () => {
			for (let count = 1; count <= 200; count++) refusals.note({ ...wrong, source: `192.0.2.${count}` });
		};
		flood();
		await timers.advance(500);
		assert.equal(logged().length, 3);
		assert.deepEqual(told().at(-1), ['callers.refused', 'further callers', '', { times: 198 }]);
		for (let second = 0; second < 50; second++) {
			flood();
			await timers.advance(1000);
		}
		assert.deepEqual(told(), []);
		await timers.advance(11_000);
		assert.equal(told().length, 3);
	});

	test('whose access was not at stake is in the log alone', async () => {
		const { refusals, timers, told, logged } = opened();
		refusals.note({ action: 'mllp.refused', reason: 'address-limit', source: '192.0.2.1', isAudited: false });
		await timers.advance(500);
		assert.deepEqual([told(), logged().length], [[], 1]);
	});

	test('is told when the service ends', () => {
		const { refusals, told } = opened();
		refusals.note(wrong);
		refusals.close();
		assert.equal(told().length, 1);
	});
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openAudit } from '#access/audit.ts';
import { systemClock } from '#core/clock.ts';
import { createLog } from '#core/log.ts';
import { StatementNotes } from '#test/support/statement-runner.ts';

/** An audit trail whose database has not answered yet, what it has written when it is closed, and what the log says. */
function audited(limits: { auditRefusalsMax: number; auditEventsMax: number }) {
	const notes = new StatementNotes();
	const lines: Record<string, unknown>[] = [];
	const log = createLog('info', { write: (line: string) => lines.push(JSON.parse(line)) });
	const connection = { open: () => Promise.resolve(), run: notes.run.bind(notes) };
	const audit = openAudit({ connection, limits, log, clock: systemClock });
	const written = async () => {
		await audit.close();
		return notes.ran.map(({ values: [, , siteId, actor, , subject, , detail] }) => ({ siteId, actor, subject, detail }));
	};
	return { audit, written, lines };
}

describe('while the database does not answer', () => {
	test('refusals of AUDIT_REFUSALS_MAX senders wait, repeated ones with them; further senders are only in the log', async () => {
		const { audit, written, lines } = audited({ auditRefusalsMax: 2, auditEventsMax: 100 });
		for (const subject of ['one', 'two', 'three', 'one', 'four']) {
			audit.record({ action: 'mllp.refused', subject, source: '192.0.2.1' });
		}
		assert.deepEqual(
			(await written()).map(({ subject, detail }) => [subject, detail]),
			[
				['one', '{"times":2}'],
				['two', '{"times":1}'],
			],
		);
		assert.deepEqual(
			lines.map(({ msg, dropped }) => [msg, dropped]),
			[['more refusals than the audit trail takes', 1]],
			'a flood does not fill the log',
		);
	});

	test('AUDIT_EVENTS_MAX events of sites wait; the log tells of each further one', async () => {
		const { audit, written, lines } = audited({ auditRefusalsMax: 2, auditEventsMax: 3 });
		for (const subject of ['a', 'b', 'c', 'd', 'e']) {
			const event = { action: 'document.read', subject, source: '192.0.2.1', detail: {} };
			audit.recordOf({ ...event, siteId: '00000000-0000-7000-8000-000000000001', actor: `reader ${subject}` });
		}
		assert.deepEqual(
			(await written()).map(({ subject }) => subject),
			['a', 'b', 'c'],
		);
		assert.deepEqual(
			lines.map(({ msg, actor }) => [msg, actor]),
			[
				['an audit event is lost: too many wait', 'reader d'],
				['an audit event is lost: too many wait', 'reader e'],
			],
		);
	});
});

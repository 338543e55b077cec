import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openAudit } from '#access/audit.ts';
import type { SiteAccess } from '#access/gathered-accesses.ts';
import { systemClock } from '#core/clock.ts';
import { createLog } from '#core/log.ts';
import type { ColumnValues } from '#storage/statement.ts';
import { StatementNotes } from '#test/support/statement-runner.ts';
import { createMetrics } from '../../src/metrics.ts';

const siteId = '00000000-0000-7000-8000-000000000001';
const caller = { siteId, actor: 'key:k', action: 'fhir.read', kind: 'Patient', source: '192.0.2.1', studies: [] };

function accessOf(patient: string, more: Partial<SiteAccess> = {}): SiteAccess {
	return { ...caller, subject: `Patient/${patient}`, patients: [patient], detail: { status: 200 }, requestId: `r-${patient}`, ...more };
}

/** The elements of an array as PostgreSQL writes it. */
function elements(literal: unknown): string[] {
	return [...String(literal).matchAll(/"((?:[^"\\]|\\.)*)"|([^,{}"]+)/g)].map(([, quoted, plain]) =>
		(quoted ?? plain ?? '').replaceAll('\\', ''),
	);
}

/**
 * An audit trail whose database has not answered yet, what it has written when it is closed, and what the log says. The database refuses
 * batches in which an action is a SQLSTATE.
 */
function audited(limits: { auditRefusalsMax: number; auditEventsMax: number }) {
	const notes = new StatementNotes();
	const run: typeof notes.run = (statement, values) => {
		const state = statement.name === 'write_audit_batch' ? /\b[0-9][0-9A-Z]{4}\b/.exec((values[14] as ColumnValues).toPostgres()) : null;
		return state === null ? notes.run(statement, values) : Promise.reject(Object.assign(new Error('refused'), { code: state[0] }));
	};
	const lines: Record<string, unknown>[] = [];
	const log = createLog('info', { write: (line: string) => lines.push(JSON.parse(line)) });
	const connection = { open: () => Promise.resolve(), run };
	const metrics = createMetrics({ processMetrics: false });
	const bounds = { ...limits, auditWaitMsMax: 60_000, auditKeepDays: 0 };
	const audit = openAudit({ connection, limits: bounds, metrics, log, clock: systemClock, links: false });
	const written = async () => {
		await audit.close();
		return notes.ran
			.filter(({ name, values }) => name === 'write_audit_batch' && values[4] !== 0)
			.flatMap(({ values }) => {
				const [actors, subjects, details, patients] = [13, 15, 17, 18].map((index) => elements(values[index]));
				return (subjects ?? []).map((subject, index) => ({
					subject,
					actor: actors?.[index],
					detail: details?.[index],
					patients: elements(patients?.[index]).filter((id) => id !== 'NULL'),
				}));
			});
	};
	return { audit, written, lines, told: () => lines.filter(({ msg }) => !String(msg).startsWith('the end of the chain')) };
}

describe('while the database does not answer', () => {
	test('the log tells it once, and that it is over when the events are written', async () => {
		const notes = new StatementNotes();
		const lines: Record<string, unknown>[] = [];
		const log = createLog('info', { write: (line: string) => lines.push(JSON.parse(line)) });
		const metrics = createMetrics({ processMetrics: false });
		const limits = { auditRefusalsMax: 2, auditEventsMax: 100, auditWaitMsMax: 1, auditKeepDays: 0 };
		let left = 4;
		const isOver = Promise.withResolvers<void>();
		const open = () => (left-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve());
		const run: typeof notes.run = (statement, values) => {
			isOver.resolve();
			return notes.run(statement, values);
		};
		const audit = openAudit({ connection: { open, run }, limits, metrics, log, clock: systemClock, links: false });
		audit.recordOf({ siteId, actor: 'a', action: 'key.create', subject: 'k', source: '', detail: {} });
		await isOver.promise;
		await audit.close();
		assert.deepEqual(
			lines.filter(({ msg }) => String(msg).startsWith('audit')).map(({ level, msg, times }) => [level, msg, times]),
			[
				['warn', 'audit events could not be written', undefined],
				['info', 'audit events could not be written: over', 3],
			],
		);
	});

	test('refusals of AUDIT_REFUSALS_MAX senders wait, repeated ones with them; further senders are only in the log', async () => {
		const { audit, written, told } = audited({ auditRefusalsMax: 2, auditEventsMax: 100 });
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
			told().map(({ msg, dropped }) => [msg, dropped]),
			[['more refusals than the audit trail takes', 1]],
			'a flood does not fill the log',
		);
	});

	test('AUDIT_EVENTS_MAX events of sites wait; the log tells of each further one', async () => {
		const { audit, written, told } = audited({ auditRefusalsMax: 2, auditEventsMax: 3 });
		for (const subject of ['a', 'b', 'c', 'd', 'e']) {
			const event = { action: 'document.read', subject, source: '192.0.2.1', detail: {} };
			audit.recordOf({ ...event, siteId, actor: `reader ${subject}` });
		}
		assert.deepEqual(
			(await written()).map(({ subject }) => subject),
			['a', 'b', 'c'],
		);
		assert.deepEqual(
			told().map(({ msg, actor }) => [msg, actor]),
			[
				['an audit event is lost: too many wait', 'reader d'],
				['an audit event is lost: too many wait', 'reader e'],
			],
		);
	});

	test('the accesses of a flood become one event with all their patients, after the first that stand alone', async () => {
		const { audit, written, told } = audited({ auditRefusalsMax: 2, auditEventsMax: 500 });
		const ids = Array.from({ length: 1000 }, (_, index) => `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`);
		for (const id of ids) audit.recordAccess(accessOf(id));
		audit.recordAccess(accessOf('other', { actor: 'key:l' }));
		audit.recordAccess(accessOf('failed', { detail: { status: 404 }, patients: [], subject: 'Patient' }));
		const events = await written();
		assert.equal(events.length, 20 + 1 + 2);
		const flood = events.find(({ subject, patients }) => subject === 'Patient' && patients.length > 0) ?? assert.fail();
		assert.equal(flood.patients.length, 980);
		assert.equal(JSON.parse(flood.detail ?? '').times, 980);
		assert.equal(JSON.parse(flood.detail ?? '').request, `r-${ids[20]}`);
		assert.equal(JSON.parse(flood.detail ?? '').last_request, `r-${ids[999]}`);
		assert.deepEqual([...new Set(events.flatMap(({ patients }) => patients))].filter((id) => id.startsWith('0000')).sort(), ids);
		assert.deepEqual(told(), []);
	});

	test('texts that PostgreSQL cannot hold do not keep an event from the trail', async () => {
		const { audit, written } = audited({ auditRefusalsMax: 2, auditEventsMax: 500 });
		audit.recordOf({ siteId, actor: 'a', action: 'dicom.c-find', subject: 'x\0y\ud800', source: '', detail: { calling_ae: '\udfff\0' } });
		assert.deepEqual(
			(await written()).map(({ subject, detail }) => [subject, detail]),
			[['xy�', '{"calling_ae":"�"}']],
		);
	});

	for (const state of ['22021', '23514', '54000']) {
		test(`an event that the database refuses with ${state} does not keep the others from the trail`, async () => {
			const { audit, written, told } = audited({ auditRefusalsMax: 2, auditEventsMax: 500 });
			for (const action of ['key.create', state, 'key.revoke'])
				audit.recordOf({ siteId, actor: 'a', action, subject: action, source: '', detail: {} });
			assert.deepEqual(
				(await written()).map(({ subject }) => subject),
				['key.create', 'key.revoke'],
			);
			assert.deepEqual(
				told().map(({ msg, action }) => [msg, action]),
				[['an audit event could not be written', state]],
			);
		});
	}
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ReportDelivery } from '#record/delivery.ts';
import type { ReportEdit } from '#record/report.ts';
import { carried, interpretContext, MemoryBatch } from '#test/support/interpretation.ts';

const edit: ReportEdit = {
	operation: 'add',
	studyUid: '1.2.3',
	status: 'draft',
	title: 'CT',
	text: 'None.',
	actor: 'ann@example.org',
	source: '',
};

function report(given: ReportEdit = edit): ReportDelivery {
	return { ...carried(), kind: 'report', surface: 'administration', bytes: Buffer.from(JSON.stringify(given)) };
}

describe('an edit of a report', () => {
	test('of a study that is not there is refused with the reason, and never logged', () => {
		const { reply, logged } = new MemoryBatch().take(report());
		assert.ok(reply.answer.kind === 'refused');
		assert.equal(reply.answer.diagnostics, reply.failure?.diagnostics);
		assert.deepEqual([reply.outcome, logged], ['refused', []]);
	});

	test('that is longer than the limit is refused', () => {
		const context = { ...interpretContext, limits: { ...interpretContext.limits, reportBytesMax: 10 } };
		const { reply } = new MemoryBatch().take(report(), context);
		assert.deepEqual(reply.answer, { kind: 'refused', diagnostics: 'the report comes to more than 10 bytes' });
	});

	test('that ended its worker is refused', () => {
		const { reply } = new MemoryBatch().take({ ...report(), withheld: 'crash' as const });
		assert.deepEqual(reply.answer, { kind: 'refused', diagnostics: 'the report could not be processed' });
	});
});

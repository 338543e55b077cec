import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MppsDelivery } from '#record/delivery.ts';
import { carried, loggedAcks, MemoryBatch } from '#test/support/interpretation.ts';

const uid = '1.2.3.4';
const study = '1.2.3';
const report = (status: string) => ({ sop_instance_uid: uid, study_uid: study, status });
const element = (vr: string, value: unknown) => ({ vr, Value: [value] });
const attributes = (status: string) => ({ '00400252': element('CS', status) });
const scheduled = { '00400270': element('SQ', { '0020000D': element('UI', study) }) };

function mpps(operation: MppsDelivery['operation'], body: object): MppsDelivery {
	const surface = operation === 'report' ? 'mpps' : 'dimse';
	return { ...carried(), kind: 'mpps', surface, operation, bytes: Buffer.from(JSON.stringify(body)) };
}

const create = mpps('create', { sop_instance_uid: uid, attributes: { ...attributes('IN PROGRESS'), ...scheduled } });
const set = (status: string) => mpps('set', { sop_instance_uid: uid, attributes: attributes(status) });

describe('a report over HTTP', () => {
	test('is answered with its session, and logged with the JSON of the answer', () => {
		const taken = new MemoryBatch().take(mpps('report', report('IN PROGRESS')));
		const { reply } = taken;
		assert.deepEqual([reply.outcome, reply.messageType, reply.controlId], ['accepted', 'MPPS IN PROGRESS', uid]);
		assert.ok('success' in reply.answer && reply.answer.success);
		assert.deepEqual(loggedAcks(taken), [`{"success":true,"session_id":"${reply.answer.session_id}"}`]);
	});

	test('that comes again is a duplicate, and answered with the same session', () => {
		const batch = new MemoryBatch();
		const first = batch.take(mpps('report', report('IN PROGRESS')));
		const again = batch.take(mpps('report', report('IN PROGRESS')));
		assert.deepEqual([again.reply.outcome, again.reply.answer, again.reply.flags], ['duplicate', first.reply.answer, []]);
		assert.equal(again.logged[0]?.replayOf, first.reply.id);
	});

	test('that is refused is answered with the reason', () => {
		const taken = new MemoryBatch().take(mpps('report', { ...report('IN PROGRESS'), status: 'DONE' }));
		assert.ok('success' in taken.reply.answer && !taken.reply.answer.success);
		assert.deepEqual([taken.reply.outcome, taken.reply.messageType, taken.reply.controlId], ['refused', 'MPPS', '']);
		assert.deepEqual(loggedAcks(taken), [`{"success":false,"error":${JSON.stringify(taken.reply.answer.error)}}`]);
	});
});

describe('a report over DIMSE', () => {
	test('is answered with a status, and logged with the JSON of it', () => {
		const batch = new MemoryBatch();
		const created = batch.take(create);
		assert.deepEqual(
			[created.reply.messageType, created.reply.answer, loggedAcks(created)],
			['MPPS N-CREATE', { status: 0 }, ['{"status":0}']],
		);
		const ended = batch.take(set('COMPLETED'));
		assert.deepEqual([ended.reply.messageType, ended.reply.answer], ['MPPS N-SET', { status: 0 }]);
		const late = batch.take(set('COMPLETED'));
		const answer = { status: 0x0110, comment: 'Performed Procedure Step Object may no longer be updated', errorId: 0xa710 };
		assert.deepEqual([late.reply.outcome, late.reply.answer], ['refused', answer]);
	});

	test('that is the very same delivery, whose COMMIT was lost, is answered from the log', () => {
		const batch = new MemoryBatch();
		batch.take(create);
		const again = batch.take(create);
		assert.deepEqual([again.reply.outcome, again.reply.answer], ['duplicate', { status: 0 }]);
	});

	test('that ended its worker, or is too long, is refused', () => {
		const withheld = new MemoryBatch().take({ ...create, withheld: 'crash' as const });
		assert.deepEqual(withheld.reply.answer, { status: 0x0110, comment: 'the request could not be processed' });
		const long = new MemoryBatch().take({ ...create, bytes: Buffer.alloc(10_000_000, ' ') });
		assert.equal('status' in long.reply.answer && long.reply.answer.status, 0x0213);
	});
});

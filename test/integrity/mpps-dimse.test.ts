import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { element, sequence } from '#test/support/data-set.ts';
import { type Change, changed, fc, fuzzing } from '#test/support/fuzzing.ts';
import { Modality, type ModalityAnswer } from '#test/support/modality.ts';
import { testService } from '#test/support/service.ts';
import { addImagingSite } from '#test/support/storage-scu.ts';

const status = (text: string) => element(0x0040_0252, 'CS', text);
const scheduled = (studyUid: string) => sequence(0x0040_0270, [element(0x0020_000d, 'UI', studyUid)]);
const begun = (studyUid = '1.2.840.7') =>
	Buffer.concat([
		element(0x0008_0005, 'CS', 'ISO_IR 100'),
		element(0x0008_0060, 'CS', 'CT'),
		element(0x0010_0010, 'PN', 'M\xfcller^J\xf6rg'),
		element(0x0010_0020, 'LO', 'P-1'),
		element(0x0040_0241, 'AE', 'CT1'),
		element(0x0040_0244, 'DA', '20240131'),
		element(0x0040_0245, 'TM', '101500'),
		status('IN PROGRESS'),
		scheduled(studyUid),
	]);
const ended = (how = 'COMPLETED') =>
	Buffer.concat([element(0x0040_0250, 'DA', '20240131'), element(0x0040_0251, 'TM', '1020'), status(how)]);

describe('MPPS over DIMSE, through the socket', () => {
	test('each step that PS3.4 F.7.2 forbids has its status, and changes nothing', async () => {
		await using service = await testService();
		const { called, siteId } = await addImagingSite(service, 'west');
		using modality = await Modality.open(service.port('dimse'), called);
		const told = async (answer: Promise<ModalityAnswer>) => {
			const { status: code, errorId } = await answer;
			return [code, errorId];
		};
		const sessions = () =>
			service.rows('select sop_instance_uid, status, reports from mpps_session where site_id = $1 order by sop_instance_uid', [siteId]);
		assert.deepEqual(await modality.create('1.2.1', begun()), {
			status: 0,
			errorId: undefined,
			comment: undefined,
			sopInstanceUid: '1.2.1',
		});
		assert.deepEqual(await told(modality.create('1.2.1', begun())), [0x0111, undefined]);
		assert.deepEqual(await told(modality.create('1.2.2', Buffer.concat([ended(), scheduled('1.2.840.7')]))), [0x0106, undefined]);
		assert.deepEqual(await told(modality.create('1.2.2', scheduled('1.2.840.7'))), [0x0120, undefined]);
		assert.deepEqual(await told(modality.set('1.2.3', ended())), [0x0112, undefined]);
		assert.deepEqual(await told(modality.set('1.2.1', status('FINISHED'))), [0x0106, undefined]);
		assert.deepEqual(await sessions(), [{ sop_instance_uid: '1.2.1', status: 'IN PROGRESS', reports: 1 }]);

		assert.deepEqual(await told(modality.set('1.2.1', element(0x0040_0280, 'ST', 'half way'))), [0, undefined]);
		assert.deepEqual(await told(modality.set('1.2.1', ended())), [0, undefined]);
		for (const how of ['COMPLETED', 'DISCONTINUED', 'IN PROGRESS']) {
			const answer = await modality.set('1.2.1', ended(how));
			assert.deepEqual([answer.status, answer.errorId, answer.sopInstanceUid], [0x0110, 0xa710, '1.2.1']);
			assert.match(answer.comment ?? '', /may no longer be updated/i);
		}
		assert.deepEqual(await sessions(), [{ sop_instance_uid: '1.2.1', status: 'COMPLETED', reports: 3 }]);
		const given = await modality.create(undefined, begun('1.2.840.8'));
		assert.equal(given.status, 0);
		assert.match(given.sopInstanceUid ?? '', /^2\.25\.\d+$/);
		assert.deepEqual(await told(modality.set(given.sopInstanceUid ?? '', ended('DISCONTINUED'))), [0, undefined]);
		assert.equal(await modality.echo(), 0);
	});

	test('what a database could choke on is taken or refused, and the association goes on', async () => {
		await using service = await testService();
		const { called } = await addImagingSite(service, 'west');
		using modality = await Modality.open(service.port('dimse'), called);
		const deep = (depth: number): Buffer =>
			Array.from({ length: depth }).reduce<Buffer>((inner) => sequence(0x0040_0260, [inner]), element(0x0008_0104, 'LO', 'in the middle'));
		const odd: [string, Buffer][] = [
			['a NUL within a text', element(0x0040_0280, 'ST', 'a\0b\0')],
			[
				'a text that is no UTF-8',
				Buffer.concat([element(0x0008_0005, 'CS', 'ISO_IR 192'), element(0x0040_0280, 'ST', '\xff\xfe\xed\xa0\x80')]),
			],
			['an escape without end', element(0x0040_0280, 'ST', '\x1b$B\x30')],
			['a name of the prototype', element(0x0040_0280, 'ST', '__proto__')],
			['30 sequences in one another', deep(30)],
			['63 sequences in one another', deep(63)],
			[
				'5,000 items',
				sequence(
					0x0040_0340,
					Array.from({ length: 5000 }, () => element(0x0020_000e, 'UI', '1.2.3')),
				),
			],
			['a station name of 60,000 letters', element(0x0040_0242, 'SH', 'x'.repeat(60_000))],
			['a patient id of 60,000 letters', element(0x0010_0020, 'LO', 'x'.repeat(60_000))],
		];
		for (const [index, [what, more]] of odd.entries()) {
			const uid = `1.2.3.${index}`;
			assert.equal((await modality.create(uid, begun())).status, 0);
			const answer = await modality.set(uid, more);
			assert.ok(answer.status !== undefined && [0, 0x0106, 0x0110, 0x0213].includes(answer.status), `${what}: ${JSON.stringify(answer)}`);
			assert.equal((await modality.set(uid, ended())).status, 0, `${what}: the step goes on`);
		}
		assert.equal(await modality.echo(), 0);
	});

	test('attribute lists that are damaged have a status each', async (context) => {
		await using service = await testService();
		const { called, siteId } = await addImagingSite(service, 'west');
		using modality = await Modality.open(service.port('dimse'), called);
		const change: fc.Arbitrary<Change> = fc.record({ at: fc.nat(2000), kind: fc.nat(3), bytes: fc.uint8Array({ maxLength: 6 }) });
		let number = 0;
		let kept = 0;
		await fc.assert(
			fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
				const { status: code } = await modality.create(`1.2.9.${number++}`, changed(begun(), changes));
				assert.ok(code !== undefined && [0, 0x0106, 0x0110, 0x0120, 0x0213].includes(code), `0x${code?.toString(16)}`);
				if (code === 0) kept += 1;
			}),
			fuzzing(context, 400),
		);
		const [row] = await service.rows<{ count: number }>('select count(*)::int from mpps_session where site_id = $1', [siteId]);
		assert.equal(row?.count, kept);
		assert.ok(kept > 0 && kept < number);
		assert.equal(await modality.echo(), 0);
	});
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { commitmentReport, readCommitmentRequest } from '#dicom/commitment.ts';
import { type DicomJson, JsonModelReader } from '#dicom/json-model.ts';
import { explicitLittleEndian, implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { element, sequence } from '#test/support/data-set.ts';

function jsonOf(bytes: Buffer, transferSyntax: string = explicitLittleEndian): DicomJson {
	const reader = new JsonModelReader(transferSyntax, { bytesMax: 1e6, inlineBytesMax: 0, bulkDataUri: () => undefined });
	reader.feed(bytes);
	const read = reader.end();
	assert.ok('json' in read);
	return read.json;
}

const reference = (sopClassUid: string, sopInstanceUid: string) =>
	Buffer.concat([element(0x0008_1150, 'UI', sopClassUid), element(0x0008_1155, 'UI', sopInstanceUid)]);
const request = (transactionUid: string, items: Buffer[]) =>
	jsonOf(Buffer.concat([element(0x0008_1195, 'UI', transactionUid), sequence(0x0008_1199, items)]));

describe('storage commitment data sets', () => {
	test('a request is read with its references in order', () => {
		assert.deepEqual(readCommitmentRequest(request('1.2.3', [reference('1.1', '2.1'), reference('1.2', '2.2')])), {
			transactionUid: '1.2.3',
			references: [
				{ sopClassUid: '1.1', sopInstanceUid: '2.1' },
				{ sopClassUid: '1.2', sopInstanceUid: '2.2' },
			],
		});
	});

	const malformed: [string, DicomJson, RegExp][] = [
		['no Transaction UID', jsonOf(sequence(0x0008_1199, [reference('1.1', '2.1')])), /Transaction UID/],
		['a Transaction UID that is none', request('1.02', [reference('1.1', '2.1')]), /Transaction UID/],
		['no sequence', jsonOf(element(0x0008_1195, 'UI', '1.2.3')), /Referenced SOP Sequence/],
		['an empty sequence', request('1.2.3', []), /Referenced SOP Sequence/],
		['an empty item', request('1.2.3', [Buffer.alloc(0)]), /without valid UIDs/],
		['an instance UID that is none', request('1.2.3', [reference('1.1', '../etc')]), /without valid UIDs/],
		[
			'a sequence that is none',
			jsonOf(Buffer.concat([element(0x0008_1195, 'UI', '1.2'), element(0x0008_1199, 'UI', '1.2')])),
			/without valid UIDs/,
		],
	];
	for (const [name, json, message] of malformed) {
		test(`${name} is told`, () => {
			const read = readCommitmentRequest(json);
			assert.ok(typeof read === 'string');
			assert.match(read, message);
		});
	}

	for (const transferSyntax of [explicitLittleEndian, implicitLittleEndian]) {
		test(`a report reads back as it was meant, in ${transferSyntax}`, () => {
			const committed = [{ sopClassUid: '1.1', sopInstanceUid: '2.1' }];
			const refused = [{ sopClassUid: '1.20', sopInstanceUid: '2.2', reason: 0x0131 } as const];
			assert.deepEqual(jsonOf(commitmentReport('1.2.3', committed, refused, transferSyntax), transferSyntax), {
				'00081195': { vr: 'UI', Value: ['1.2.3'] },
				'00081198': {
					vr: 'SQ',
					Value: [
						{
							'00081150': { vr: 'UI', Value: ['1.20'] },
							'00081155': { vr: 'UI', Value: ['2.2'] },
							'00081197': { vr: 'US', Value: [0x0131] },
						},
					],
				},
				'00081199': { vr: 'SQ', Value: [{ '00081150': { vr: 'UI', Value: ['1.1'] }, '00081155': { vr: 'UI', Value: ['2.1'] } }] },
			});
			assert.deepEqual(Object.keys(jsonOf(commitmentReport('1.2.3', committed, [], transferSyntax), transferSyntax)), [
				'00081195',
				'00081199',
			]);
		});
	}
});

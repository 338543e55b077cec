import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { addClient } from '#administration/clients.ts';
import { readFileMeta } from '#dicom/part10.ts';
import { implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { type CorpusFile, corpusFiles } from '#test/support/corpus.ts';
import { run } from '#test/support/dcmtk.ts';
import { corpusDirectory, without } from '#test/support/needs.ts';
import { testService } from '#test/support/service.ts';
import { addImagingSite } from '#test/support/storage-scu.ts';
import { abortPdu, associate } from '../surfaces/dimse/peer.ts';
import { ask, identifier, role, serveSubOperations, studyGet } from '../surfaces/dimse/questions.ts';
import { explicitLittleEndian } from '../surfaces/dimse/support.ts';

/** What makes storescu propose a transfer syntax; those that stand not here are unknown to it. */
const proposals: Readonly<Record<string, string>> = {
	'1.2.840.10008.1.2': '-xi',
	'1.2.840.10008.1.2.1': '-xe',
	'1.2.840.10008.1.2.2': '-xb',
	'1.2.840.10008.1.2.1.99': '-xd',
	'1.2.840.10008.1.2.4.50': '-xy',
	'1.2.840.10008.1.2.4.51': '-xx',
	'1.2.840.10008.1.2.4.70': '-xs',
	'1.2.840.10008.1.2.4.80': '-xt',
	'1.2.840.10008.1.2.4.81': '-xu',
	'1.2.840.10008.1.2.4.90': '-xv',
	'1.2.840.10008.1.2.4.91': '-xw',
	'1.2.840.10008.1.2.5': '-xr',
};

interface Stored {
	study_uid: string;
	series_uid: string;
	sop_instance_uid: string;
	sop_class_uid: string;
	transfer_syntax_uid: string;
}

const syntaxOf = ({ bytes }: CorpusFile) => readFileMeta(bytes).transferSyntaxUid ?? implicitLittleEndian;
const dataSetOf = (file: Buffer) => file.subarray(readFileMeta(file).dataSetOffset);

function imageOf(stored: Stored): Buffer {
	return identifier(
		[0x0008_0018, 'UI', stored.sop_instance_uid],
		[0x0008_0052, 'CS', 'IMAGE'],
		[0x0020_000d, 'UI', stored.study_uid],
		[0x0020_000e, 'UI', stored.series_uid],
	);
}

describe('the shared DICOM files by storescu', { skip: without('corpus', 'dcmtk') }, () => {
	test('come back as storescu sent them, by C-GET and by WADO-RS', async (context) => {
		await using service = await testService();
		const { called, key, siteId } = await addImagingSite(service, 'west');
		await addClient(service.administration, {
			...{ site: 'west', name: 'Archive', protocols: ['dicom'], allowed_ips: ['127.0.0.1'], grants: ['query'] },
			...{ also: [], ignore: [] },
		});
		const [dimse, fhir] = [service.port('dimse'), service.port('fhir')];
		const sent = new Map<string, Buffer>();
		for (const file of corpusFiles('dicom')) {
			const proposal = proposals[syntaxOf(file)];
			if (file.expect !== 'accept' || proposal === undefined) continue;
			const target = ['-aec', called, '127.0.0.1', String(dimse)];
			const { code, output } = await run('storescu', '-R', proposal, ...target, join(corpusDirectory, file.path));
			if (output.includes('missing SOP class')) continue;
			assert.equal(code, 0, `${file.path}: ${output}`);
			const uid = readFileMeta(file.bytes).sopInstanceUid ?? '';
			// Some files have the UID of another: then the first stays.
			if (!sent.has(uid)) sent.set(uid, dataSetOf(file.bytes));
		}
		assert.ok(sent.size >= 70, `${sent.size} instances`);
		const rows = await service.rows<Stored>('select * from imaging_instance where site_id = $1', [siteId]);
		assert.equal(rows.length, sent.size);
		let asInTheFile = 0;
		for (const stored of rows) {
			const { sop_class_uid: sopClass, transfer_syntax_uid: syntax, study_uid, series_uid, sop_instance_uid } = stored;
			const contexts: Record<number, [string, ...string[]]> = { 5: [studyGet, explicitLittleEndian], 7: [sopClass, syntax] };
			const peer = await associate(context, dimse, { called, contexts, user: [role(sopClass, 0, 1)] });
			peer.write(ask(5, imageOf(stored)));
			const got = await serveSubOperations(peer, () => 0);
			peer.write(abortPdu);
			await peer.closed;
			const url = `http://127.0.0.1:${fhir}/dicomweb/studies/${study_uid}/series/${series_uid}/instances/${sop_instance_uid}`;
			const accept = 'multipart/related; type="application/dicom"; transfer-syntax=*';
			const answer = await fetch(url, { headers: { 'X-API-Key': key, Accept: accept } });
			const body = Buffer.from(await answer.arrayBuffer());
			assert.equal(answer.status, 200);
			const file = body.subarray(body.indexOf('\r\n\r\n') + 4, body.lastIndexOf('\r\n--'));
			const [instance, ...more] = got.stored;
			assert.ok(instance?.dataSet?.equals(dataSetOf(file)), `${sop_instance_uid} ${syntax}`);
			assert.deepEqual(more, []);
			if (sent.get(sop_instance_uid)?.equals(dataSetOf(file))) asInTheFile += 1;
		}
		// storescu writes some data sets anew: padding, lengths of sequences, values of odd length.
		context.diagnostic(`${asInTheFile} of ${rows.length} as in their files`);
		assert.ok(asInTheFile >= rows.length / 2, `${asInTheFile} of ${rows.length}`);
	});
});

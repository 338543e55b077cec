import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { addSite } from '#administration/sites.ts';
import { part10Head, readFileMeta } from '#dicom/part10.ts';
import { explicitLittleEndian, implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { ctStorage, encapsulated, sampleDataSet } from '#test/support/data-set.ts';
import { without } from '#test/support/needs.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { addImagingSite } from '#test/support/storage-scu.ts';

/** DCMTK's senders (Debian: dcmtk) against the whole service. */

const certificate = (name: string) => join(import.meta.dirname, '../surfaces/mllp/certificates', `${name}.pem`);

function run(program: string, ...parameters: string[]): Promise<{ code: number; output: string }> {
	return new Promise((resolve) => {
		// Without it DCMTK's senders wait for delayed acknowledgements.
		execFile(program, parameters, { env: { ...process.env, TCP_NODELAY: '1' } }, (error, stdout, stderr) =>
			resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr }),
		);
	});
}

const successes = (output: string) => output.match(/Received Store Response \(Success\)/g)?.length ?? 0;

/** A folder of Part 10 files. */
function files(context: TestContext) {
	const folder = mkdtempSync(join(tmpdir(), 'tributary-tools-'));
	context.after(() => rmSync(folder, { recursive: true }));
	return (sopInstanceUid: string, transferSyntaxUid: string, dataSet: Buffer): string => {
		const path = join(folder, `${sopInstanceUid}.dcm`);
		writeFileSync(path, Buffer.concat([part10Head({ sopClassUid: ctStorage, sopInstanceUid, transferSyntaxUid }), dataSet]));
		return path;
	};
}

const frame = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7) & 0xff));

/** Pixel data in fragments, as every compressed transfer syntax has it (PS3.5 §A.4); what is in them is nobody's business here. */
function inFragments(sopInstanceUid: string): Buffer {
	const withoutPixels = sampleDataSet({ sopInstanceUid, pixels: Buffer.alloc(0) }).subarray(0, -12);
	return Buffer.concat([withoutPixels, encapsulated([], [frame])]);
}

const bigEndian = '1.2.840.10008.1.2.2';
const uncompressed: [string, string][] = [
	['-x=', explicitLittleEndian],
	['-xe', explicitLittleEndian],
	['-xb', bigEndian],
	['-xi', implicitLittleEndian],
];
const compressed: [string, string][] = [
	['-xs', '1.2.840.10008.1.2.4.70'],
	['-xy', '1.2.840.10008.1.2.4.50'],
	['-xx', '1.2.840.10008.1.2.4.51'],
	['-xv', '1.2.840.10008.1.2.4.90'],
	['-xw', '1.2.840.10008.1.2.4.91'],
	['-xt', '1.2.840.10008.1.2.4.80'],
	['-xu', '1.2.840.10008.1.2.4.81'],
	['-xm', '1.2.840.10008.1.2.4.100'],
	['-xh', '1.2.840.10008.1.2.4.101'],
	['-xn', '1.2.840.10008.1.2.4.102'],
	['-xl', '1.2.840.10008.1.2.4.103'],
	['-x2', '1.2.840.10008.1.2.4.104'],
	['-x3', '1.2.840.10008.1.2.4.105'],
	['-xo', '1.2.840.10008.1.2.4.106'],
	['-x4', '1.2.840.10008.1.2.4.107'],
	['-x5', '1.2.840.10008.1.2.4.108'],
	['-xr', '1.2.840.10008.1.2.5'],
];
const deflated = '1.2.840.10008.1.2.1.99';

interface Indexed {
	sop_instance_uid: string;
	transfer_syntax_uid: string;
	object_key: string;
}

const indexed = (service: TestService, siteId: string) =>
	service.rows<Indexed>('select sop_instance_uid, transfer_syntax_uid, object_key from imaging_instance where site_id = $1', [siteId]);

async function stored(service: TestService, key: string): Promise<{ transferSyntaxUid: string | undefined; dataSet: Buffer }> {
	const chunks: Uint8Array[] = [];
	for await (const chunk of configuredObjectStore({ DATA_DIR: service.dataDir }).read(key)) chunks.push(chunk);
	const file = Buffer.concat(chunks);
	const { transferSyntaxUid, dataSetOffset } = readFileMeta(file);
	return { transferSyntaxUid, dataSet: file.subarray(dataSetOffset) };
}

describe("DCMTK's tools", { skip: without('dcmtk') }, () => {
	test('storescu in every transfer syntax that it proposes', async (context) => {
		await using service = await testService();
		const { called, siteId } = await addImagingSite(service, 'west');
		const write = files(context);
		const expected = new Map<string, string>();
		const send = async (option: string, transferSyntaxUid: string, path: string) => {
			const { code, output } = await run('storescu', '-v', option, '-aec', called, '127.0.0.1', String(service.port('dimse')), path);
			assert.equal(code, 0, `${option}: ${output}`);
			assert.equal(successes(output), 1, `${option}: ${output}`);
			expected.set(
				path
					.split('/')
					.at(-1)
					?.replace(/\.dcm$/, '') ?? '',
				transferSyntaxUid,
			);
		};
		for (const [index, [option, uid]] of uncompressed.entries()) {
			const sopInstanceUid = `1.2.3.1.${index}`;
			const writing = { explicit: uid !== implicitLittleEndian, littleEndian: uid !== bigEndian };
			await send(option, uid, write(sopInstanceUid, uid, sampleDataSet({ sopInstanceUid, writing })));
		}
		for (const [index, [option, uid]] of compressed.entries()) {
			const sopInstanceUid = `1.2.3.2.${index}`;
			await send(option, uid, write(sopInstanceUid, uid, inFragments(sopInstanceUid)));
		}
		await send('-xd', deflated, write('1.2.3.3.1', deflated, deflateRawSync(sampleDataSet({ sopInstanceUid: '1.2.3.3.1' }))));
		const rows = await indexed(service, siteId);
		assert.deepEqual(new Map(rows.map((row) => [row.sop_instance_uid, row.transfer_syntax_uid])), expected);
		for (const { sop_instance_uid: uid, object_key: key, transfer_syntax_uid: transferSyntaxUid } of rows) {
			const file = await stored(service, key);
			assert.equal(file.transferSyntaxUid, transferSyntaxUid);
			if (uid.startsWith('1.2.3.2.')) assert.ok(file.dataSet.includes(frame), uid);
			if (uid.startsWith('1.2.3.1.')) assert.ok(file.dataSet.subarray(-64).equals(Buffer.alloc(64)), uid);
		}
		const [study] = await service.rows('select instance_count, accession_number from imaging_study where site_id = $1', [siteId]);
		assert.deepEqual(study, { instance_count: expected.size, accession_number: 'ACC-1' });
	});

	test('16 storescu at once, to two sites', async (context) => {
		await using service = await testService({ WORKERS: '2' });
		const sites = [await addImagingSite(service, 'west'), await addImagingSite(service, 'east')];
		const write = files(context);
		const file = (uid: string, bytes: number) =>
			write(uid, explicitLittleEndian, sampleDataSet({ sopInstanceUid: uid, pixels: Buffer.alloc(bytes, bytes) }));
		const shared = Array.from({ length: 5 }, (_, index) => file(`1.3.${index}`, 200_000));
		await Promise.all(
			Array.from({ length: 16 }, async (_, index) => {
				const own = Array.from({ length: 4 }, (_value, number) => file(`1.2.${index}.${number}`, 20_000));
				const called = sites[index % 2]?.called ?? '';
				const { code, output } = await run('storescu', '-v', '-aec', called, '127.0.0.1', String(service.port('dimse')), ...shared, ...own);
				assert.equal(code, 0, output);
				assert.equal(successes(output), 9, output);
			}),
		);
		for (const [index, { siteId }] of sites.entries()) {
			const own = Array.from({ length: 8 }, (_, sender) => [0, 1, 2, 3].map((number) => `1.2.${2 * sender + index}.${number}`)).flat();
			const wanted = [...[0, 1, 2, 3, 4].map((number) => `1.3.${number}`), ...own];
			const found = (await indexed(service, siteId)).map((row) => row.sop_instance_uid);
			assert.deepEqual(found.sort(), wanted.sort());
		}
	});

	test('storescu that repeats itself on one association, that aborts, and that calls nobody', async (context) => {
		await using service = await testService();
		const { called, siteId } = await addImagingSite(service, 'west');
		const port = String(service.port('dimse'));
		const write = files(context);
		const paths = Array.from({ length: 20 }, (_, index) =>
			write(`1.2.${index}`, explicitLittleEndian, sampleDataSet({ sopInstanceUid: `1.2.${index}`, pixels: Buffer.alloc(1000 * index) })),
		);
		const repeated = await run('storescu', '-v', '--repeat', '3', '-aec', called, '127.0.0.1', port, ...paths);
		assert.equal(successes(repeated.output), 60, repeated.output);
		assert.equal((await indexed(service, siteId)).length, 20, 'again is one copy');
		const last = write('1.2.99', explicitLittleEndian, sampleDataSet({ sopInstanceUid: '1.2.99' }));
		await run('storescu', '--abort', '-aec', called, '127.0.0.1', port, last);
		assert.equal((await indexed(service, siteId)).length, 21, 'what was answered before the abort stays');
		for (const program of ['echoscu', 'storescu']) {
			const { code, output } = await run(program, '-aec', 'NOBODY', '127.0.0.1', port, ...(program === 'storescu' ? [last] : []));
			assert.notEqual(code, 0);
			assert.match(output, /Called AE Title Not Recognized/);
		}
		assert.equal((await run('echoscu', '-aec', called, '127.0.0.1', port)).code, 0);
	});

	test('over TLS, with the client certificate that TLS_CLIENT_CA_FILE asks for', async (context) => {
		await using service = await testService({
			DIMSE_TLS_PORT: '0',
			TLS_CERT_FILE: certificate('server.cert'),
			TLS_KEY_FILE: certificate('server.key'),
			TLS_CLIENT_CA_FILE: certificate('authority.cert'),
		});
		// The HTTP surfaces speak TLS here too, so the usual way to a site is closed.
		const site = await addSite(service.administration, { slug: 'west', name: 'West', ae_title: 'WEST' });
		const port = String(service.port('dimse_tls'));
		const as = (name: string) => ['+tls', certificate(`${name}.key`), certificate(`${name}.cert`), '+cf', certificate('authority.cert')];
		const echo = (...tls: string[]) => run('echoscu', '-aec', 'WEST', ...tls, '-to', '5', '127.0.0.1', port);
		await eventually(async () => (await echo(...as('client'))).code === 0, 'the AE title');
		const write = files(context);
		const path = write('1.2.3', explicitLittleEndian, sampleDataSet({ sopInstanceUid: '1.2.3', pixels: Buffer.alloc(300_000, 3) }));
		const { code, output } = await run('storescu', '-v', '-aec', 'WEST', ...as('client'), '127.0.0.1', port, path, path);
		assert.equal(code, 0, output);
		assert.equal(successes(output), 2);
		assert.equal((await indexed(service, site.id)).length, 1);
		for (const tls of [[], ['+tla', '-ic'], as('stranger-client')]) assert.notEqual((await echo(...tls)).code, 0, tls.join(' '));
		assert.equal((await echo(...as('client'))).code, 0);
	});
});

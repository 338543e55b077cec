import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { without } from '#test/support/needs.ts';
import { startSurface } from './support.ts';

/** DCMTK's tools (Debian: dcmtk) as senders; skipped where they are not installed. */

const run = promisify(execFile);
const skip = without('dcmtk');
// Without it DCMTK's senders wait for delayed acknowledgements.
const env = { ...process.env, TCP_NODELAY: '1' };

interface Outcome {
	code: number;
	text: string;
}

async function outcomeOf(name: string, ...parameters: string[]): Promise<Outcome> {
	try {
		const { stdout, stderr } = await run(name, parameters, { env });
		return { code: 0, text: stdout + stderr };
	} catch (error) {
		const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
		return { code, text: stdout + stderr };
	}
}

const certificate = (name: string) => join(import.meta.dirname, '../mllp/certificates', `${name}.pem`);

/** Part 10 files with a data set of about the given length, and their data sets. */
async function images(context: TestContext, count: number, pixelBytes: number): Promise<string[]> {
	const folder = mkdtempSync(join(tmpdir(), 'tributary-dcmtk-'));
	context.after(() => rmSync(folder, { recursive: true }));
	writeFileSync(join(folder, 'pixels'), Buffer.alloc(pixelBytes, 0x5a));
	return Promise.all(
		Array.from({ length: count }, async (_, index) => {
			const lines = [
				'(0008,0016) UI =CTImageStorage',
				`(0008,0018) UI [1.2.3.4.${index + 1}]`,
				'(0008,0060) CS [CT]',
				'(0010,0010) PN [Example^Patient]',
				'(0020,000d) UI [1.2.3]',
				'(0020,000e) UI [1.2.3.4]',
				`(7fe0,0010) OW =${join(folder, 'pixels')}`,
			];
			const path = join(folder, `${index}.dcm`);
			writeFileSync(`${path}.dump`, `${lines.join('\n')}\n`);
			await run('dump2dcm', ['+te', `${path}.dump`, path], { env });
			return path;
		}),
	);
}

test('echoscu', { skip }, async (context) => {
	const { port } = await startSurface(context);
	const { code, text } = await outcomeOf('echoscu', '-v', '-aec', 'WEST', '--repeat', '5', '127.0.0.1', String(port));
	assert.equal(code, 0, text);
	assert.equal(text.match(/Received Echo Response \(Success\)/g)?.length, 5);
});

test('echoscu names the reasons of rejections', { skip }, async (context) => {
	const { port, directory } = await startSurface(context);
	directory.refused.add('STRANGER');
	const unknown = await outcomeOf('echoscu', '-aec', 'NOWHERE', '127.0.0.1', String(port));
	assert.match(unknown.text, /Called AE Title Not Recognized/);
	const stranger = await outcomeOf('echoscu', '-aec', 'WEST', '-aet', 'STRANGER', '127.0.0.1', String(port));
	assert.match(stranger.text, /Calling AE Title Not Recognized/);
});

test('echoscu over TLS with a client certificate', { skip }, async (context) => {
	const read = (name: string) => readFileSync(certificate(name));
	const tls = { cert: read('server.cert'), key: read('server.key'), clientCa: read('authority.cert') };
	const { port } = await startSurface(context, { listen: { tls } });
	const keys = ['+tls', certificate('client.key'), certificate('client.cert'), '+cf', certificate('authority.cert')];
	const { code, text } = await outcomeOf('echoscu', '-aec', 'WEST', ...keys, '127.0.0.1', String(port));
	assert.equal(code, 0, text);
	assert.notEqual((await outcomeOf('echoscu', '-aec', 'WEST', '127.0.0.1', String(port))).code, 0);
});

test('storescu sends objects whole, over many associations at once', { skip }, async (context) => {
	const { port, intake } = await startSurface(context);
	const files = await images(context, 3, 300_000);
	const outcomes = await Promise.all(
		Array.from({ length: 8 }, () => outcomeOf('storescu', '-v', '-aec', 'WEST', '127.0.0.1', String(port), ...files)),
	);
	for (const { code, text } of outcomes) assert.equal(code, 0, text);
	assert.equal(intake.taken.length, 24);
	const contents = new Map(files.map((path, index) => [`1.2.3.4.${index + 1}`, readFileSync(path)]));
	for (const { announced, chunks } of intake.taken) {
		const file = contents.get(announced.affectedSopInstanceUid);
		const dataSet = Buffer.concat(chunks);
		assert.equal(announced.callingAe, 'STORESCU');
		assert.equal(announced.transferSyntaxUid, '1.2.840.10008.1.2.1');
		assert.ok(dataSet.length > 300_000);
		assert.ok(file?.subarray(-dataSet.length).equals(dataSet));
	}
});

test('storescu takes our largest PDU, the smallest, and a status', { skip }, async (context) => {
	const { port, intake } = await startSurface(context);
	const [file = ''] = await images(context, 1, 200_000);
	for (const size of [
		['--max-send-pdu', '4096'],
		['-pdu', '131072'],
	]) {
		const { code, text } = await outcomeOf('storescu', '-v', '-aec', 'WEST', ...size, '127.0.0.1', String(port), file);
		assert.equal(code, 0, text);
	}
	intake.result = () => Promise.resolve({ kind: 'refused', reason: 'not-now', text: 'the disk is full', attributes: undefined });
	const refused = await outcomeOf('storescu', '-v', '-aec', 'WEST', '127.0.0.1', String(port), file);
	assert.match(refused.text, /Refused: Out of resources|OutOfResources/i);
});

test('storescu that ends by an abort', { skip }, async (context) => {
	const { port, intake, counted } = await startSurface(context);
	const [file = ''] = await images(context, 1, 1000);
	await outcomeOf('storescu', '--abort', '-aec', 'WEST', '127.0.0.1', String(port), file);
	assert.equal(intake.taken[0]?.ended, 'finished');
	assert.equal(await counted('dimseAssociations'), 0);
});

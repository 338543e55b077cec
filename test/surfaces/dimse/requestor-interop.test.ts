import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { targetPolicy } from '#core/target-policy.ts';
import { AssociationError } from '#surfaces/dimse/association-error.ts';
import { echo } from '#surfaces/dimse/echo.ts';
import { type AssociationOptions, requestAssociation } from '#surfaces/dimse/requestor.ts';
import { sampleDataSet } from '#test/support/data-set.ts';
import { eventually } from '#test/support/eventually.ts';
import { freePort } from '#test/support/free-port.ts';
import { without } from '#test/support/needs.ts';
import { defaultLimits } from '../../../src/limits.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { ctImage, explicitLittleEndian, implicitLittleEndian, startSurface, verification } from './support.ts';

const certificates = new URL('../mllp/certificates/', import.meta.url);
const pem = (name: string) => readFileSync(new URL(name, certificates));

const targets = targetPolicy([], '127.0.0.1');

function options(more: Partial<AssociationOptions> = {}): AssociationOptions {
	const contexts = [
		{ abstractSyntax: verification, transferSyntaxes: [implicitLittleEndian] },
		{ abstractSyntax: ctImage, transferSyntaxes: [explicitLittleEndian] },
	];
	return { callingAe: 'WEST', contexts, targets, limits: defaultLimits, metrics: createMetrics({ processMetrics: false }), ...more };
}

/** DCMTK's storescp on a port and in a directory of its own. */
async function storescp(t: TestContext, ...parameters: string[]): Promise<{ port: number; directory: string }> {
	const directory = mkdtempSync(join(tmpdir(), 'tributary-storescp-'));
	const port = await freePort();
	const child: ChildProcess = spawn('storescp', ['--output-directory', directory, ...parameters, String(port)], { stdio: 'ignore' });
	t.after(async () => {
		const ended = once(child, 'exit');
		if (child.exitCode === null && child.kill()) await ended;
		rmSync(directory, { recursive: true, force: true });
	});
	return { port, directory };
}

test('storescp takes what is sent to it, in small PDUs as well', { skip: without('dcmtk') }, async (t) => {
	const { port, directory } = await storescp(t, '--max-pdu', '4096', '--bit-preserving');
	const target = { title: 'ARCHIVE', host: '127.0.0.1', port, tls: false };
	let association: Awaited<ReturnType<typeof requestAssociation>> | undefined;
	await eventually(async () => {
		association = await requestAssociation(target, options()).catch((error) => {
			if (error instanceof AssociationError && error.failure === 'unreachable') return undefined;
			throw error;
		});
		return association !== undefined;
	}, 'storescp');
	assert.ok(association);
	const [echoes, images] = association.contexts;
	assert.ok(echoes && images);
	assert.deepEqual(await association.send(echoes, { operation: 'C-ECHO', sopClassUid: verification }), { status: 0, comment: undefined });
	for (const sopInstanceUid of ['1.1', '1.2', '1.3']) {
		const dataSet = sampleDataSet({ sopInstanceUid, pixels: Buffer.alloc(300_000, sopInstanceUid) });
		const pieces = [dataSet.subarray(0, 10_001), dataSet.subarray(10_001)];
		const moveOriginator = { aeTitle: 'ASKER', messageId: 9 };
		const request = { operation: 'C-STORE', sopClassUid: ctImage, sopInstanceUid, moveOriginator } as const;
		assert.equal((await association.send(images, request, pieces)).status, 0);
		const [file] = readdirSync(directory).filter((name) => name.endsWith(`.${sopInstanceUid}`));
		const bytes = readFileSync(join(directory, String(file)));
		assert.deepEqual(bytes.subarray(bytes.length - dataSet.length), dataSet);
	}
	await association.release();
});

test('storescp answers an echo, or rejects it', { skip: without('dcmtk') }, async (t) => {
	const { port } = await storescp(t);
	const target = { title: 'ARCHIVE', host: '127.0.0.1', port, tls: false };
	const called = () => echo(target, { callingAe: 'WEST', tls: undefined, targets, limits: defaultLimits });
	await eventually(async () => (await called()).outcome !== 'unreachable', 'the start of storescp');
	assert.deepEqual(await called(), { outcome: 'answered', status: 0, reason: 'ARCHIVE answered' });
	const refusing = await storescp(t, '--refuse');
	const refused = () => echo({ ...target, port: refusing.port }, { callingAe: 'WEST', tls: undefined, targets, limits: defaultLimits });
	await eventually(async () => (await refused()).outcome !== 'unreachable', 'the start of storescp');
	assert.equal((await refused()).outcome, 'rejected');
});

test('an association over TLS holds the peer to the authorities, and shows a certificate', async (t) => {
	const tls = { cert: pem('server.cert.pem'), key: pem('server.key.pem'), clientCa: pem('authority.cert.pem') };
	const { port } = await startSurface(t, { listen: { tls } });
	const target = { title: 'WEST', host: 'localhost', port, tls: true };
	const own = { authorities: pem('authority.cert.pem'), cert: pem('client.cert.pem'), key: pem('client.key.pem') };
	const association = await requestAssociation(target, options({ tls: own }));
	const [echoes] = association.contexts;
	assert.ok(echoes);
	assert.equal((await association.send(echoes, { operation: 'C-ECHO', sopClassUid: verification })).status, 0);
	await association.release();
	const refused = (more: AssociationOptions['tls']) => assert.rejects(requestAssociation(target, options({ tls: more })), AssociationError);
	await refused({ ...own, authorities: undefined });
	await refused({ ...own, cert: undefined, key: undefined });
	await refused({ ...own, cert: pem('stranger-client.cert.pem'), key: pem('stranger-client.key.pem') });
});

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** DCMTK's programs as peers. */

export interface Ran {
	code: number;
	output: string;
}

export function run(program: string, ...parameters: string[]): Promise<Ran> {
	return new Promise((resolve) => {
		// Without TCP_NODELAY DCMTK's senders wait for delayed acknowledgements.
		execFile(program, parameters, { env: { ...process.env, TCP_NODELAY: '1' }, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
			resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, output: stdout + stderr }),
		);
	});
}

/** A folder that is removed again. */
export function temporaryFolder(): Disposable & { path: string } {
	const path = mkdtempSync(join(tmpdir(), 'tributary-dcmtk-'));
	return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A DICOM file of the lines of a dump: `(0010,0020) LO [P1]`. Texts are written as Latin-1 or UTF-8, as the lines say it in (0008,0005). */
export async function dicomFile(folder: string, name: string, lines: readonly string[], ...options: string[]): Promise<string> {
	const isUtf8 = lines.some((line) => line.includes('ISO_IR 192'));
	const path = join(folder, `${name}.dcm`);
	writeFileSync(`${path}.dump`, `${lines.join('\n')}\n`, isUtf8 ? 'utf8' : 'latin1');
	const made = await run('dump2dcm', ...options, `${path}.dump`, path);
	assert.equal(made.code, 0, made.output);
	return path;
}

/** storescp, which puts what it is sent into a folder as it comes; ready when it answers. */
export async function startStorescp(folder: string, ...options: string[]): Promise<AsyncDisposable & { port: number }> {
	const probe = createServer().listen(0, '127.0.0.1');
	await once(probe, 'listening');
	const { port } = probe.address() as AddressInfo;
	probe.close();
	await once(probe, 'close');
	const child = spawn('storescp', ['+B', '-od', folder, ...options, String(port)], { stdio: 'ignore' });
	const exited = once(child, 'exit');
	const close = async () => {
		child.kill();
		await exited;
	};
	for (let tries = 0; tries < 100; tries++) {
		if ((await run('echoscu', '127.0.0.1', String(port))).code === 0) return { port, [Symbol.asyncDispose]: close };
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
	await close();
	throw new Error('storescp does not answer');
}

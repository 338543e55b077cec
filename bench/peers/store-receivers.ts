import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

/** Another storage SCP that is measured in the same run. */
export interface StoreReceiver {
	name: string;
	calledAe: string;
	port: number;
	stop(): Promise<void>;
}

export async function listening(port: number): Promise<void> {
	for (let attempt = 0; attempt < 200; attempt++) {
		const isUp = await new Promise<boolean>((resolve) => {
			const socket = connect(port, '127.0.0.1', () => resolve(true));
			socket.once('error', () => resolve(false));
			socket.unref();
			setTimeout(() => socket.destroy(), 50);
		});
		if (isUp) return;
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
	throw new Error(`nothing listens on port ${port}`);
}

export function stopped(child: ChildProcess): Promise<void> {
	return new Promise((resolve) => {
		child.once('close', () => resolve());
		child.kill('SIGTERM');
	});
}

/** DCMTK's storescp: writes files, keeps no index, does not fsync. Undefined where it is not installed. */
export async function dcmtkReceiver(directory: string): Promise<StoreReceiver | undefined> {
	const { stdout, error } = spawnSync('storescp', ['--version'], { encoding: 'utf8' });
	if (error) return undefined;
	const port = await freePort();
	const files = join(directory, 'storescp');
	mkdirSync(files);
	const child = spawn('storescp', ['--fork', '--output-directory', files, String(port)], {
		stdio: 'ignore',
		env: { ...process.env, TCP_NODELAY: '1' },
	});
	await listening(port);
	return { name: `storescp ${/v(\d[\d.]*)/.exec(stdout)?.[1] ?? ''}`, calledAe: 'STORESCP', port, stop: () => stopped(child) };
}

/** Orthanc with its SQLite index, fsync of files as it has it by default, eight DICOM threads. Undefined where it is not installed. */
export async function orthancReceiver(directory: string): Promise<StoreReceiver | undefined> {
	const { stdout, error } = spawnSync('Orthanc', ['--version'], { encoding: 'utf8' });
	if (error) return undefined;
	const [port, httpPort] = [await freePort(), await freePort()];
	const storage = join(directory, 'orthanc');
	const configuration = join(directory, 'orthanc.json');
	writeFileSync(
		configuration,
		JSON.stringify({
			Name: 'bench',
			DicomAet: 'ORTHANC',
			DicomPort: port,
			HttpPort: httpPort,
			StorageDirectory: storage,
			IndexDirectory: storage,
			Plugins: [],
			DicomAlwaysAllowStore: true,
			DicomCheckCalledAet: false,
			DicomThreadsCount: 8,
			StableAge: 600,
			AuthenticationEnabled: false,
		}),
	);
	const child = spawn('Orthanc', [`--logdir=${directory}`, configuration], { stdio: 'ignore', env: { ...process.env, TCP_NODELAY: '1' } });
	await listening(port);
	return { name: `Orthanc ${/Orthanc (\d[\d.]*)/.exec(stdout)?.[1] ?? ''}`, calledAe: 'ORTHANC', port, stop: () => stopped(child) };
}

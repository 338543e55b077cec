import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { needs } from './needs.ts';

/** Orthanc (Debian: orthanc, orthanc-dicomweb) as a peer: it stores what it is sent, and is told by its REST API what to send and to ask. */
export interface Orthanc extends AsyncDisposable {
	dicomPort: number;
	/** The address of its REST API. */
	url: string;
	/** A request of its REST API; fails when the answer is not 2xx. */
	ask(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object | Uint8Array | string): Promise<unknown>;
	/** Its ids of the instances that it has. */
	instances(): Promise<string[]>;
}

export interface OrthancPeer {
	aeTitle: string;
	dicomPort: number;
	webUrl: string;
	key: string;
}

/** Starts it with the peer under the name `peer`. */
export async function startOrthanc({ aeTitle, dicomPort: peerPort, webUrl, key }: OrthancPeer): Promise<Orthanc> {
	const folder = mkdtempSync(join(tmpdir(), 'tributary-orthanc-'));
	const [httpPort, dicomPort] = [await freePort(), await freePort()];
	const configuration = {
		StorageDirectory: folder,
		IndexDirectory: folder,
		Plugins: [needs.orthanc.found],
		HttpPort: httpPort,
		RemoteAccessAllowed: false,
		AuthenticationEnabled: false,
		DicomPort: dicomPort,
		DicomAet: 'ORTHANC',
		DicomAlwaysAllowStore: true,
		DicomModalities: { peer: [aeTitle, '127.0.0.1', peerPort] },
		SynchronousCMove: true,
		DicomWeb: { Enable: true, Servers: { peer: { Url: webUrl, HttpHeaders: { 'X-API-Key': key } } } },
	};
	const path = join(folder, 'configuration.json');
	writeFileSync(path, JSON.stringify(configuration));
	const child: ChildProcess = spawn('Orthanc', [path], { stdio: 'ignore', env: { ...process.env, TCP_NODELAY: '1' } });
	const exited = once(child, 'exit');
	const ask: Orthanc['ask'] = async (method, to, body) => {
		const bytes = body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
		const answer = await fetch(`http://127.0.0.1:${httpPort}${to}`, {
			method,
			...(bytes === undefined ? {} : { body: Buffer.from(bytes) }),
		});
		const text = await answer.text();
		if (!answer.ok) throw new Error(`${method} ${to}: ${answer.status} ${text}`);
		try {
			return JSON.parse(text) as unknown;
		} catch {
			return text;
		}
	};
	await eventually(async () => (await ask('GET', '/system').catch(() => undefined)) !== undefined, 'the start of Orthanc');
	return {
		dicomPort,
		url: `http://127.0.0.1:${httpPort}`,
		ask,
		instances: async () => (await ask('GET', '/instances')) as string[],
		[Symbol.asyncDispose]: async () => {
			child.kill();
			await exited;
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

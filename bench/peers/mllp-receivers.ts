import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { peerPath } from './installed.ts';
import { listening, stopped } from './store-receivers.ts';

/** A receiver of HL7 messages over MLLP that is measured in the same run. */
export interface MllpReceiver {
	name: string;
	port: number;
	stop(): Promise<void>;
}

/** Those of bench/peers that are installed. They answer and keep nothing. */
export async function mllpPeers(): Promise<MllpReceiver[]> {
	const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')) as {
		dependencies: Record<string, string>;
	};
	const found: MllpReceiver[] = [];
	for (const name of ['simple-hl7', '@medplum/hl7']) {
		if (peerPath(name) === undefined) continue;
		const child = spawn(process.execPath, [join(import.meta.dirname, 'mllp-peer.ts'), name], { stdio: ['ignore', 'pipe', 'inherit'] });
		const port = await new Promise<number>((resolve, reject) => {
			child.stdout.once('data', (chunk) => resolve(Number(String(chunk))));
			child.once('close', (code) => reject(new Error(`${name} ended with ${code}`)));
		});
		await listening(port);
		found.push({ name: `${name} ${dependencies[name]}`, port, stop: () => stopped(child) });
	}
	return found;
}

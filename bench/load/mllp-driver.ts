import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { compile } from '../compiler.ts';
import { admission, observationReport } from '../corpus.ts';
import { type Channel, closedLoop } from './loops.ts';
import { runLoad } from './run-load.ts';

/** Messages of these numbers, over connections bound to the addresses in turn; the message of number i goes over connection i % connections. */
export interface MllpLoad {
	port: number;
	connections: number;
	seconds: number;
	addresses: readonly string[];
	from: number;
	count: number;
}

export interface MllpResult {
	perSecond: number;
	p50Ms: number;
	p99Ms: number;
	maxMs: number;
	notAccepted: number;
	disordered: number;
	/** The number of messages that were answered AA, for each connection, in order. */
	answered: number[];
	driverShare: number;
}

export interface MllpDriver {
	name: string;
	run(load: MllpLoad): Promise<MllpResult>;
}

const patientsOfSite = 500;

/** 60 % ORU with four results, 40 % ADT. Every ADT changes the patient (a telephone number) and opens a visit. */
export function messageOf(number: number): string {
	const patient = number % patientsOfSite;
	if (number % 10 < 6) return observationReport(1, number, patient, 4);
	const digits = String(number).padStart(7, '0');
	return admission(1, number, patient).replace(/\(312\)555-\d{4}\^PRN/, `(312)${digits}^PRN`);
}

export const controlIdOf = (number: number) => `MSG${String(number).padStart(9, '0')}`;

function writeMessages(path: string, from: number, count: number): void {
	const parts: Buffer[] = [];
	for (let index = 0; index < count; index++) {
		const bytes = Buffer.from(messageOf(from + index));
		const length = Buffer.alloc(4);
		length.writeUInt32LE(bytes.length);
		parts.push(length, bytes);
	}
	writeFileSync(path, Buffer.concat(parts));
}

function inC(program: string): MllpDriver {
	return {
		name: 'mllp-load (C)',
		async run({ port, connections, seconds, addresses, from, count }) {
			const directory = mkdtempSync(join(tmpdir(), 'tributary-mllp-'));
			try {
				const file = join(directory, 'messages');
				writeMessages(file, from, count);
				return await runLoad<MllpResult>(program, [String(port), String(connections), '1', String(seconds), file, ...addresses]);
			} finally {
				rmSync(directory, { recursive: true, force: true });
			}
		},
	};
}

/** A connection whose messages are given by their number; anything but AA to the right message is no success. */
export async function mllpChannel(port: number, address: string, numberOf: (number: number) => number): Promise<Channel> {
	const client = await MllpClient.connect(port, address);
	return {
		async send(given) {
			const number = numberOf(given);
			const { code, controlId } = msa(await client.send(messageOf(number)));
			return code === 'AA' && controlId === controlIdOf(number);
		},
		close: () => client.close(),
	};
}

/** This driver needs no compiler. It is slower, since it makes its messages while it sends. */
export const mllpInJavaScript: MllpDriver = {
	name: 'JavaScript',
	async run({ port, connections, seconds, addresses, from, count }) {
		const used = process.cpuUsage();
		const answered = Array.from({ length: connections }, () => 0);
		const channels = await Promise.all(
			answered.map(async (_, connection) => {
				const address = addresses[connection % addresses.length] ?? '127.0.0.1';
				const channel = await mllpChannel(port, address, () => from + connection + (answered[connection] ?? 0) * connections);
				const counted: Channel = {
					close: channel.close,
					async send(number) {
						const isAccepted = await channel.send(number);
						if (isAccepted) answered[connection] = (answered[connection] ?? 0) + 1;
						return isAccepted;
					},
				};
				return counted;
			}),
		);
		try {
			const { failed, ...rest } = await closedLoop(channels, { seconds, countMax: count - connections });
			const { user, system } = process.cpuUsage(used);
			return { ...rest, notAccepted: failed, disordered: 0, answered, driverShare: (user + system) / 1e6 / rest.seconds };
		} finally {
			for (const channel of channels) channel.close();
		}
	},
};

export function mllpDriver(): MllpDriver {
	const program = compile(join(import.meta.dirname, 'mllp-load.c'), 'mllp-load');
	return program === undefined ? mllpInJavaScript : inC(program);
}

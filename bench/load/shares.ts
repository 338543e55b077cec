import { connect, type Socket } from 'node:net';
import { median, type SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Subject } from '../suite/subject.ts';
import { type MllpDriver, mllpChannel, mllpDriver } from './mllp-driver.ts';
import { openLine } from './open-line.ts';

/** The flooding site may cost another one this much of its slowest hundredth. */
const ratioMax = 1.2;

interface Flood {
	name: string;
	/** Floods for so many seconds, with messages of these numbers. */
	run(subject: Subject, seconds: number, numbers: { from: number; count: number }): Promise<void>;
}

/** Connections that are kept open and say little. */
async function held(connections: number, port: number, localAddress: string, first: string, seconds: number): Promise<void> {
	const sockets: Socket[] = Array.from({ length: connections }, () => {
		const socket = connect({ port, host: '127.0.0.1', localAddress }, () => socket.write(first));
		return socket.on('error', () => undefined);
	});
	await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
	for (const socket of sockets) socket.destroy();
}

function floods(driver: MllpDriver): readonly Flood[] {
	const stranger = 'POST /fhir/Patient HTTP/1.1\r\nHost: x\r\nX-API-Key: no\r\nContent-Length: 30000000\r\n\r\n{';
	return [
		{
			name: '256 connections send as fast as they are answered',
			run: async (subject, seconds, { from, count }) => {
				const [, flooding] = subject.addresses;
				await driver.run({ port: subject.port('mllp'), connections: 256, seconds, addresses: [flooding ?? ''], from, count });
			},
		},
		{
			name: '4,000 MLLP connections without a message',
			run: (subject, seconds) => held(4000, subject.port('mllp'), subject.addresses[1] ?? '', '', seconds),
		},
		{
			name: '2,000 uploads without a valid key that do not end',
			run: (subject, seconds) => held(2000, subject.port('fhir'), '127.0.0.1', stranger, seconds),
		},
	];
}

/**
 * One site floods the service while another sends a few messages a second: how much later is the slowest hundredth of its answers? Rounds without
 * and with the flood alternate, and their medians are compared.
 */
export async function shares(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const seconds = options.isQuick ? 2 : 20;
	const rounds = options.isQuick ? 1 : 5;
	await using subject = await Subject.open('Tributary');
	recorder.database = await subject.settings();
	let from = 0;
	const driver = mllpDriver();
	const count = 20_000 * seconds;
	/** The site that floods nobody: 40 messages a second over 4 connections. */
	const other = async (work: string): Promise<number> => {
		const first = from;
		from += 40 * seconds;
		const channels = await Promise.all(
			Array.from({ length: 4 }, () => mllpChannel(subject.port('mllp'), subject.addresses[0] ?? '', (number) => first + number)),
		);
		const line = await openLine(subject, { section: 'shares', work, channels, perSecond: 40, seconds });
		recorder.line(line);
		return line.p99Ms;
	};
	await other('alone, to warm up');
	for (const { name, run } of floods(driver)) {
		const [alone, beside]: [number[], number[]] = [[], []];
		for (let round = 0; round < rounds; round++) {
			alone.push(await other('one site alone'));
			const numbers = { from, count };
			from += count;
			// The flood begins before and ends after what is measured.
			const flooding = run(subject, seconds + 4, numbers);
			await new Promise((resolve) => setTimeout(resolve, 2000));
			beside.push(await other(`one site, while another floods: ${name}`));
			await flooding;
		}
		const [without, during] = [median(alone), median(beside)];
		const ratio = during / without;
		const text = `p99 ${without.toFixed(1)} ms alone, ${during.toFixed(1)} ms beside it: ${ratio.toFixed(2)} times`;
		recorder.note(`shares: ${name}: ${text}${ratio > ratioMax ? `, more than ${ratioMax}` : ''}`);
	}
}

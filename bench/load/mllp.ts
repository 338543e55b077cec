import { mllpPeers } from '../peers/mllp-receivers.ts';
import { eachAsAcknowledged, messagesAsAcknowledged } from '../suite/books.ts';
import type { SuiteOptions } from '../suite/options.ts';
import { middle } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Subject } from '../suite/subject.ts';
import { bareRows } from './bare-rows.ts';
import { type MllpDriver, type MllpLoad, type MllpResult, mllpChannel, mllpDriver } from './mllp-driver.ts';
import { openLine } from './open-line.ts';
import { saturatedBy, type Usage } from './usage.ts';

/** Durable HL7 v2 messages a second over MLLP: 16 sites, 60 % ORU (4 OBX), 40 % ADT; then one hot site, and 500 sites by Zipf's law. */
const section = 'mllp';
const work = 'HL7 v2 over MLLP';

/** More than is sent in the time: each message is sent once. */
const countFor = (connections: number, seconds: number) => Math.ceil((connections === 1 ? 2500 : 9000) * seconds) + 2 * connections;

/** Numbers that no message had yet. */
class Numbers {
	#next = 0;
	take(count: number): number {
		const from = this.#next;
		this.#next += count;
		return from;
	}
}

interface Measured {
	result: MllpResult;
	usage: Usage;
	walBytes: number;
	ledger: string;
}

async function measure(subject: Subject, driver: MllpDriver, load: MllpLoad, recorder: Recorder): Promise<Measured> {
	const wal = await subject.walBytes();
	const used = subject.observe();
	const result = await driver.run(load);
	const usage = used(result.driverShare);
	const messages = result.answered.reduce((sum, count) => sum + count, 0);
	const walBytes = ((await subject.walBytes()) - wal) / messages;
	const { text, isFault } = await messagesAsAcknowledged(subject, load, result);
	if (isFault) recorder.fault(`${work}, ${load.connections} connections: ${text}`);
	return { result, usage, walBytes, ledger: text };
}

/** Closed loop. Returns the messages a second. */
async function closed(
	subject: Subject,
	driver: MllpDriver,
	{ connections, addresses, numbers, name = work }: { connections: number; addresses: readonly string[]; numbers: Numbers; name?: string },
	{ recorder, options }: { recorder: Recorder; options: SuiteOptions },
): Promise<number> {
	const rounds: Measured[] = [];
	for (let round = 0; round <= options.rounds; round++) {
		const seconds = round === 0 ? Math.min(1.5, options.seconds) : options.seconds;
		const count = countFor(connections, seconds);
		const load = { port: subject.port('mllp'), connections, seconds, addresses, from: numbers.take(count), count };
		const measured = await measure(subject, driver, load, recorder);
		if (round > 0) rounds.push(measured);
	}
	const { median, lowest, highest } = middle(rounds, ({ result }) => result.perSecond);
	const { result, usage, walBytes, ledger } = median;
	recorder.line({
		section,
		work: name,
		subject: subject.name,
		kind: 'product',
		connections,
		...result,
		lowest,
		highest,
		failed: result.notAccepted + result.disordered,
		driver: driver.name,
		saturated: saturatedBy(usage),
		usage,
		walBytes,
		ledger,
	});
	return result.perSecond;
}

/** Sites by Zipf's law: the second gets half of what the first gets, the third a third. The sum of all is 1. */
export function zipf(count: number): (share: number) => number {
	const weights = Array.from({ length: count }, (_, index) => 1 / (index + 1));
	const total = weights.reduce((sum, weight) => sum + weight, 0);
	let sum = 0;
	const upTo = weights.map((weight) => {
		sum += weight / total;
		return sum;
	});
	return (share) => {
		let [low, high] = [0, count - 1];
		while (low < high) {
			const at = (low + high) >> 1;
			if ((upTo[at] ?? 1) < share) low = at + 1;
			else high = at;
		}
		return low;
	};
}

interface OpenMessages {
	name: string;
	addresses: readonly string[];
	perSecond: number;
	seconds: number;
	numbers: Numbers;
	channelOf?: (number: number) => number;
}

/** Open loop at a fixed rate, over a connection for each address given. */
async function open(
	subject: Subject,
	{ name, addresses, perSecond, seconds, numbers, channelOf }: OpenMessages,
	recorder: Recorder,
): Promise<void> {
	const count = Math.ceil(perSecond * seconds) + 1;
	const from = numbers.take(count);
	const channels = await Promise.all(addresses.map((address) => mllpChannel(subject.port('mllp'), address, (number) => from + number)));
	const line = await openLine(subject, { section, work: name, channels, perSecond, seconds }, channelOf && { channelOf });
	const { text, isFault } = await eachAsAcknowledged(subject, from, Math.round(perSecond * seconds));
	if (isFault) recorder.fault(`${name}, open loop: ${text}`);
	recorder.line({ ...line, ledger: text });
}

export async function mllp(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const driver = mllpDriver();
	const numbers = new Numbers();
	const many = options.isQuick ? 20 : 500;
	await using subject = await Subject.open('Tributary', { sites: 16 + many });
	recorder.database = await subject.settings();
	const addresses = subject.addresses.slice(0, 16);
	let most = 0;
	for (const connections of [1, 16, 64]) most = await closed(subject, driver, { connections, addresses, numbers }, { recorder, options });
	const hot = { connections: 64, addresses: addresses.slice(0, 1), numbers, name: `${work}, one hot site` };
	await closed(subject, driver, hot, { recorder, options: { ...options, rounds: 1 } });
	const each = Array.from({ length: 64 }, (_, index) => addresses[index % 16] ?? '');
	const parts = options.isQuick ? [0.5] : [0.2, 0.5, 0.8, 0.95];
	for (const part of parts)
		await open(subject, { name: work, addresses: each, perSecond: most * part, seconds: options.seconds, numbers }, recorder);
	const siteOf = zipf(many);
	await open(
		subject,
		{
			name: `${work}, ${many} sites by Zipf's law`,
			addresses: subject.addresses.slice(16),
			perSecond: most / 2,
			seconds: options.seconds,
			numbers,
			// The golden ratio spreads the numbers evenly, and the same in each run.
			channelOf: (number) => siteOf((number * 0.618_033_988_749_895) % 1),
		},
		recorder,
	);
	await bareRows(subject, recorder, options);
	for (const peer of options.isQuick ? [] : await mllpPeers()) await atPeer(peer, driver, { numbers, recorder, options });
}

type Peer = Awaited<ReturnType<typeof mllpPeers>>[number];

/** Receivers that answer AA and keep nothing: what a peer does before it stores. */
async function atPeer(
	peer: Peer,
	driver: MllpDriver,
	{ numbers, recorder, options }: { numbers: Numbers; recorder: Recorder; options: SuiteOptions },
): Promise<void> {
	try {
		for (const connections of [1, 64]) {
			const count = Math.ceil(30_000 * options.seconds);
			const load = { port: peer.port, connections, seconds: options.seconds, addresses: ['127.0.0.1'], from: numbers.take(count), count };
			const result = await driver.run(load);
			recorder.line({
				section,
				work: `${work}, answered and not stored`,
				subject: peer.name,
				kind: 'peer',
				connections,
				...result,
				failed: result.notAccepted + result.disordered,
				driver: driver.name,
			});
		}
	} finally {
		await peer.stop();
	}
}

import { type StoredWork, verdictOf } from '#test/support/ledger/verdict.ts';
import { type Channel, openLoop } from './load/loops.ts';
import { zipf } from './load/mllp.ts';
import { controlIdOf, mllpChannel, mllpDriver } from './load/mllp-driver.ts';
import { thinned } from './load/soak.ts';
import { told } from './suite/books.ts';
import type { SuiteOptions } from './suite/options.ts';
import type { Recorder } from './suite/recorder.ts';
import { Subject } from './suite/subject.ts';

/**
 * A day of a network, scaled to BENCH_DAY_SECONDS (96): senders of many sites with a rhythm of nights, rounds and an afternoon; at three an
 * upgrade, at the busiest hour a kill, in the afternoon a database that stands still for half an hour. Senders keep what was not answered and
 * send it again. What waits at them is the depth of the queue.
 */
const hours = [15, 12, 10, 10, 12, 18, 35, 60, 85, 97, 100, 96, 80, 84, 90, 86, 74, 60, 48, 40, 34, 28, 22, 18];

/** When messages fall due, in milliseconds; the rate is that of its hour, a part of `busiest`. */
export function dayOf(seconds: number, busiest: number): Float64Array {
	const due: number[] = [];
	const hourMs = (seconds * 1000) / 24;
	for (const [hour, share] of hours.entries()) {
		const count = Math.round((busiest * share * hourMs) / 100_000);
		for (let index = 0; index < count; index++) due.push((hour + index / count) * hourMs);
	}
	return Float64Array.from(due);
}

/** A sender of a site: it connects again and sends again until its message is acknowledged. */
function persistent(subject: Subject, address: string): Channel {
	let channel: Channel | undefined;
	const lost = () => {
		channel?.close();
		channel = undefined;
	};
	return {
		async send(number) {
			for (;;) {
				try {
					channel ??= await mllpChannel(subject.port('mllp'), address, (given) => given);
					return await channel.send(number);
				} catch {
					lost();
					await new Promise((resolve) => setTimeout(resolve, 100));
				}
			}
		},
		close: lost,
	};
}

interface Failure {
	hour: number;
	name: string;
	run(): Promise<void>;
}

function failuresOf(subject: Subject, hourMs: number): Failure[] {
	return [
		{
			hour: 3,
			name: 'upgrade: SIGTERM and start',
			async run() {
				await subject.service.end('SIGTERM');
				await subject.restart();
			},
		},
		{
			hour: 10.5,
			name: 'kill -9 and start',
			async run() {
				await subject.service.end('SIGKILL');
				await subject.restart();
			},
		},
		{
			hour: 15,
			name: 'the database stands still for half an hour',
			async run() {
				const { rows } = await subject.database.query<{ pid: number }>(
					"select pid from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'",
				);
				for (const { pid } of rows) process.kill(pid, 'SIGSTOP');
				await new Promise((resolve) => setTimeout(resolve, hourMs / 2));
				for (const { pid } of rows) process.kill(pid, 'SIGCONT');
			},
		},
	];
}

/** One after the other, each at its hour or when the one before is over. */
async function fail(failures: readonly Failure[], hourMs: number, recorder: Recorder): Promise<void> {
	const startedMs = performance.now();
	for (const { hour, name, run } of failures) {
		await new Promise((resolve) => setTimeout(resolve, startedMs + hour * hourMs - performance.now()));
		const beganMs = performance.now();
		await run();
		const seconds = ((performance.now() - beganMs) / 1000).toFixed(1);
		recorder.note(`${String(Math.floor(hour)).padStart(2, '0')}:${hour % 1 === 0 ? '00' : '30'} ${name} (${seconds} s)`);
	}
}

export async function simulate(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const seconds = Number(process.env['BENCH_DAY_SECONDS'] ?? (options.isQuick ? 24 : 96));
	const sites = options.isQuick ? 20 : 100;
	await using subject = await Subject.open('Tributary', { sites });
	recorder.database = await subject.settings();
	const driver = mllpDriver();
	const warmUp = {
		port: subject.port('mllp'),
		connections: 64,
		seconds: options.isQuick ? 1 : 4,
		addresses: subject.addresses,
		from: 900_000_000,
		count: 60_000,
	};
	await driver.run(warmUp);
	const { perSecond: most } = await driver.run({ ...warmUp, from: warmUp.from + warmUp.count });
	const arrivals = dayOf(seconds, most * 0.7);
	const hourMs = (seconds * 1000) / 24;
	const siteOf = zipf(sites);
	const channelOf = (number: number) => siteOf((number * 0.618_033_988_749_895) % 1);
	const channels = subject.addresses.map((address) => persistent(subject, address));
	const failing = fail(failuresOf(subject, hourMs), hourMs, recorder);
	// It is awaited when the day is over.
	failing.catch(() => undefined);
	const depth: [number, number][] = [];
	const answered: [number, number][] = [];
	const result = await openLoop(channels, arrivals, {
		channelOf,
		onSecond: (second) => {
			const at = ((depth.length + 1) * 1000) / hourMs;
			depth.push([at, second.waiting]);
			answered.push([at, second.answered]);
		},
	});
	await failing;
	for (const channel of channels) channel.close();
	const { rows } = await subject.database.query<{ key: string; position: string }>(
		"select control_id as key, sequence as position from message_log where site_id = any($1::uuid[]) and outcome = 'accepted' and control_id < $2",
		[subject.sites.map(({ id }) => id), controlIdOf(warmUp.from)],
	);
	const stored = rows.map(({ key, position }): StoredWork => ({ key, position: BigInt(position) }));
	const entries = [...arrivals.keys()].map((number) => ({
		sender: String(channelOf(number)),
		key: controlIdOf(number),
		answer: 'accepted' as const,
	}));
	const { text, isFault } = told(verdictOf(entries, stored));
	if (isFault) recorder.fault(`simulated day: ${text}`);
	recorder.line({
		section: 'simulate',
		work: `a day in ${seconds} s, ${sites} sites`,
		subject: subject.name,
		kind: 'product',
		connections: sites,
		...result,
		driver: 'JavaScript',
		saturated: `at most ${result.waitingMax} messages waited`,
		ledger: text,
	});
	recorder.curve({
		section: 'simulate',
		title: 'A day: messages that wait at the senders',
		x: 'hour',
		y: 'messages',
		series: [{ name: 'queue', points: thinned(depth) }],
	});
	recorder.curve({
		section: 'simulate',
		title: 'A day: messages answered',
		x: 'hour',
		y: 'messages a second',
		series: [{ name: 'answered', points: thinned(answered) }],
	});
}

import { eachAsAcknowledged } from '../suite/books.ts';
import type { SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Subject } from '../suite/subject.ts';
import { mllpChannel, mllpDriver } from './mllp-driver.ts';
import { openLine } from './open-line.ts';

/** Ten minutes at 80 % of what 64 connections reach (BENCH_SOAK_SECONDS, 600): does memory, the queue or the slowest hundredth grow? */
export async function soak(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const seconds = Number(process.env['BENCH_SOAK_SECONDS'] ?? (options.isQuick ? 2 : 600));
	const driver = mllpDriver();
	await using subject = await Subject.open('Tributary');
	recorder.database = await subject.settings();
	const connections = 64;
	const warmUp = {
		port: subject.port('mllp'),
		connections,
		seconds: options.isQuick ? 1 : 6,
		addresses: subject.addresses,
		from: 0,
		count: 60_000,
	};
	await driver.run(warmUp);
	const most = await driver.run({ ...warmUp, from: warmUp.count });
	const perSecond = most.perSecond * 0.8;
	const from = 2 * warmUp.count;
	const channels = await Promise.all(
		Array.from({ length: connections }, (_, index) =>
			mllpChannel(subject.port('mllp'), subject.addresses[index % 16] ?? '', (number) => from + number),
		),
	);
	const seen = {
		p99: [] as [number, number][],
		waiting: [] as [number, number][],
		mailbox: [] as [number, number][],
		memory: [] as [number, number][],
	};
	let second = 0;
	const asked: Promise<void>[] = [];
	const wal = await subject.walBytes();
	const open = { section: 'soak', work: `HL7 v2 over MLLP, ${seconds} s at 80 %`, channels, perSecond, seconds };
	const line = await openLine(subject, open, {
		onSecond: ({ waiting, p99Ms }) => {
			second += 1;
			const at = second;
			seen.p99.push([at, Number.isNaN(p99Ms) ? 0 : p99Ms]);
			seen.waiting.push([at, waiting]);
			seen.memory.push([at, subject.memory().now]);
			asked.push(subject.metric('tributary_mailbox_messages').then((messages) => void seen.mailbox.push([at, messages])));
		},
	});
	await Promise.all(asked);
	const count = Math.round(perSecond * seconds);
	const { text, isFault } = await eachAsAcknowledged(subject, from, count);
	if (isFault) recorder.fault(`soak: ${text}`);
	recorder.line({ ...line, walBytes: ((await subject.walBytes()) - wal) / count, ledger: text });
	const { now, highest } = subject.memory();
	recorder.note(`soak: resident ${now} MB at the end, at most ${highest} MB; at most ${line.waitingMax} messages waited at the senders`);
	const curve = (title: string, y: string, points: [number, number][]) =>
		recorder.curve({ section: 'soak', title, x: 'seconds', y, series: [{ name: 'Tributary', points: thinned(points) }] });
	curve('At 80 %: slowest hundredth of each second', 'ms', seen.p99);
	curve('At 80 %: messages that wait at the senders', 'messages', seen.waiting);
	curve('At 80 %: messages in the mailboxes', 'messages', seen.mailbox);
	curve('At 80 %: resident memory', 'MB', seen.memory);
}

/** At most 120 points: the greatest of each stretch, so that no peak is lost. */
export function thinned(points: readonly [number, number][]): [number, number][] {
	const stretch = Math.ceil(points.length / 120);
	if (stretch <= 1) return [...points];
	return Array.from({ length: Math.ceil(points.length / stretch) }, (_, index) =>
		points.slice(index * stretch, (index + 1) * stretch).reduce((most, point) => (point[1] > most[1] ? point : most)),
	);
}

import { messagesAsAcknowledged } from '../suite/books.ts';
import type { SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Subject } from '../suite/subject.ts';
import { mllpDriver } from './mllp-driver.ts';

/** BENCH_MESSAGES messages (1,000,000), in parts of a twentieth: does the rate fall as tables grow? Each part is compared with what is stored. */
export async function messages(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const total = Number(process.env['BENCH_MESSAGES'] ?? (options.isQuick ? 2000 : 1_000_000));
	const driver = mllpDriver();
	await using subject = await Subject.open('Tributary');
	recorder.database = await subject.settings();
	const connections = 64;
	const part = Math.ceil(total / 20 / connections) * connections;
	const rates: [number, number][] = [];
	const sizes: [number, number][] = [];
	const startedMs = performance.now();
	let done = 0;
	for (let from = 0; from < total; from += part) {
		const load = { port: subject.port('mllp'), connections, seconds: 3600, addresses: subject.addresses, from, count: part };
		const result = await driver.run(load);
		const { text, isFault } = await messagesAsAcknowledged(subject, load, result);
		if (isFault) recorder.fault(`${done} messages and more: ${text}`);
		done += part;
		rates.push([done, result.perSecond]);
		sizes.push([done, (await subject.number('pg_database_size(current_database())')) / 2 ** 20]);
	}
	const seconds = (performance.now() - startedMs) / 1000;
	recorder.line({
		section: 'messages',
		work: `${done.toLocaleString('en')} messages over MLLP`,
		subject: subject.name,
		kind: 'product',
		connections,
		perSecond: done / seconds,
		p50Ms: null,
		p99Ms: null,
		failed: 0,
		driver: driver.name,
		ledger: `${done} stored of ${done} acknowledged`,
	});
	const series = (points: [number, number][]) => [{ name: 'Tributary', points }];
	recorder.curve({
		section: 'messages',
		title: 'Rate as the log grows',
		x: 'messages stored',
		y: 'messages a second',
		series: series(rates),
	});
	recorder.curve({ section: 'messages', title: 'Size of the database', x: 'messages stored', y: 'MB', series: series(sizes) });
}

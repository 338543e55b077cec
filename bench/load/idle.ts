import type { SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Subject } from '../suite/subject.ts';

/**
 * Measures a service that nobody asks anything, for BENCH_IDLE_SECONDS (30). It was set up and has started again; it has been still for a minute,
 * by when V8 has collected what the start left behind.
 */
export async function idle(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const seconds = Number(process.env['BENCH_IDLE_SECONDS'] ?? (options.isQuick ? 2 : 30));
	await using subject = await Subject.open('Tributary');
	recorder.database = await subject.settings();
	await subject.service.end('SIGTERM');
	await subject.restart();
	const pause = (of: number) => new Promise((resolve) => setTimeout(resolve, of * 1000));
	const stillFor = options.isQuick ? 1 : 60;
	await pause(stillFor);
	const used = subject.observe();
	await pause(seconds);
	const { main, others, database } = used(0);
	const percent = (cores: number) => `${(cores * 100).toFixed(2)} %`;
	const { now, highest } = subject.memory();
	recorder.note(
		`idle for ${seconds} s, ${stillFor} s after a start: service ${percent(main + others)} of a core, database ${percent(database)}; resident ${now} MB, at most ${highest} MB since the start`,
	);
}

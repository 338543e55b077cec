import type { SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Subject } from '../suite/subject.ts';

/** Measures a service that nobody asks anything, for BENCH_IDLE_SECONDS (20), after it has been still for ten seconds. */
export async function idle(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const seconds = Number(process.env['BENCH_IDLE_SECONDS'] ?? (options.isQuick ? 2 : 20));
	await using subject = await Subject.open('Tributary');
	recorder.database = await subject.settings();
	const pause = (of: number) => new Promise((resolve) => setTimeout(resolve, of * 1000));
	await pause(options.isQuick ? 1 : 10);
	const used = subject.observe();
	await pause(seconds);
	const { main, others, database } = used(0);
	const percent = (cores: number) => `${(cores * 100).toFixed(2)} %`;
	const { now, highest } = subject.memory();
	recorder.note(
		`idle for ${seconds} s: service ${percent(main + others)} of a core, database ${percent(database)}; resident ${now} MB, at most ${highest} MB since the start`,
	);
}

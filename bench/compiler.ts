import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Compiles a C program of the benchmarks; undefined when the machine has no C compiler. */
export function compile(source: string, name: string, more: readonly string[] = []): string | undefined {
	const directory = join(import.meta.dirname, 'build');
	mkdirSync(directory, { recursive: true });
	const program = join(directory, name);
	for (const compiler of ['cc', 'gcc', 'clang']) {
		const result = spawnSync(compiler, ['-O2', ...more, '-o', program, source], { encoding: 'utf8' });
		if (result.status === 0) return program;
		if (result.error === undefined) throw new Error(result.stderr);
	}
	return undefined;
}

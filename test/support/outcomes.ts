import { basename, relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** What test/run.mjs is told of a run besides what people read. */
export type Outcome =
	| { kind: 'skipped'; file: string; test: string; reason: string }
	/** A process of a lot that failed although all its tests may have passed; `reason` is its exit code or signal. */
	| { kind: 'process'; lot: string; reason: string }
	/** An error that no test waited for: it fails the process, and node:test says it in the midst of thousands of lines. */
	| { kind: 'late'; lot: string; message: string }
	/** How long a file took, its start included. */
	| { kind: 'file'; file: string; seconds: number; passed: boolean }
	/** How much of a file of the product was run. */
	| { kind: 'covered'; file: string; lines: number; coveredLines: number; branches: number; coveredBranches: number };

/** A reporter of node:test: one line of JSON for each outcome. */
export default async function* outcomes(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
	for await (const event of events) {
		for (const outcome of outcomesOf(event)) yield `${JSON.stringify(outcome)}\n`;
	}
}

function outcomesOf({ type, data }: TestEvent): Outcome[] {
	if (type === 'test:pass' && data.skip !== undefined && data.skip !== false) {
		return [{ kind: 'skipped', file: pathOf(data.file), test: data.name, reason: data.skip === true ? 'no reason given' : data.skip }];
	}
	if (type === 'test:complete' && data.nesting === 0 && data.name.endsWith('.test.ts')) {
		return [{ kind: 'file', file: data.name, seconds: data.details.duration_ms / 1000, passed: data.details.passed }];
	}
	if (type === 'test:diagnostic' && data.message.includes('asynchronous activity')) {
		return [{ kind: 'late', lot: basename(data.file ?? ''), message: data.message }];
	}
	if (type === 'test:fail' && data.nesting === 0 && data.name.endsWith('.mjs')) {
		return [{ kind: 'process', lot: basename(data.name), reason: reasonOf(data.details.error) }];
	}
	if (type !== 'test:coverage') return [];
	return data.summary.files.map((file) => ({
		kind: 'covered',
		file: pathOf(file.path),
		lines: file.totalLineCount,
		coveredLines: file.coveredLineCount,
		branches: file.totalBranchCount,
		coveredBranches: file.coveredBranchCount,
	}));
}

function reasonOf(error: object): string {
	if ('signal' in error && typeof error.signal === 'string') return error.signal;
	return 'exitCode' in error ? `exit code ${error.exitCode}` : 'no reason given';
}

function pathOf(file = ''): string {
	return relative(process.cwd(), file);
}

import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** What test/run.mjs is told of a run besides what people read. */
export type Outcome =
	| { kind: 'skipped'; file: string; test: string; reason: string }
	/** How long a file took, its start included. */
	| { kind: 'file'; file: string; seconds: number };

/** A reporter of node:test: one line of JSON for each outcome. */
export default async function* outcomes(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
	for await (const event of events) {
		const outcome = outcomeOf(event);
		if (outcome !== undefined) yield `${JSON.stringify(outcome)}\n`;
	}
}

function outcomeOf({ type, data }: TestEvent): Outcome | undefined {
	if (type === 'test:pass' && data.skip !== undefined && data.skip !== false) {
		return { kind: 'skipped', file: pathOf(data.file), test: data.name, reason: data.skip === true ? 'no reason given' : data.skip };
	}
	if (type === 'test:complete' && data.name === pathOf(data.file)) {
		return { kind: 'file', file: data.name, seconds: data.details.duration_ms / 1000 };
	}
	return undefined;
}

function pathOf(file = ''): string {
	return relative(process.cwd(), file);
}

import { setTimeout as pause } from 'node:timers/promises';
import { messageTail, Tail } from '#administration/message-tail.ts';
import type { CliStreams } from './command.ts';

const stepMs = 1000;

interface Following {
	read(since: string): Promise<unknown>;
	/** The time from which on what has come already is shown. */
	from: string | undefined;
	isJson: boolean;
}

/** Prints messages as they come, until the process is told to end. */
export async function follow({ read, from, isJson }: Following, streams: CliStreams): Promise<void> {
	const ends = new AbortController();
	const end = () => ends.abort();
	for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
	const tail = new Tail(
		async (since) => messageTail.parse(await read(since)),
		() => Date.now(),
		from,
	);
	try {
		while (!ends.signal.aborted) {
			const { messages, skipped } = await tail.next();
			if (skipped) streams.stderr.write('tributary: more messages came than are shown\n');
			for (const message of messages) streams.stdout.write(isJson ? `${JSON.stringify(message)}\n` : lineOf(message));
			await pause(stepMs, undefined, { signal: ends.signal }).catch(() => undefined);
		}
	} finally {
		for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end);
	}
}

function lineOf(message: Awaited<ReturnType<Tail['next']>>['messages'][number]): string {
	const { received_at: at, site, message_type: type, outcome, client, source, surface, control_id: control, failure } = message;
	return `${[at, site, type.padEnd(8), outcome.padEnd(8), client ?? source, surface, control, failure ?? ''].join('  ').trimEnd()}\n`;
}

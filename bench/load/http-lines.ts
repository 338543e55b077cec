import { countsAsAcknowledged } from '../suite/books.ts';
import type { SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import type { Line } from '../suite/result.ts';
import type { Subject } from '../suite/subject.ts';
import { type HttpTarget, httpChannel } from './http-channel.ts';
import type { HttpDriver, LoadRequest, LoadResult } from './http-driver.ts';
import { openLine } from './open-line.ts';
import { saturatedBy } from './usage.ts';

/** A kind of request over HTTP, measured. */
export interface HttpWork {
	section: string;
	name: string;
	surface: string;
	contentType: string;
	next: () => LoadRequest;
	/** Different requests in a second: reads may come again, writes may not. */
	perSecond: number;
	/** The number of rows that these writes have made so far; work that only reads has none. */
	stored?: (subject: Subject) => Promise<number>;
}

/** Closed loop with each driver; the rates, the driver that takes least of the machine last. */
export async function closedHttp(
	subject: Subject,
	work: HttpWork,
	{
		drivers,
		connections,
		recorder,
		options,
	}: { drivers: readonly HttpDriver[]; connections: number; recorder: Recorder; options: SuiteOptions },
): Promise<LoadResult | undefined> {
	let last: LoadResult | undefined;
	for (const driver of drivers) {
		const seconds = Math.max(1, Math.round(options.seconds));
		const requests = Array.from({ length: Math.ceil(work.perSecond * seconds) }, work.next);
		const before = { stored: (await work.stored?.(subject)) ?? 0, wal: await subject.walBytes() };
		const used = subject.observe();
		const result = await driver.run({
			port: subject.port(work.surface),
			key: subject.key,
			requests,
			connections,
			seconds,
			contentType: work.contentType,
		});
		const usage = used(result.driverShare);
		const line: Line = {
			section: work.section,
			work: work.name,
			subject: subject.name,
			kind: 'product',
			connections,
			...result,
			driver: driver.name,
			saturated: saturatedBy(usage),
			usage,
		};
		if (work.stored !== undefined) {
			line.walBytes = ((await subject.walBytes()) - before.wal) / Math.max(1, result.accepted);
			const { text, isFault } = countsAsAcknowledged(result.accepted, (await work.stored(subject)) - before.stored, connections);
			if (isFault) recorder.fault(`${work.name}, ${connections} connections, ${driver.name}: ${text}`);
			line.ledger = text;
		}
		recorder.line(line);
		last = result;
	}
	return last;
}

/** Open loop at a fixed rate over so many connections. */
export async function openHttp(
	subject: Subject,
	work: HttpWork,
	{ perSecond, connections, recorder, options }: { perSecond: number; connections: number; recorder: Recorder; options: SuiteOptions },
): Promise<void> {
	const requests = Array.from({ length: Math.ceil(work.perSecond * options.seconds) }, work.next);
	const target: HttpTarget = {
		port: subject.port(work.surface),
		key: subject.key,
		contentType: work.contentType,
		requestOf: (number) => requests[number % requests.length] ?? { method: 'GET', path: '/' },
	};
	const channels = await Promise.all(Array.from({ length: connections }, () => httpChannel(target)));
	const stored = (await work.stored?.(subject)) ?? 0;
	const line = await openLine(subject, { section: work.section, work: work.name, channels, perSecond, seconds: options.seconds });
	if (work.stored !== undefined) {
		const { text, isFault } = countsAsAcknowledged(line.accepted, (await work.stored(subject)) - stored, 0);
		if (isFault) recorder.fault(`${work.name}, open loop: ${text}`);
		line.ledger = text;
	}
	recorder.line(line);
}

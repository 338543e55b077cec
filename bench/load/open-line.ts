import type { Line } from '../suite/result.ts';
import type { Subject } from '../suite/subject.ts';
import { type Channel, type OpenOptions, openLoop, steady } from './loops.ts';
import { saturatedBy } from './usage.ts';

export interface OpenWork {
	section: string;
	work: string;
	channels: readonly Channel[];
	perSecond: number;
	seconds: number;
}

/** An open loop at a fixed rate against a service, by a driver in this process. Closes the channels. */
export async function openLine(
	subject: Subject,
	{ section, work, channels, perSecond, seconds }: OpenWork,
	options?: OpenOptions,
): Promise<Line & { waitingMax: number; p99Ms: number; accepted: number }> {
	const before = process.cpuUsage();
	const used = subject.observe();
	const result = await openLoop(channels, steady(perSecond, seconds), options);
	const { user, system } = process.cpuUsage(before);
	const usage = used((user + system) / 1e6 / result.seconds);
	for (const channel of channels) channel.close();
	return {
		section,
		work,
		subject: subject.name,
		kind: 'product',
		connections: channels.length,
		duePerSecond: perSecond,
		...result,
		driver: 'JavaScript',
		saturated: result.p99Ms > 1000 ? `more than it can (${result.waitingMax} waited)` : saturatedBy(usage),
		usage,
	};
}

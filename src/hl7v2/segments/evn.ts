import type { Message } from '../message.ts';
import type { Context } from './context.ts';

/** Returns the time of the event: EVN-6, else EVN-2, the time of its recording. Undefined without either. */
export function eventTime(message: Message, context: Context): string | undefined {
	const evn = message.first('EVN');
	if (evn === undefined) return undefined;
	for (const field of [6, 2]) {
		const time = context.time(evn, field);
		if (time !== undefined) return time;
	}
	return undefined;
}

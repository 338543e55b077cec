import type { Message } from '../message.ts';
import type { Context } from './context.ts';
import { toDateTime } from './datatypes/ts.ts';

/** When the event took place: EVN-6, else EVN-2, when it was recorded. Undefined without either. */
export function eventTime(message: Message, context: Context): string | undefined {
	const evn = message.first('EVN');
	if (evn === undefined) return undefined;
	for (const field of [6, 2]) {
		const text = evn.text(field);
		const time = text === '' ? undefined : toDateTime(text, context.zone);
		if (time !== undefined) return time;
		if (text !== '') context.unreadable(evn, field, 'is not a time and was left out');
	}
	return undefined;
}

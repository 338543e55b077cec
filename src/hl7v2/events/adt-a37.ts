import { Failure } from '#core/failure.ts';
import type { Change } from '#record/kinds/index.ts';
import type { Message } from '../message.ts';
import type { Context } from '../segments/context.ts';
import { requiredIdentifiers, requirePid } from '../segments/pid.ts';
import type { Hl7v2Event } from './event.ts';

/** Unlink patient information (v2.5.1 §3.3.37): it has two PID segments and undoes their merge. */
export const adtA37: Hl7v2Event = {
	messageType: 'ADT^A37',
	always: false,
	effect: 'The two PID name patients that an A40 made one: they are separate again',
	changes: unlink,
};

function unlink(message: Message, context: Context): Change[] {
	const first = requirePid(message);
	const second = message.all('PID')[1];
	if (second === undefined) {
		throw new Failure('segment-sequence', 'ADT^A37 needs two PID segments', { location: { segment: 'PID', sequence: 2 } });
	}
	return [{ kind: 'unlink', first: requiredIdentifiers(first, 3, context), second: requiredIdentifiers(second, 3, context) }];
}

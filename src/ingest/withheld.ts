import { Failure } from '#core/failure.ts';
import type { Delivery } from '#record/delivery.ts';

/** Returns why a delivery is not processed any more, or undefined if it is. `crashed` is the text for one that ended the worker twice. */
export function withheldBy({ withheld }: Delivery, crashed: string): Failure | undefined {
	if (withheld === undefined) return undefined;
	return withheld === 'crash'
		? new Failure('internal', crashed)
		: new Failure('too-costly', 'processing takes more processor time than is allowed (MESSAGE_CPU_MS_MAX)');
}

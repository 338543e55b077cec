import type { Delivery } from '#record/delivery.ts';
import type { LoggedMessage } from '#storage/message-log.ts';
import type { Interpretation } from './interpretation.ts';
import { definitionOf } from './kinds/index.ts';
import { digestOf } from './prepared.ts';

/** Returns the digest by which a repeated delivery is recognised, beside its control id. Empty without a control id. */
export function recognisedBy({ kind, bytes, id }: Delivery, { controlId }: Interpretation): string {
	if (controlId === '') return '';
	return definitionOf(kind).recognisedBy === 'delivery' ? id : digestOf(bytes);
}

/** Tells whether a message has a control id, without which a repetition cannot be recognised. */
export function isRecognisable(message: LoggedMessage): boolean {
	return (message.outcome === 'accepted' || message.outcome === 'ignored') && message.controlId !== '';
}

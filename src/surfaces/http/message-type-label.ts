import { eventOf } from '#hl7v2/events/index.ts';
import { interactionOf } from '#hl7v3/interactions/index.ts';

/**
 * Returns the value of a metric's label for a message type: an event or interaction that is understood, CDA for every document, and
 * `other` for everything else. So the number of values is bounded, whatever senders write.
 */
export function messageTypeLabel(messageType: string): string {
	if (messageType.startsWith('CDA ')) return 'CDA';
	return eventOf(messageType)?.messageType ?? interactionOf(messageType)?.name ?? 'other';
}

import { eventOf } from '#hl7v2/events/index.ts';
import { interactionOf } from '#hl7v3/interactions/index.ts';

/**
 * A message type as the value of a metric's label: an event or interaction that is understood, CDA for every document, and `other` for
 * all that a sender may write besides, so that the values are bounded.
 */
export function messageTypeLabel(messageType: string): string {
	if (messageType.startsWith('CDA ')) return 'CDA';
	return eventOf(messageType)?.messageType ?? interactionOf(messageType)?.name ?? 'other';
}

import { definitionOf } from '#fhir/resources/index.ts';
import { eventOf } from '#hl7v2/events/index.ts';
import { interactionOf } from '#hl7v3/interactions/index.ts';
import type { Delivery, Reply } from '#record/delivery.ts';

/**
 * Returns the event type of a delivery for its span: an event, interaction, document or resource type that is known, and `other` for everything
 * else. What a sender wrote in its place may be anything.
 */
export function eventLabel({ kind }: Pick<Delivery, 'kind'>, { messageType }: Pick<Reply, 'messageType'>): string {
	if (kind === 'hl7v2') return eventOf(messageType)?.messageType ?? 'other';
	if (kind === 'hl7v3') return messageType.startsWith('CDA ') ? 'CDA' : (interactionOf(messageType)?.name ?? 'other');
	if (kind === 'mpps') return /^MPPS(?: (?:N-CREATE|N-SET|IN PROGRESS|COMPLETED|DISCONTINUED))?$/.test(messageType) ? messageType : 'MPPS';
	if (kind !== 'fhir') return kind;
	const [method, type = ''] = messageType.split(' ');
	return type === 'Bundle' || definitionOf(type) !== undefined ? `${method} ${type}` : 'other';
}

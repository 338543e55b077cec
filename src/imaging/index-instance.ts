import type { Clock } from '#core/clock.ts';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import type { InstanceDelivery, Placing } from '#record/delivery.ts';
import type { IndexAnswer, StoredInstance } from '#record/instance.ts';
import { packInstance } from '#record/instance-bytes.ts';
import type { Settings } from '#record/settings/settings.ts';
import type { TraceIds } from '#record/trace-ids.ts';
import type { SiteGateway } from '#site/gateway.ts';
import { senderOf } from '#site/mailbox.ts';
import type { ImagingMetrics } from './metrics.ts';

export interface IndexContext {
	gateway: SiteGateway;
	clock: Clock;
	metrics: ImagingMetrics;
}

/** An instance that is ready to be indexed. */
export interface IndexRequest {
	siteId: string;
	surface: InstanceDelivery['surface'];
	clientId: string;
	settings: Settings;
	instance: StoredInstance;
	/** The pieces of the object, if it is not in the store yet. It must be durable there before the commit. */
	object?: readonly Uint8Array[];
	/** Set when the object is being written and not yet durable. */
	placing?: Placing;
	/** Set when the request is traced. */
	trace?: TraceIds | undefined;
}

/**
 * Puts an instance into the index of its site and resolves when that is committed.
 * @throws Failure when certainly nothing was committed (except `unavailable`); after any other error that is unknown
 */
export type IndexInstance = (request: IndexRequest) => Promise<IndexAnswer>;

/**
 * Indexes instances through the mailbox of their site, like any message.
 * @throws Failure `too-many-requests` when it was not accepted; after `unavailable` it is unknown whether it was committed
 */
export function instanceIndex({ gateway, clock, metrics }: IndexContext): IndexInstance {
	return async ({ siteId, surface, clientId, settings, instance, object, placing, trace }) => {
		const bytes = packInstance(instance, object);
		if (!gateway.available() || !gateway.hasRoom(siteId, senderOf({ clientId, source: instance.source }), bytes.length)) {
			throw new Failure('too-many-requests', 'too much of this site waits to be stored', { retryAfterSeconds: 1 });
		}
		const receivedAtMs = clock.nowMs();
		const { answer } = await gateway.deliver({
			id: newId(receivedAtMs),
			kind: 'instance',
			siteId,
			clientId,
			surface,
			source: instance.source,
			receivedAtMs,
			settings,
			bytes,
			...(placing && { placing }),
			...(trace && { trace }),
		});
		if (answer.kind !== 'failed' && answer.kind !== 'unplaced' && answer.kind !== 'undecided' && answer.kind !== 'foreign')
			metrics.indexedInstances.inc({ outcome: answer.kind });
		return answer;
	};
}

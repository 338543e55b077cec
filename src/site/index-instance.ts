import type { Clock } from '#core/clock.ts';
import { Failure } from '#core/failure.ts';
import { newId, nilId } from '#core/id.ts';
import type { Metrics } from '#core/metrics.ts';
import type { IndexAnswer, StoredInstance } from '#record/instance.ts';
import { packInstance } from '#record/instance-bytes.ts';
import type { SiteGateway } from './gateway.ts';

export interface IndexContext {
	gateway: SiteGateway;
	clock: Clock;
	metrics: Metrics;
	/** The site's assigning authority for patient ids whose issuer is not named. */
	defaultAuthority(siteId: string): string | undefined;
}

/**
 * Puts instances into the index of their site, by its mailbox like any message: resolves when the row is committed.
 * @throws Failure `too-many-requests` when it was not taken; `unavailable` leaves open whether it was committed
 */
export function instanceIndex({ gateway, clock, metrics, defaultAuthority }: IndexContext) {
	return async (siteId: string, instance: StoredInstance, object?: readonly Uint8Array[]): Promise<IndexAnswer> => {
		const bytes = packInstance(instance, object);
		if (!gateway.available() || !gateway.hasRoom(siteId, bytes.length)) {
			throw new Failure('too-many-requests', 'too much of this site waits to be stored', { retryAfterSeconds: 1 });
		}
		const receivedAtMs = clock.nowMs();
		const { answer } = await gateway.deliver({
			id: newId(receivedAtMs),
			kind: 'instance',
			siteId,
			clientId: nilId,
			surface: instance.callingAe === '' ? 'dicomweb' : 'dimse',
			source: instance.source,
			receivedAtMs,
			bytes,
			defaultAuthority: defaultAuthority(siteId),
		});
		if (answer.kind !== 'failed') metrics.indexedInstances.inc({ outcome: answer.kind });
		return answer;
	};
}

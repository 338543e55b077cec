import { Failure } from '#core/failure.ts';
import type { Delivery, ReplyTo } from '#record/delivery.ts';
import type { DeliveryLimits } from '#record/limits.ts';
import { type Settings, settingOf } from '#record/settings/settings.ts';
import type { SiteGateway } from '#site/gateway.ts';
import { senderOf } from '#site/mailbox.ts';

/** Advice to a client. A sender that comes earlier is not refused for it. */
const retryAfterSeconds = 5;

export interface DeliveryContext {
	gateway: SiteGateway;
	limits: DeliveryLimits;
}

/**
 * Hands a request's delivery to its site. The caller can repeat the request, so this does not wait long for storage.
 * @throws Failure `unavailable` with Retry-After; the delivery may then still take effect
 */
export async function deliverSoon<Sent extends Delivery>({ gateway, limits }: DeliveryContext, delivery: Sent): Promise<ReplyTo<Sent>> {
	refusePaused(delivery);
	if (!gateway.available()) throw unavailable('the service cannot store messages at the moment');
	if (!gateway.hasRoom(delivery.siteId, senderOf(delivery), delivery.bytes.length))
		throw unavailable('too many messages of this site are waiting to be stored');
	let timer: NodeJS.Timeout | undefined;
	const patience = new Promise<never>((_, reject) => {
		const late = () => reject(unavailable('the message could not be stored in time'));
		timer = setTimeout(late, limits.unavailableMsMax);
	});
	try {
		return await Promise.race([gateway.deliver(delivery), patience]);
	} catch (error) {
		if (error instanceof Failure && error.code === 'unavailable' && error.retryAfterSeconds === undefined) {
			throw unavailable(error.diagnostics, error);
		}
		throw error;
	} finally {
		clearTimeout(timer);
	}
}

/** A client or key that is paused for long is not asked to come every few seconds. */
const pausedRetrySeconds = 30;

/**
 * Nothing of a paused sender is taken. A replay is what people do with a message that was taken before.
 * @throws Failure `unavailable` with Retry-After
 */
export function refusePaused({ settings, surface }: { settings: Settings; surface?: Delivery['surface'] }): void {
	if (surface === 'replay' || surface === 'administration' || !settingOf(settings, 'paused')) return;
	throw new Failure('unavailable', 'this sender is paused; send it again later', { retryAfterSeconds: pausedRetrySeconds });
}

function unavailable(diagnostics: string, cause?: unknown): Failure {
	return new Failure('unavailable', diagnostics, { cause, retryAfterSeconds });
}

import type { Delivery, ReplyTo } from '#record/delivery.ts';

/**
 * The entrance to a site: one bounded FIFO per site, one batch of a shard in flight. Messages of a site take effect in the order of the
 * calls to
 * `deliver`.
 */
export interface SiteGateway {
	/**
	 * Resolves after the commit (accepted, duplicate, ignored), or when the message was refused and logged.
	 * Rejects with Failure `unavailable` when the mailbox is full or the service cannot store. The message may still have been applied then,
	 * and the
	 * sender's repetition is recognised.
	 */
	deliver<Sent extends Delivery>(delivery: Sent): Promise<ReplyTo<Sent>>;
	/**
	 * Tells whether `deliver` would accept a message of this size now. The sender is named as `senderOf` names it. Surfaces that can pause their socket
	 * ask first.
	 */
	hasRoom(siteId: string, sender: string, bytes: number): boolean;
	/** Resolves when there may be room again, or after a short while. */
	whenRoom(siteId: string): Promise<void>;
	/** False while the database does not take batches: HTTP answers 503 without queueing, MLLP pauses reading. */
	available(): boolean;
}

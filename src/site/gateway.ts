import type { Delivery, ReplyTo } from '#record/delivery.ts';

/**
 * The way into a site: one FIFO per site, bounded, one batch of a shard in flight. Order of effect within a site is
 * the order of the calls to `deliver`.
 */
export interface SiteGateway {
	/**
	 * Resolves after the commit (accepted, duplicate, ignored) or when the message was refused and logged.
	 * Rejects with Failure `unavailable` when the mailbox is full or the service cannot store; the message may then
	 * still have been applied, and the sender's resend is recognised.
	 */
	deliver<Sent extends Delivery>(delivery: Sent): Promise<ReplyTo<Sent>>;
	/** Whether `deliver` would take a message of this size now. Surfaces that can pause their socket ask first. */
	hasRoom(siteId: string, bytes: number): boolean;
	/** Resolves when it may have room again, or after a short while. */
	whenRoom(siteId: string): Promise<void>;
	/** False while the database does not take batches: HTTP answers 503 without queueing, MLLP pauses reading. */
	available(): boolean;
}

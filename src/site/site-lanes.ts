import type { Lane } from './lane.ts';

/** A batch costs about as much as so many messages do, whatever is in it (docs/decisions, "Two batches of a lane"). */
const messagesOfBatch = 6;

/**
 * Tells which lane has the messages of a site. While some of them wait or are under way, it is one lane, because they have an order. A site of
 * which there is nothing need not wait behind the batch of another one: its next message goes to a lane that has nothing in hand, or to the one with
 * the least, where that is less by more than a batch of its own costs.
 */
export class SiteLanes {
	readonly #lanes: readonly Lane[];
	readonly #moved = new Map<string, Lane>();

	constructor(lanes: readonly Lane[]) {
		this.#lanes = lanes;
	}

	/** Returns the lane that the site had last; its first one comes from its id, so that sites are spread. */
	of(siteId: string): Lane {
		const lane = this.#moved.get(siteId) ?? this.#lanes[Number.parseInt(siteId.slice(-8), 16) % this.#lanes.length];
		if (lane === undefined) throw new Error('there are no lanes');
		return lane;
	}

	/** Returns the lane for a message that has just come. */
	choose(siteId: string): Lane {
		const own = this.of(siteId);
		const inHand = own.messagesInHand;
		if (inHand === 0 || own.has(siteId)) return own;
		const least = this.#lanes.reduce((one, other) => (other.messagesInHand < one.messagesInHand ? other : one));
		if (least.messagesInHand > 0 && inHand - least.messagesInHand <= messagesOfBatch) return own;
		own.forget(siteId);
		this.#moved.set(siteId, least);
		return least;
	}
}

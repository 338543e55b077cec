import { createHash } from 'node:crypto';

/** An event of the audit trail as it is linked: what its row holds, in the order in which its digest takes it. */
export interface LinkedEvent {
	id: string;
	/** Microseconds since 1970, as PostgreSQL keeps them. */
	atMicros: string;
	/** The nil id for an event of no site. */
	siteId: string;
	actor: string;
	action: string;
	subject: string;
	/** Null where nobody called from anywhere. */
	source: string | null;
	detail: unknown;
	patients: readonly string[] | null;
	studies: readonly string[] | null;
}

/** A batch as it is linked to the one before it. */
export interface LinkedBatch {
	chainId: string;
	sequence: number;
	id: string;
	atMicros: string;
	events: number;
	firstId: string | null;
	lastId: string | null;
	/** Hexadecimal; empty for the first batch of a chain. */
	previous: string;
	/** JSON. */
	notes: string;
}

/** Serialises JSON with the members of objects in the order of their names, because PostgreSQL keeps no order of its own. */
function ordered(value: unknown): string {
	return JSON.stringify(value, (_name, held: unknown) =>
		typeof held === 'object' && held !== null && !Array.isArray(held)
			? Object.fromEntries(Object.entries(held).sort(([left], [right]) => (left < right ? -1 : 1)))
			: held,
	);
}

function lineOf({ id, atMicros, siteId, actor, action, subject, source, detail, patients, studies }: LinkedEvent): string {
	return `${JSON.stringify([id, atMicros, siteId, actor, action, subject, source, patients, studies])}${ordered(detail)}\n`;
}

/**
 * Returns the digest of a batch: SHA-256 over its head, which has the digest of the batch before, and over its events in the order of
 * their ids.
 */
export function batchDigest(batch: LinkedBatch, events: readonly LinkedEvent[]): string {
	const { chainId, sequence, id, atMicros, events: count, firstId, lastId, previous, notes } = batch;
	const digest = createHash('sha256').update(JSON.stringify([chainId, sequence, id, atMicros, count, firstId, lastId, previous, notes]));
	for (const event of events) digest.update(lineOf(event));
	return digest.digest('hex');
}

/** Orders events by their ids, as the digest of their batch takes them. */
export function byId(left: LinkedEvent, right: LinkedEvent): number {
	return left.id < right.id ? -1 : 1;
}

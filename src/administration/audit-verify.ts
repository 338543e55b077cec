import { z } from 'zod';
import type { BatchNotes } from '#access/audit-chain.ts';
import { batchDigest, type LinkedBatch, type LinkedEvent } from '#access/audit-digest.ts';
import { linkedEventOf } from '#access/audit-links.ts';
import { nilId } from '#core/id.ts';
import type { Cell } from '#storage/cell.ts';
import {
	countUnlinked,
	readBatches,
	readChains,
	readLinkedEvents,
	readNotes,
	readStrayEvent,
} from '#storage/statements/administrative/verify-audit.ts';
import type { OperationContext } from './context.ts';

const kinds = ['changed', 'removed', 'inserted', 'reordered'] as const;

const breakRecord = z.strictObject({
	kind: z.enum(kinds),
	chain: z.string().nullable(),
	sequence: z.int().nullable().describe('the number of the batch in its chain'),
	at: z.string().nullable().describe('when the batch was written'),
	event: z.string().nullable().describe('the id of the event, where one is known'),
	reason: z.string(),
});
type Break = z.infer<typeof breakRecord>;

const end = z.strictObject({ chain: z.string(), sequence: z.int(), digest: z.string(), closed: z.boolean() });

export const verifyAuditInput = z.strictObject({
	known: z
		.array(z.string().regex(/^[0-9a-f-]{36}:\d+:[0-9a-f]{64}$/, 'is <chain>:<sequence>:<digest>'))
		.default([])
		.describe('ends of chains that somebody keeps, from the log or from an earlier run'),
});

export const verifiedAudit = z.strictObject({
	holds: z.boolean(),
	chains: z.int(),
	batches: z.int(),
	events: z.int().describe('events that batches link'),
	earlier: z.int().describe('events from before there were chains; nothing tells whether they are as they were'),
	waiting: z.int().describe('events that the next batch will link; a running service does so within seconds'),
	first_break: breakRecord.nullable(),
	ends: z.array(end).describe('the last batch of each chain; keep them elsewhere, and name them to a later run'),
});

/** Batches that are read at a time. */
const pageBatches = 200;

interface StoredBatch extends LinkedBatch {
	digest: string;
}

interface Found {
	batches: number;
	events: number;
	ends: z.infer<typeof end>[];
}

/** The ends of chains that batches or people have stated: by chain, the digests by their sequence. */
class Stated {
	readonly #digests = new Map<string, Map<number, string>>();

	add(chain: string, sequence: number, digest: string): void {
		const known = this.#digests.get(chain) ?? new Map<number, string>();
		known.set(sequence, digest);
		this.#digests.set(chain, known);
	}

	/** Takes what was stated of a batch. */
	take(chain: string, sequence: number): string | undefined {
		const known = this.#digests.get(chain);
		const digest = known?.get(sequence);
		known?.delete(sequence);
		return digest;
	}

	/** Returns one that no batch of the walk was. */
	rest(isRemoved: (chain: string, sequence: number) => boolean): { chain: string; sequence: number } | undefined {
		for (const [chain, known] of this.#digests)
			for (const sequence of known.keys()) if (!isRemoved(chain, sequence)) return { chain, sequence };
		return undefined;
	}
}

class Broken extends Error {
	readonly found: Break;

	constructor(found: Break) {
		super(found.reason);
		this.found = found;
	}
}

/** Walks every chain of the audit trail and names the first break. It only reads. */
export async function verifyAudit(
	context: OperationContext,
	{ known }: z.output<typeof verifyAuditInput>,
): Promise<z.infer<typeof verifiedAudit>> {
	const walk = new Walk(context);
	for (const text of known) {
		const [chain = '', sequence = '', digest = ''] = text.split(':');
		walk.stated.add(chain, Number(sequence), digest);
	}
	let first: Break | null = null;
	let counts = { chains: 0, earlier: 0, waiting: 0 };
	try {
		counts = await walk.all();
	} catch (error) {
		if (!(error instanceof Broken)) throw error;
		first = error.found;
	}
	return { holds: first === null, ...counts, ...walk.found, first_break: first };
}

class Walk {
	readonly stated = new Stated();
	readonly found: Found = { batches: 0, events: 0, ends: [] };
	readonly #context: OperationContext;
	/** The last batch that each chain lost by age. */
	readonly #removed = new Map<string, { sequence: number; digest: string }>();
	#removedBefore = nilId;

	constructor(context: OperationContext) {
		this.#context = context;
	}

	async all(): Promise<{ chains: number; earlier: number; waiting: number }> {
		const { database } = this.#context;
		await this.#readNotes();
		const chains = (await database.run(readChains, [])).map(([id]) => id ?? '');
		for (const chain of chains) await this.#chain(chain);
		const missing = this.stated.rest((chain, sequence) => sequence <= (this.#removed.get(chain)?.sequence ?? -1));
		if (missing)
			throw broken('removed', missing, 'the end of the chain is missing: a later batch, or whoever kept it, names one that is gone');
		const [stray] = await database.run(readStrayEvent, []);
		if (stray)
			throw new Broken({ ...nowhere, kind: 'inserted', event: stray[0] ?? null, reason: 'the event belongs to no batch that knows it' });
		const [row = []] = await database.run(countUnlinked, [chains[0] ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff']);
		const [earlier, late, waiting] = row;
		const reason = 'the event pretends to be from before there were chains';
		if (late) throw new Broken({ ...nowhere, kind: 'inserted', event: late, reason });
		return { chains: chains.length, earlier: Number(earlier), waiting: Number(waiting) };
	}

	async #readNotes(): Promise<void> {
		for (const [notes] of await this.#context.database.run(readNotes, [])) {
			const { removed, ends = [] } = JSON.parse(notes ?? '{}') as BatchNotes;
			for (const [chain, sequence, digest] of ends) this.stated.add(chain, sequence, digest);
			if (removed === undefined) continue;
			if (removed.before > this.#removedBefore) this.#removedBefore = removed.before;
			for (const [chain, sequence, digest] of removed.ends)
				if (sequence > (this.#removed.get(chain)?.sequence ?? -1)) this.#removed.set(chain, { sequence, digest });
		}
	}

	async #chain(chain: string): Promise<void> {
		const removed = this.#removed.get(chain);
		let last = { sequence: removed?.sequence ?? -1, digest: removed?.digest ?? '' };
		let isClosed = false;
		for (;;) {
			const rows = await this.#context.database.run(readBatches, [chain, last.sequence, pageBatches]);
			const batches = rows.map((cells) => batchOf(chain, cells));
			const events = await this.#eventsOf(batches);
			for (const batch of batches) {
				if (isClosed) throw broken('inserted', batch, 'the batch comes behind the end of its chain');
				this.#check(batch, last, events.get(batch.id) ?? []);
				isClosed = this.#note(batch);
				last = batch;
			}
			if (batches.length < pageBatches) break;
		}
		if (last.sequence === -1) throw broken('removed', { chain, sequence: 0 }, 'every batch of the chain is missing');
		if (last.sequence !== removed?.sequence)
			this.found.ends.push({ chain, sequence: last.sequence, digest: last.digest, closed: isClosed });
	}

	/** Returns whether the batch ends its chain. */
	#note(batch: StoredBatch): boolean {
		this.found.batches += 1;
		this.found.events += batch.events;
		return (JSON.parse(batch.notes) as BatchNotes).closed === true;
	}

	#check(batch: StoredBatch, last: { sequence: number; digest: string }, events: readonly LinkedEvent[]): void {
		if (batch.sequence !== last.sequence + 1)
			throw broken(
				'removed',
				{ ...batch, sequence: last.sequence + 1 },
				`batches ${last.sequence + 1} to ${batch.sequence - 1} are missing`,
			);
		if (batch.previous !== last.digest) throw broken('reordered', batch, 'the batch does not follow the one before it');
		const stated = this.stated.take(batch.chainId, batch.sequence);
		if (stated !== undefined && stated !== batch.digest) throw broken('changed', batch, 'the batch is not the one that was known');
		// A batch that reaches into a removed month has lost some of its events with it.
		if (batch.firstId !== null && batch.firstId < this.#removedBefore) return;
		if (events.length < batch.events)
			throw broken('removed', batch, `${batch.events - events.length} of ${batch.events} events are missing`);
		if (events.length > batch.events) throw broken('inserted', batch, `${events.length - batch.events} events were put in`);
		if (batchDigest(batch, events) !== batch.digest) throw broken('changed', batch, 'the batch or one of its events was changed');
	}

	async #eventsOf(batches: readonly StoredBatch[]): Promise<Map<string, LinkedEvent[]>> {
		const byBatch = new Map<string, LinkedEvent[]>();
		const firsts = batches.map(({ firstId }) => firstId).filter((id) => id !== null);
		const lasts = batches.map(({ lastId }) => lastId).filter((id) => id !== null);
		if (firsts.length === 0) return byBatch;
		const bounds = [firsts.sort()[0], lasts.sort().at(-1)];
		for (const cells of await this.#context.database.run(readLinkedEvents, [...bounds, batches.map(({ id }) => id)])) {
			const batch = cells.at(-1) ?? '';
			const held = byBatch.get(batch);
			if (held) held.push(linkedEventOf(cells));
			else byBatch.set(batch, [linkedEventOf(cells)]);
		}
		return byBatch;
	}
}

const nowhere = { chain: null, sequence: null, at: null, event: null };

function broken(
	kind: Break['kind'],
	at: { chainId?: string; chain?: string; sequence: number; atMicros?: string },
	reason: string,
): Broken {
	const time = at.atMicros === undefined ? null : new Date(Number(at.atMicros) / 1000).toISOString();
	return new Broken({ kind, chain: at.chainId ?? at.chain ?? null, sequence: at.sequence, at: time, event: null, reason });
}

function batchOf(chainId: string, cells: readonly Cell[]): StoredBatch {
	const [sequence, id, atMicros, events, firstId = null, lastId = null, previous, digest, notes] = cells;
	return {
		...{ chainId, sequence: Number(sequence), id: id ?? '', atMicros: atMicros ?? '', events: Number(events), firstId, lastId },
		...{ previous: previous ?? '', digest: digest ?? '', notes: notes ?? '{}' },
	};
}

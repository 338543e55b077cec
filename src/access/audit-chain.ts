import type { Clock } from '#core/clock.ts';
import { newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { Cell } from '#storage/cell.ts';
import type { Connection } from '#storage/connection.ts';
import { stateOf } from '#storage/sqlstate.ts';
import { plainArray, textArray, textLiteral } from '#storage/statement.ts';
import { linkEvents, readBatchDigest, readChainEnds, writeAuditBatch } from '#storage/statements/administrative/audit-chain.ts';
import { batchDigest, byId, type LinkedBatch, type LinkedEvent } from './audit-digest.ts';
import type { AccessMetrics } from './metrics.ts';

/** The last batch of a chain that somebody saw. */
export type ChainEnd = readonly [chain: string, sequence: number, digest: string];

/** A batch says this besides its events. */
export interface BatchNotes {
	/** The ends of other chains, as this writer saw them. */
	ends?: readonly ChainEnd[];
	/** The writer ended in order; nothing follows. */
	closed?: true;
	/** Months that were removed by age, and the last batch that each chain lost with them. */
	removed?: { before: string; events: number; ends: readonly ChainEnd[] };
}

/** `write`: the events of the batch are written with it. `link`: they are there already, each by the change that it describes. */
type Way = 'write' | 'link';

interface Pending {
	way: Way;
	batch: LinkedBatch;
	digest: string;
	events: readonly LinkedEvent[];
	/** True while it is not known whether the database has committed it. */
	isUncertain: boolean;
}

/** SQLSTATE: the chain has a batch of this number already. */
export const uniqueViolation = '23505';
/** A chain names the ends of the others this often, so that a missing end is noticed. */
const anchorMs = 60_000;
/** The ends of older chains were named by the chains that followed them. */
const endsMax = 200;
/** The log tells the end of the chain this often, for somebody who keeps it where the database's administrators do not reach. */
const toldMs = 3_600_000;

export interface ChainOptions {
	connection: Pick<Connection, 'run'>;
	metrics: Pick<AccessMetrics, 'auditEvents'>;
	log: Log;
	clock: Clock;
}

/**
 * The chain of one writer. Each batch has the digest of the one before, so what changes, goes missing or is put in afterwards is noticed.
 * Every process has a chain of its own, which no other has to wait for; they name each other's ends.
 */
export class AuditChain {
	readonly id = newId();
	readonly #options: ChainOptions;
	#sequence = 0;
	#digest = '';
	#pending: Pending | undefined;
	#anchoredAtMs = Number.NEGATIVE_INFINITY;
	#toldAtMs: number;

	constructor(options: ChainOptions) {
		this.#options = options;
		this.#toldAtMs = options.clock.nowMs();
	}

	/** True once a batch was written. */
	get hasBegun(): boolean {
		return this.#sequence > 0;
	}

	/**
	 * Writes a batch. If that fails, the batch is kept, and `settle` tries it again.
	 * @throws what the database answers
	 */
	async append(way: Way, events: readonly LinkedEvent[], notes: BatchNotes = {}): Promise<void> {
		await this.settle();
		const sorted = [...events].sort(byId);
		const noted = { ...notes, ...(await this.#anchors()) };
		const nowMs = this.#options.clock.nowMs();
		const batch: LinkedBatch = {
			chainId: this.id,
			sequence: this.#sequence,
			id: newId(nowMs),
			atMicros: `${nowMs}000`,
			events: sorted.length,
			firstId: sorted[0]?.id ?? null,
			lastId: sorted.at(-1)?.id ?? null,
			previous: this.#digest,
			notes: JSON.stringify(noted),
		};
		this.#pending = { way, batch, digest: batchDigest(batch, sorted), events: sorted, isUncertain: false };
		await this.settle();
	}

	/** Commits the batch that could not be committed before, if there is one. */
	async settle(): Promise<void> {
		const pending = this.#pending;
		if (pending === undefined) return;
		if (pending.isUncertain && (await this.#isCommitted(pending))) return this.#advance(pending);
		try {
			await this.#options.connection.run(pending.way === 'write' ? writeAuditBatch : linkEvents, valuesOf(pending));
		} catch (error) {
			pending.isUncertain = true;
			// An attempt that was given up may have been committed behind our back.
			if (stateOf(error) === uniqueViolation && (await this.#isCommitted(pending))) return this.#advance(pending);
			throw error;
		}
		this.#advance(pending);
	}

	/** Events of a batch that is not known to be committed. */
	get waiting(): number {
		return this.#pending?.way === 'write' ? this.#pending.events.length : 0;
	}

	/** Forgets a batch that the database refused, and returns the events that are not stored. */
	abandon(): readonly LinkedEvent[] {
		const pending = this.#pending;
		this.#pending = undefined;
		return pending?.way === 'write' ? pending.events : [];
	}

	/** Says that nothing follows, and tells the end of the chain. */
	async close(): Promise<void> {
		await this.settle();
		if (!this.hasBegun) return;
		await this.append('write', [], { closed: true });
		this.#tell();
	}

	async #isCommitted({ batch, digest }: Pending): Promise<boolean> {
		const [row] = await this.#options.connection.run(readBatchDigest, [this.id, batch.sequence]);
		return row?.[0] === digest;
	}

	#advance({ digest, way, events }: Pending): void {
		this.#pending = undefined;
		if (way === 'write') this.#options.metrics.auditEvents.inc({ outcome: 'written' }, events.length);
		this.#sequence += 1;
		this.#digest = digest;
		if (this.#options.clock.nowMs() - this.#toldAtMs >= toldMs) this.#tell();
	}

	#tell(): void {
		this.#toldAtMs = this.#options.clock.nowMs();
		const { id: chain } = this;
		this.#options.log.info({ chain, sequence: this.#sequence - 1, digest: this.#digest }, 'the end of the chain of the audit trail');
	}

	async #anchors(): Promise<Pick<BatchNotes, 'ends'>> {
		const nowMs = this.#options.clock.nowMs();
		if (nowMs - this.#anchoredAtMs < anchorMs) return {};
		const rows = await this.#options.connection.run(readChainEnds, [this.id, endsMax]);
		this.#anchoredAtMs = nowMs;
		const ends = rows.map(chainEndOf);
		return ends.length === 0 ? {} : { ends };
	}
}

export function chainEndOf([chain, sequence, digest]: readonly Cell[]): ChainEnd {
	return [chain ?? '', Number(sequence), digest ?? ''];
}

function instantOf(atMicros: string): string {
	return new Date(Number(atMicros) / 1000).toISOString();
}

function valuesOf({ way, batch, digest, events }: Pending): unknown[] {
	const { chainId, sequence, id, atMicros, events: count, firstId, lastId, previous, notes } = batch;
	const head = [chainId, sequence, id, instantOf(atMicros), count, firstId, lastId, previous, digest, notes];
	const sites = plainArray(events.map(({ siteId }) => siteId));
	const ids = plainArray(events.map(({ id: event }) => event));
	if (way === 'link') return [...head, sites, ids];
	const text = (of: (event: LinkedEvent) => string | null) => textArray(events.map(of));
	return [
		...head,
		ids,
		text((event) => instantOf(event.atMicros)),
		sites,
		text(({ actor }) => actor),
		text(({ action }) => action),
		text(({ subject }) => subject),
		text(({ source }) => source),
		text(({ detail }) => JSON.stringify(detail)),
		text(({ patients }) => patients && textLiteral(patients)),
		text(({ studies }) => studies && textLiteral(studies)),
	];
}

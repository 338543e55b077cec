import { isConsequence } from '#storage/sqlstate.ts';
import type { Prepared } from './prepared.ts';
import type { Settled } from './settlement.ts';

/** One transaction of a batch and its decisions. They are true only after the commit. */
export interface Attempt {
	id: string;
	/** Messages that nothing was known against when they were applied; an object that is not placed meanwhile makes them refused. */
	sound: Prepared[];
	settled: Settled[];
}

/** The statements of a transaction that are not awaited one by one. One that fails is reported when all are awaited, not before. */
export class Sent {
	readonly statements: Promise<unknown>[] = [];

	push(statement: Promise<unknown>): void {
		statement.catch(() => undefined);
		this.statements.push(statement);
	}
}

/** Hands out each site's numbers in the order of its messages. */
export class Sequences {
	readonly #last: Map<string, bigint>;
	/** Numbers of the state of the sites' authorities. */
	readonly authorityVersions: ReadonlyMap<string, string>;

	constructor(entries: [string, bigint][], authorityVersions: ReadonlyMap<string, string>) {
		this.#last = new Map(entries);
		this.authorityVersions = authorityVersions;
	}

	next(siteId: string): bigint {
		const next = (this.#last.get(siteId) ?? 0n) + 1n;
		this.#last.set(siteId, next);
		return next;
	}
}

/** A statement behind the one that failed may be heard of first: it only says that the transaction had failed. */
export function causeOf(error: unknown, sent: readonly PromiseSettledResult<unknown>[]): unknown {
	if (!isConsequence(error)) return error;
	const failed = sent.filter((statement) => statement.status === 'rejected').map(({ reason }): unknown => reason);
	return failed.find((reason) => !isConsequence(reason)) ?? error;
}

import { setTimeout as pause } from 'node:timers/promises';
import type { LedgerClient } from '#test/support/ledger/client.ts';
import type { Entry, Verdict } from '#test/support/ledger/verdict.ts';
import { type Asked, digestOf, siteTables } from '#test/support/site-tables.ts';

/** Tables of sites that work which is sent again may write, each with the reason. */
const notCompared: Readonly<Record<string, string>> = {
	message_log: 'lists a repeat as a duplicate; the messages that count are compared by themselves',
	committed_batch: 'names the transactions, not what they wrote',
	site_turn: 'is the turn of a site, which a repeat takes too',
	search_entry: 'is gathered behind the writes, from rows that are compared',
	search_progress: 'says how far the index of elements has come',
	feed_hour: 'counts what was sent, repeats included',
	feed_queue: 'says what waits at this moment',
	api_key: 'notes when a key was used',
	audit_event: 'notes who asked',
	unmatched_message: 'is not of the senders here',
};

/** These tables are compared in part, by the rows that are given here. */
const comparedAs: Readonly<Record<string, string>> = {
	// Compaction moves objects, and lets their rows name the new places.
	imaging_instance: "(select to_jsonb(i) - 'object_key' as row from imaging_instance i) i",
};

/** A digest of the rows of each table of sites. */
async function digests(asked: Asked): Promise<Map<string, string>> {
	const found = new Map<string, string>();
	for (const name of await siteTables(asked)) if (!(name in notCompared)) found.set(name, await digestOf(asked, comparedAs[name] ?? name));
	found.set('message_log', await digestOf(asked, "message_log where outcome in ('accepted', 'ignored')"));
	return found;
}

/** Two looks in a row that see the same: nothing is written behind the answers any more. */
async function settledDigests(asked: Asked): Promise<Map<string, string>> {
	let last = await digests(asked);
	for (let tries = 0; tries < 30; tries++) {
		await pause(1500);
		const next = await digests(asked);
		if (differing(last, next).length === 0) return next;
		last = next;
	}
	throw new Error('the tables do not come to rest');
}

function differing(left: ReadonlyMap<string, string>, right: ReadonlyMap<string, string>): string[] {
	return [...new Set([...left.keys(), ...right.keys()])].filter((name) => left.get(name) !== right.get(name));
}

/** The outcome of the work of a ledger once everything that hurt it is over. */
export interface WorkAftermath {
	verdict: Verdict;
	/** Senders whose next piece of work was not acknowledged. */
	stuck: number;
	resent: number;
	resendAnswered: number;
	/** How often a repeat had no answer in its time and was sent yet again. */
	resentAgain: number;
	tables: number;
	/** Tables that changed when everything was sent again. */
	changedTables: string[];
}

/** Lets each of the senders send once more, compares what was acknowledged with what is stored, and sends all of it again. */
export async function aftermathOfWork(ledger: LedgerClient, asked: Asked, databaseUrl: string, senders: number): Promise<WorkAftermath> {
	const served = new Set<string>();
	const note = ({ sender, answer }: Entry) => {
		if (answer === 'accepted') served.add(sender);
	};
	await ledger.run({ count: 1, signal: AbortSignal.timeout(60_000), answered: note });
	const stuck = senders - served.size;
	console.log('comparing what was acknowledged with what is stored');
	const first = await settledDigests(asked);
	const verdict = await ledger.verdict(databaseUrl);
	console.log('sending all of it again');
	const { sent: resent, answered: resendAnswered, again: resentAgain } = await ledger.resend();
	const second = await settledDigests(asked);
	return { verdict, stuck, resent, resendAnswered, resentAgain, tables: first.size, changedTables: differing(first, second) };
}

/** Everything of it that must not be; empty when all held. */
export function failuresOfWork({ verdict, stuck, resent, resendAnswered, changedTables }: WorkAftermath): string[] {
	const { lost, repeated, disordered, contradicted, unknown } = verdict;
	const listed = Object.entries({ lost, repeated, disordered, contradicted, unknown })
		.filter(([, keys]) => keys.length > 0)
		.map(([kind, keys]) => `${keys.length} ${kind}: ${keys.slice(0, 5).join(', ')}`);
	if (stuck > 0) listed.push(`${stuck} senders were not answered any more`);
	if (resendAnswered < resent) listed.push(`${resent - resendAnswered} of ${resent} repeats were not answered`);
	if (changedTables.length > 0) listed.push(`repeats changed ${changedTables.join(', ')}`);
	return listed;
}

/** The figures of a result that are about the work. */
export function figuresOfWork({ verdict, stuck, resent, resentAgain, tables, changedTables }: WorkAftermath) {
	const { sent, acknowledged, stored, lost, repeated, disordered, contradicted, unknown } = verdict;
	return {
		...{ sent, acknowledged, stored, lost: lost.length, doubled: repeated.length, disordered: disordered.length },
		...{ contradicted: contradicted.length, unknown: unknown.length, stuck },
		...{ resent, resentAgain, tables, changedTables: changedTables.length },
	};
}

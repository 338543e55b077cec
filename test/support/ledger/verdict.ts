/** A sender was told this of a piece of work. Nothing was said when the connection ended, or the service could not store. */
export type Answer = 'accepted' | 'refused' | 'none';

/** One line of the ledger: a sender's work, in the order in which it was sent. */
export interface Entry {
	sender: string;
	/** It names the work among all others, in what is sent and in what is stored. */
	key: string;
	/** The last answer; work that was sent again has one line. */
	answer: Answer;
}

/** Work as it was found afterwards. */
export interface StoredWork {
	key: string;
	/** The place among what the sender's site stored: a greater one was stored later. */
	position: bigint;
}

export interface Verdict {
	sent: number;
	acknowledged: number;
	stored: number;
	/** Acknowledged and not stored: lost. */
	lost: string[];
	/** Stored more than once. */
	repeated: string[];
	/** Stored before work that the same sender had sent, and had acknowledged, earlier. */
	disordered: string[];
	/** Stored though it was refused. */
	contradicted: string[];
	/** Stored, and sent by nobody. */
	unknown: string[];
}

/**
 * Compares what senders were told with what is stored: all that was acknowledged is there, once, and in the order of its sender. What was
 * not answered may be stored or not.
 */
export function verdictOf(entries: readonly Entry[], stored: readonly StoredWork[]): Verdict {
	const positions = new Map<string, bigint>();
	const repeated: string[] = [];
	for (const { key, position } of stored) {
		if (positions.has(key)) repeated.push(key);
		else positions.set(key, position);
	}
	const lost: string[] = [];
	const disordered: string[] = [];
	const contradicted: string[] = [];
	const lastOf = new Map<string, bigint>();
	const sent = new Set<string>();
	for (const { sender, key, answer } of entries) {
		sent.add(key);
		const position = positions.get(key);
		if (answer === 'refused' && position !== undefined) contradicted.push(key);
		if (answer !== 'accepted') continue;
		if (position === undefined) {
			lost.push(key);
			continue;
		}
		const last = lastOf.get(sender);
		if (last !== undefined && position <= last) disordered.push(key);
		else lastOf.set(sender, position);
	}
	const unknown = [...positions.keys()].filter((key) => !sent.has(key));
	const acknowledged = entries.filter(({ answer }) => answer === 'accepted').length;
	return { sent: entries.length, acknowledged, stored: positions.size, lost, repeated, disordered, contradicted, unknown };
}

/** Undefined when all is as acknowledged; else how much is not, with the first of each kind. */
export function faultOf({ lost, repeated, disordered, contradicted, unknown }: Verdict): string | undefined {
	const found = Object.entries({ lost, repeated, disordered, contradicted, unknown }).filter(([, keys]) => keys.length > 0);
	if (found.length === 0) return undefined;
	return found.map(([kind, keys]) => `${keys.length} ${kind} (${keys[0]})`).join(', ');
}

import pg from 'pg';
import { eventually } from '../eventually.ts';
import { insertSites } from '../many-sites.ts';
import type { LedgerSite, Sender, Way } from './sender.ts';
import { type SenderKind, senders } from './senders.ts';
import { storedWork } from './stored.ts';
import { type Entry, type Verdict, verdictOf } from './verdict.ts';

const usualKinds: readonly SenderKind[] = ['mllp', 'hl7', 'fhir', 'dimse'];

/** Sites for ledger clients, each with a key, an address and an AE title; the service knows them within a second. */
export async function ledgerSites(databaseUrl: string, count: number): Promise<LedgerSite[]> {
	const sites = await insertSites(databaseUrl, count);
	return withClient(databaseUrl, async (client) => {
		const titled = sites.map((site, index) => ({ ...site, aeTitle: `LEDGER${index}` }));
		for (const { id, aeTitle } of titled) await client.query('update site set ae_title = $2 where id = $1', [id, aeTitle]);
		await client.query('update access_version set version = version + 1');
		return titled;
	});
}

async function withClient<T>(databaseUrl: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
	const client = new pg.Client({ connectionString: databaseUrl });
	await client.connect();
	try {
		return await use(client);
	} finally {
		await client.end();
	}
}

/** Senders may do this until they are stopped. */
export interface Run {
	/** Pieces of work of each sender, or batches. */
	count?: number;
	/** Work without an answer is sent again after so long, where that is applied once. */
	pauseMs?: number;
	/** From then on nothing is begun, and nothing is sent again. */
	signal?: AbortSignal;
	/** A sender begins a piece of work, or a batch, each so many milliseconds, if the one before is answered. */
	everyMs?: number;
	/** A sender takes another connection after so many pieces of work, or batches. */
	renewedAfter?: number;
	/** Told of every answer before its sender goes on. */
	answered?: (entry: Entry) => void;
}

/** The work of a kind is named by UIDs where DICOM asks for that: a hundred images are a study. */
const uidArcs: Partial<Record<SenderKind, number>> = { dimse: 77, stow: 78, mpps: 79, 'mpps-dimse': 80 };

interface Own {
	sender: Sender;
	keyOf: (number: number) => string;
	next: number;
	entries: NumberedEntry[];
}

interface NumberedEntry extends Entry {
	number: number;
}

/**
 * Senders of many sites, one of each kind a site, over the real sockets. Each sends unique, numbered work, one after the other, and writes down
 * what it was told. `verdict` compares that with what is stored.
 */
export class LedgerClient {
	readonly entries: Entry[] = [];
	/** Answers so far, and tries that had none. */
	readonly counts = { accepted: 0, refused: 0, unanswered: 0 };
	readonly #acceptedBy = new Map<string, number>();
	readonly #sites: readonly LedgerSite[];
	readonly #owns: readonly Own[];

	constructor(sites: readonly LedgerSite[], way: Way, wanted: readonly SenderKind[] = usualKinds) {
		this.#sites = sites;
		this.#owns = sites.flatMap((site, index) =>
			wanted.map((kind): Own => {
				const name = `${kind}-${index}`;
				const arc = uidArcs[kind];
				const keyOf = (number: number) =>
					arc === undefined ? `${name}-${number}` : `1.2.826.0.1.3680043.9.${arc}.${index}.${Math.floor(number / 100)}.${number}`;
				return { sender: senders[kind]({ name, site, way }), keyOf, next: 1, entries: [] };
			}),
		);
	}

	/** Resolves when each sender was acknowledged something more: what any of them had under way is answered then. Only while they run. */
	async eachAcknowledged(): Promise<void> {
		const before = new Map(this.#acceptedBy);
		const waiting = () => this.#owns.filter(({ sender: { name } }) => this.#acceptedBy.get(name) === before.get(name));
		await eventually(() => waiting().length === 0, 'an acknowledgement for each sender').catch((error: Error) => {
			throw new Error(`${error.message}: ${waiting().map(({ sender: { name } }) => name)}`);
		});
	}

	/** All senders at once, until each has sent its number or the signal comes. May be called again. */
	async run(given: Run): Promise<void> {
		await Promise.all(this.#owns.map((own) => this.#runOne(own, given)));
	}

	async #runOne(
		own: Own,
		{ count = Number.POSITIVE_INFINITY, pauseMs = 200, signal, everyMs = 0, renewedAfter, answered }: Run,
	): Promise<void> {
		const { sender } = own;
		const startedMs = performance.now() + Math.random() * everyMs;
		try {
			for (let done = 0; done < count && !signal?.aborted; done++) {
				const earlyMs = startedMs + done * everyMs - performance.now();
				if (earlyMs > 0) await new Promise((resolve) => setTimeout(resolve, earlyMs));
				if (renewedAfter !== undefined && done > 0 && done % renewedAfter === 0) sender.close();
				const entries = Array.from({ length: sender.batch?.size ?? 1 }, (): NumberedEntry => {
					const number = own.next++;
					return { sender: sender.name, key: own.keyOf(number), answer: 'none', number };
				});
				own.entries.push(...entries);
				this.entries.push(...entries);
				for (let tries = 0; ; tries++) {
					await ask(sender, entries, tries > 0);
					const unanswered = entries.filter(({ answer }) => answer === 'none').length;
					if (unanswered === 0) break;
					this.counts.unanswered += unanswered;
					if (signal?.aborted) break;
					await new Promise((resolve) => setTimeout(resolve, pauseMs));
					if (!sender.mayRepeat) break;
				}
				for (const entry of entries) {
					if (entry.answer !== 'none') this.counts[entry.answer]++;
					if (entry.answer === 'accepted') this.#acceptedBy.set(sender.name, (this.#acceptedBy.get(sender.name) ?? 0) + 1);
					answered?.(entry);
				}
			}
		} finally {
			sender.close();
		}
	}

	/** Sends again what was acknowledged and may be repeated; answers how much that was, and how much of it was answered. */
	async resend(signal?: AbortSignal): Promise<Resent> {
		const counts = { sent: 0, answered: 0, again: 0 };
		await Promise.all(
			this.#owns.map(async ({ sender, entries }) => {
				if (!sender.mayRepeat) return;
				const accepted = entries.filter(({ answer }) => answer === 'accepted');
				const size = sender.batch?.size ?? 1;
				for (let from = 0; from < accepted.length && !signal?.aborted; from += size) {
					const repeats = accepted.slice(from, from + size).map((entry): NumberedEntry => ({ ...entry, answer: 'none' }));
					counts.sent += repeats.length;
					let left = repeats;
					for (let time = 0; time < timesMax && left.length > 0; time++) {
						if (time > 0) counts.again += left.length;
						await ask(sender, left, true);
						left = left.filter(({ answer }) => answer === 'none');
					}
					counts.answered += repeats.length - left.length;
				}
				sender.close();
			}),
		);
		return counts;
	}

	/** Call it when the service has settled. */
	async verdict(databaseUrl: string): Promise<Verdict> {
		const stored = await withClient(databaseUrl, (client) =>
			storedWork(
				client,
				this.#sites.map(({ id }) => id),
			),
		);
		return verdictOf(this.entries, stored);
	}
}

/** A sender that has no answer in its time sends again. */
const timesMax = 5;

/** It counts the pieces that were sent once more, those of them that were answered, and how often one had to be sent yet again for that. */
export interface Resent {
	sent: number;
	answered: number;
	again: number;
}

/** Sends work, and writes down what was answered; what was accepted before stays so. */
async function ask(sender: Sender, entries: readonly NumberedEntry[], isRepeat: boolean): Promise<void> {
	try {
		const answers = sender.batch
			? await sender.batch.send(entries)
			: await Promise.all(entries.map(({ key, number }) => sender.send(key, number, isRepeat)));
		for (const [index, entry] of entries.entries()) if (entry.answer !== 'accepted') entry.answer = answers[index] ?? 'none';
	} catch {
		// The connection was refused, or ended without an answer.
	}
}

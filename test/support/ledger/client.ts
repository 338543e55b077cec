import pg from 'pg';
import { insertSites } from '../many-sites.ts';
import { type LedgerSite, type Port, type Sender, type SenderKind, senderOf } from './senders.ts';
import { type Answer, type Entry, type StoredWork, type Verdict, verdictOf } from './verdict.ts';

const kinds: readonly SenderKind[] = ['mllp', 'hl7', 'fhir', 'dimse'];

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
	/** Pieces of work of each sender. */
	count?: number;
	/** Work without an answer is sent again after so long, where that is applied once. */
	pauseMs?: number;
	/** From then on nothing is begun, and nothing is sent again. */
	signal?: AbortSignal;
}

/**
 * Senders of many sites, one of each kind a site, over the real sockets. Each sends unique, numbered work, one after the other, and writes down
 * what it was told. `verdict` compares that with what is stored.
 */
export class LedgerClient {
	readonly entries: Entry[] = [];
	readonly #sites: readonly LedgerSite[];
	readonly #senders: readonly { sender: Sender; keyOf: (number: number) => string }[];
	readonly #next: number[];

	constructor(sites: readonly LedgerSite[], port: Port, wanted: readonly SenderKind[] = kinds) {
		this.#sites = sites;
		this.#senders = sites.flatMap((site, index) =>
			wanted.map((kind) => {
				const name = `${kind}-${index}`;
				const keyOf =
					kind === 'dimse'
						? (number: number) => `1.2.826.0.1.3680043.9.77.${index}.${Math.floor(number / 100)}.${number}`
						: (number: number) => `${name}-${number}`;
				return { sender: senderOf(kind, name, site, port), keyOf };
			}),
		);
		this.#next = this.#senders.map(() => 1);
	}

	/** All senders at once, until each has sent its number or the signal comes. May be called again. */
	async run(given: Run): Promise<void> {
		await Promise.all(this.#senders.map((_, index) => this.#runOne(index, given)));
	}

	async #runOne(index: number, { count = Number.POSITIVE_INFINITY, pauseMs = 200, signal }: Run): Promise<void> {
		const own = this.#senders[index];
		if (own === undefined) return;
		const { sender, keyOf } = own;
		try {
			for (let done = 0; done < count && !signal?.aborted; done++) {
				const number = this.#next[index] ?? 1;
				this.#next[index] = number + 1;
				const key = keyOf(number);
				const entry: Entry = { sender: sender.name, key, answer: 'none' };
				this.entries.push(entry);
				for (;;) {
					entry.answer = await answerOf(sender, key, number);
					if (entry.answer !== 'none' || signal?.aborted) break;
					await new Promise((resolve) => setTimeout(resolve, pauseMs));
					if (!sender.mayRepeat) break;
				}
			}
		} finally {
			sender.close();
		}
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

async function answerOf(sender: Sender, key: string, number: number): Promise<Answer> {
	try {
		return await sender.send(key, number);
	} catch {
		// The connection was refused, or ended without an answer.
		return 'none';
	}
}

/**
 * The work of ledger clients as it is found: results by their report and their line in the message log, patients, instances. A time stands for
 * the place of what has no sequence: a sender waits for each answer, so its work comes in different transactions.
 */
async function storedWork(client: pg.Client, sites: readonly string[]): Promise<StoredWork[]> {
	const { rows } = await client.query<{ key: string; position: string }>(
		`select report.filler_number as key, log.sequence as position
		   from diagnostic_report report
		   left join message_log log on log.site_id = report.site_id and log.control_id = report.filler_number and log.outcome = 'accepted'
		  where report.site_id = any($1::uuid[])
		 union all
		 select identifier.value, (extract(epoch from patient.last_updated) * 1000000)::bigint
		   from patient join patient_identifier identifier on identifier.site_id = patient.site_id and identifier.patient_id = patient.id
		  where patient.site_id = any($1::uuid[]) and identifier.system = 'urn:ledger'
		 union all
		 select sop_instance_uid, (extract(epoch from stored_at) * 1000000)::bigint from imaging_instance where site_id = any($1::uuid[])`,
		[sites],
	);
	return rows.map(({ key, position }) => ({ key, position: BigInt(position ?? 0) }));
}

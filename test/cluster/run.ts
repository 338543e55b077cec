/**
 * Senders of many sites work through HAProxy while parts of a cluster are killed, cut off and rolled; then what was acknowledged is compared with
 * what is stored, and sent again: `npm run test:cluster -- [options]`.
 *
 *   --sites <n>     sites, each with a sender of every kind (4)
 *   --rounds <n>    how often each strike happens (1)
 *   --only <text>   only the strikes whose name has this text
 *   --keep          keeps the result for docs/trust.md
 *
 * The cluster is that of ops/cluster, all of it on this machine. The result is written to test/trust/build/cluster.json too. Exit code 3: a cluster
 * cannot be started here, for the reason that is printed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { eventually } from '#test/support/eventually.ts';
import { LedgerClient, ledgerSites } from '#test/support/ledger/client.ts';
import { type SenderKind, senders } from '#test/support/ledger/senders.ts';
import { circumstances, conclude, type ProofResult } from '#test/trust/results.ts';
import { aftermathOfWork, failuresOfWork, figuresOfWork } from '#test/trust/work-aftermath.ts';
import { Cluster, type ClusterSurface, clusterImpossible } from '../../ops/cluster/cluster.ts';
import { type Strike, strikes } from './strikes.ts';

const { values: options } = parseArgs({
	options: {
		sites: { type: 'string', default: '4' },
		rounds: { type: 'string', default: '1' },
		only: { type: 'string', default: '' },
		keep: { type: 'boolean', default: false },
	},
});
const sites = Number(options.sites);
const rounds = Number(options.rounds);

/** TLS ends at a port of its own, which HAProxy passes on like the plain one. */
const kinds = (Object.keys(senders) as SenderKind[]).filter((kind) => kind !== 'mllp-tls');
const sendersCount = sites * kinds.length;

const impossible = clusterImpossible();
if (impossible !== undefined) {
	console.log(`skipped: ${impossible}`);
	process.exit(3);
}

interface Row {
	name: string;
	/** The longest time in which nobody was acknowledged. */
	gapMs: number;
	/** Tries that ended without an answer. Senders sent that work again. */
	inDoubt: number;
	refused: number;
}

async function struck(
	cluster: Cluster,
	ledger: LedgerClient,
	{ name, mayPassUnnoticed, strike, mend }: Strike,
	failures: string[],
): Promise<Row> {
	const { accepted, unanswered, refused } = ledger.counts;
	const gap = new Gap(ledger);
	const step = async (done: Promise<void>) => {
		try {
			await done;
		} catch (error) {
			failures.push(`${name}: ${(error as Error).message}`);
		}
	};
	await step(strike(cluster));
	await step(mend(cluster));
	await step(ledger.eachAcknowledged());
	const row = { name, gapMs: gap.end(), inDoubt: ledger.counts.unanswered - unanswered, refused: ledger.counts.refused - refused };
	const done = ledger.counts.accepted - accepted;
	console.log(`${name}: ${done} acknowledged, ${row.inDoubt} without an answer, none for ${row.gapMs} ms at the longest`);
	if (row.refused > 0) failures.push(`${name}: ${row.refused} pieces of sound work were refused`);
	if (row.inDoubt === 0 && row.gapMs < 500 && mayPassUnnoticed !== true) failures.push(`${name}: nobody noticed it`);
	return row;
}

/** Finds the longest time in which nobody was acknowledged. */
class Gap {
	#longestMs = 0;
	#lastMs = performance.now();
	#last: number;
	readonly #ledger: LedgerClient;
	readonly #timer: NodeJS.Timeout;

	constructor(ledger: LedgerClient) {
		this.#ledger = ledger;
		this.#last = ledger.counts.accepted;
		this.#timer = setInterval(() => this.#look(), 20);
	}

	#look(): void {
		const { accepted } = this.#ledger.counts;
		const nowMs = performance.now();
		this.#longestMs = Math.max(this.#longestMs, nowMs - this.#lastMs);
		if (accepted === this.#last) return;
		this.#last = accepted;
		this.#lastMs = nowMs;
	}

	end(): number {
		clearInterval(this.#timer);
		return Math.round(this.#longestMs);
	}
}

const startedMs = Date.now();
const cluster = await Cluster.start({ nodes: 3, told: (line) => console.log(line) });
try {
	console.log(`PgBouncer ${cluster.pooling.version}, pooling=${cluster.pooling.pooling}; logs in ${cluster.folder}`);
	const given = await ledgerSites(cluster.databaseUrl, sites);
	await pause(1500);
	const way = { port: (surface: string) => cluster.ports[surface as ClusterSurface], answerMsMax: 20_000 };
	const ledger = new LedgerClient(given, way, kinds);
	const over = new AbortController();
	const work = ledger.run({ signal: over.signal });
	await eventually(() => ledger.counts.accepted >= 2 * sendersCount, 'the first acknowledgements');
	const failures: string[] = [];
	const rows: Row[] = [];
	const wanted = strikes.filter(({ name }) => name.includes(options.only));
	for (let round = 0; round < rounds; round++) for (const strike of wanted) rows.push(await struck(cluster, ledger, strike, failures));
	over.abort();
	await work;

	const seen = await aftermathOfWork(ledger, cluster, cluster.databaseUrl, sendersCount);
	failures.push(...failuresOfWork(seen));
	const result: ProofResult = {
		proof: 'cluster',
		...circumstances(startedMs, `npm run test:cluster -- --sites ${sites} --rounds ${rounds}`),
		seed: null,
		passed: failures.length === 0,
		failures,
		figures: { sites, senders: sendersCount, strikes: rows.length, inDoubt: ledger.counts.unanswered, ...figuresOfWork(seen) },
		table: {
			head: ['strike', 'without an answer', 'longest gap ms'],
			rows: rows.map(({ name, inDoubt, gapMs }) => [name, inDoubt, gapMs]),
		},
		skipped: [],
	};
	conclude(result, options);
} finally {
	await cluster[Symbol.asyncDispose]();
}

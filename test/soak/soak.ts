import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { parseApiKey } from '#access/api-key.ts';
import { newId } from '#core/id.ts';
import { readRuntimeFile } from '#storage/runtime-file.ts';
import { type LedgerClient, ledgerSites } from '#test/support/ledger/client.ts';
import { insertKey } from '#test/support/ledger/keys.ts';
import type { LedgerSite } from '#test/support/ledger/sender.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { descriptorsOf, processesOf, residentOf } from '#test/trust/process-figures.ts';

/** Each figure that is watched, of each process or of the database, and by how much it may rise over the second half of a run that is judged. */
export const measures = {
	'resident MB': 48,
	descriptors: 16,
	'event loop p99 ms': 25,
	'dead rows per 100 live ones': 20,
	'database connections': 4,
} as const;

export type Measure = keyof typeof measures;

/** The values of one figure, over the seconds of the run. */
interface Watched {
	measure: Measure;
	points: [second: number, value: number][];
}

/** A service with sites, of which something is always coming and going. */
export class Soak implements AsyncDisposable {
	readonly service: ServiceProcess;
	/** The name of each figure also names its process if there are several. */
	readonly samples = new Map<string, Watched>();
	readonly churned = { strangers: 0, keys: 0, clients: 0 };
	#database: pg.Client | undefined;
	sites: LedgerSite[] = [];

	constructor(processes: number) {
		this.service = new ServiceProcess({ LOG_LEVEL: 'warn', PROCESSES: String(processes) });
	}

	/** Every process of the service by its name: those that do the work, and their parent. */
	get processes(): ReadonlyMap<string, number> {
		const { members, parent } = processesOf(this.service.dataDir);
		if (parent === undefined) return new Map(members.map((pid) => ['', pid]));
		return new Map([...members.map((pid, index) => [` of process ${index}`, pid] as const), [' of the parent', parent]]);
	}

	get databaseUrl(): string {
		return readRuntimeFile(this.service.dataDir)?.databaseUrl ?? '';
	}

	async open(sites: number): Promise<void> {
		await this.service.start();
		this.sites = await ledgerSites(this.databaseUrl, sites);
		this.#database = new pg.Client({ connectionString: this.databaseUrl });
		await this.#database.connect();
		await pause(1500);
	}

	async #rows<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
		if (this.#database === undefined) throw new Error('the database is not open');
		return (await this.#database.query<T>(text, values)).rows;
	}

	/** Pieces of work a second, without a pause between them. */
	async maximum(ledger: LedgerClient, ms: number): Promise<number> {
		const before = ledger.counts.accepted;
		await ledger.run({ signal: AbortSignal.timeout(Math.round(ms)) });
		return ((ledger.counts.accepted - before) / ms) * 1000;
	}

	async sample(second: number): Promise<void> {
		const [counts] = await this.#rows<{ dead: string; live: string; connections: string }>(
			`select (select sum(n_dead_tup) from pg_stat_user_tables) as dead, (select sum(n_live_tup) from pg_stat_user_tables) as live,
			        (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections`,
		);
		const metrics = await (await fetch(`http://127.0.0.1:${this.service.port('ops')}/metrics`)).text();
		const lags = [...metrics.matchAll(/^nodejs_eventloop_lag_p99_seconds(?:\{process="(\d+)"\})? (\S+)/gm)];
		if (counts === undefined || lags.length === 0) throw new Error('there is nothing to sample');
		const note = (measure: Measure, value: number, of = '') => {
			const name = `${measure}${of}`;
			const watched = this.samples.get(name) ?? { measure, points: [] };
			watched.points.push([second, value]);
			this.samples.set(name, watched);
		};
		for (const [of, pid] of this.processes) {
			const { sockets, files, others } = descriptorsOf([pid]);
			note('resident MB', residentOf(pid).now, of);
			note('descriptors', sockets + files + others, of);
		}
		for (const [, place, lag] of lags) note('event loop p99 ms', Number(lag) * 1000, place === undefined ? '' : ` of process ${place}`);
		note('dead rows per 100 live ones', (100 * Number(counts.dead)) / Math.max(1, Number(counts.live)));
		note('database connections', Number(counts.connections));
	}

	/** Each second strangers connect, begin something and go. Every fifth one a site gets another key, and a client of it comes and goes. */
	async churn(second: number): Promise<void> {
		for (const surface of ['mllp', 'hl7', 'fhir', 'mpps', 'dimse', 'admin']) this.#stranger(surface, second);
		const site = this.sites[(second / 5) % this.sites.length];
		if (site === undefined) return;
		const client = newId();
		await this.#rows(
			`insert into integration_client (site_id, id, name, protocols, allowed_ips) values ($1, $2, 'passing', '{hl7-mllp}', array[$3])`,
			[site.id, client, `127.9.${second % 250}.1`],
		);
		const { key } = await insertKey((text, values) => this.#rows(text, values), site.id);
		await pause(1500);
		const old = parseApiKey(site.key)?.id;
		site.key = key;
		await this.#rows('update api_key set revoked_at = now() where id = $1', [old]);
		await this.#rows('delete from integration_client where site_id = $1 and id = $2', [site.id, client]);
		await this.#rows('update access_version set version = version + 1');
		this.churned.keys++;
		this.churned.clients++;
	}

	#stranger(surface: string, second: number): void {
		const socket = connect(this.service.port(surface), '127.0.0.1');
		socket.on('error', () => undefined);
		socket.once('connect', () => {
			socket.write(second % 2 === 0 ? 'MSH|' : 'POST / HTTP/1.1\r\n');
			setTimeout(() => {
				if (second % 3 === 0) socket.resetAndDestroy();
				else socket.destroy();
			}, 700);
		});
		this.churned.strangers++;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#database?.end();
		await this.service[Symbol.asyncDispose]();
	}
}

import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Bed } from '../bed.ts';
import { type Fault, growth } from './definition.ts';

const tables = ['diagnostic_report', 'patient', 'observation', 'mpps_session', 'imaging_instance', 'resource_history'];

/**
 * Statements of these tables fail with a SQLSTATE, in a share of cases. A sequence counts them: it goes on where the transaction is given up.
 * 57P01 is the end of the connection itself, as when an administrator ends it.
 */
export async function prepareFailures(bed: Bed): Promise<void> {
	await bed.rows(`
		create schema fault;
		create sequence fault.bites;
		create table fault.wanted (state text not null, share float8 not null);
		create function fault.fail() returns trigger language plpgsql as $$
		declare
			wanted record;
		begin
			for wanted in select state, share from fault.wanted loop
				if random() < wanted.share then
					perform nextval('fault.bites');
					if wanted.state = '57P01' then
						perform pg_terminate_backend(pg_backend_pid());
					else
						raise exception 'a fault was wanted' using errcode = wanted.state;
					end if;
				end if;
			end loop;
			return null;
		end $$;
		${tables.map((table) => `create trigger fault before insert on ${table} for each statement execute function fault.fail();`).join('\n')}
	`);
}

function failing(state: string, what: string): Fault {
	return {
		name: `SQLSTATE ${state} (${what})`,
		mayRefuse: state === '54000',
		strike: (bed, chance) =>
			growth(
				() => bed.states.get(state) ?? 0,
				async () => {
					await bed.rows('insert into fault.wanted values ($1, $2)', [state, chance.between(0.1, 0.4)]);
					try {
						await pause(chance.between(800, 1600));
					} finally {
						await bed.rows('delete from fault.wanted');
					}
				},
			),
	};
}

/** Opens connections until the server has none left. */
async function takeAll(bed: Bed, held: pg.Client[]): Promise<void> {
	for (;;) {
		const client = new pg.Client({ connectionString: bed.databaseUrl, connectionTimeoutMillis: 5000 });
		client.on('error', () => undefined);
		try {
			await client.connect();
		} catch {
			return;
		}
		held.push(client);
	}
}

export const databaseFaults: readonly Fault[] = [
	failing('40001', 'serialization failure'),
	failing('40P01', 'deadlock'),
	failing('53300', 'too many connections'),
	failing('57P01', 'ended by an administrator'),
	failing('54000', 'program limit'),
	{
		name: 'connections taken away',
		strike: (bed, chance) =>
			growth(
				() => bed.states.get('53300') ?? 0,
				async () => {
					const held: pg.Client[] = [];
					try {
						await takeAll(bed, held);
						// Their places are taken by whoever comes first.
						const own = held.map((client) => (client as pg.Client & { processID: number }).processID);
						await held[0]?.query(
							"select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> all($1::int[])",
							[own],
						);
						await takeAll(bed, held);
						await pause(chance.between(1500, 3000));
					} finally {
						await Promise.all(held.map((client) => client.end().catch(() => undefined)));
					}
				},
			),
	},
	{
		name: 'disk full',
		impossible: ({ disk }) => (disk === undefined ? 'only root may mount a file system' : undefined),
		strike: (bed, chance) =>
			growth(
				() => (bed.states.get('53100') ?? 0) + bed.ledger.counts.unanswered,
				async () => {
					bed.disk?.fill();
					try {
						await pause(chance.between(1500, 3000));
					} finally {
						bed.disk?.release();
					}
				},
			),
	},
];

/**
 * The processor time of PostgreSQL for reads and batches with and without row-level security as a second wall, in turns:
 * `node --import tsx bench/micro/row-level-security.ts [rounds]`. docs/decisions/0057-row-level-security.md has the figures.
 *
 * `kept`: the policies alone, the sites of a connection stated once. `each`: the sites stated with every read or batch, as connections that serve many
 * sites would have to.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedDatabase } from '#storage/embedded/embedded-database.ts';
import { migrate } from '#storage/migrate.ts';
import { median } from '../suite/options.ts';

const site = '0199c0de-0000-7000-8000-00000000aaaa';
const patients = 20_000;
const observations = 100_000;
const tables = ['patient', 'patient_identifier', 'observation', 'resource_history'];
const arms = ['off', 'kept', 'each'] as const;
type Arm = (typeof arms)[number];

const patientId = (number: number) => `00000000-0000-7000-8000-${String((number % patients) + 1).padStart(12, '0')}`;

async function fill(admin: pg.Client): Promise<void> {
	const id = (group: string, number: string) => `('00000000-0000-7000-${group}-' || lpad((${number})::text, 12, '0'))::uuid`;
	await admin.query(`
		create role application login;
		grant usage on schema public to application;
		grant select, insert, update, delete on all tables in schema public to application;
		insert into patient (site_id, id, version, last_updated, resource, name)
			select '${site}', ${id('8000', 'n')}, 1, now(), repeat('x', 400), 'name' || n from generate_series(1, ${patients}) n;
		insert into patient_identifier (site_id, value, system, patient_id, old, rank)
			select '${site}', 'P' || n, 'urn:mrn', ${id('8000', 'n')}, false, 0 from generate_series(1, ${patients}) n;
		insert into observation (site_id, id, version, last_updated, resource, patient_id, status)
			select '${site}', ${id('8001', 'n')}, 1, now(), repeat('o', 500), ${id('8000', `n % ${patients} + 1`)}, 'final' from generate_series(1, ${observations}) n;
	`);
	await admin.query('vacuum analyze');
	const isOwn = "site_id = any (current_setting('tributary.sites')::uuid[])";
	for (const table of tables)
		await admin.query(`create policy own_sites on ${table} to application using (${isOwn}) with check (${isOwn})`);
}

type Work = [count: number, does: (client: pg.Client, number: number) => Promise<unknown>];

function keyed(name: string, text: string, second: (number: number) => string): Work {
	return [3000, (client, number) => client.query({ name, text, values: [site, second(number)], rowMode: 'array' })];
}

let written = 0;

/** As a batch of 32 results does it: what they name is read with one statement a table, and so it is written. */
async function batch(client: pg.Client): Promise<void> {
	const ids = Array.from({ length: 32 }, () => `01000000-0000-7000-8002-${String(++written).padStart(12, '0')}`);
	const [sites, texts] = [ids.map(() => site), ids.map(() => 'o'.repeat(500))];
	await client.query('begin');
	await client.query({
		name: 'read set',
		text: `select p.id, p.version, p.resource from unnest($1::uuid[], $2::text[]) k (site_id, value)
			join patient_identifier i on i.site_id = k.site_id and i.value = k.value join patient p on p.site_id = i.site_id and p.id = i.patient_id`,
		values: [sites, ids.map((_, index) => `P${((written + index) % patients) + 1}`)],
	});
	await client.query({
		name: 'write observations',
		text: `insert into observation (site_id, id, version, last_updated, resource, patient_id, status)
			select s, i, 1, now(), r, p, 'final' from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[]) as t (s, i, r, p)`,
		values: [sites, ids, texts, ids.map((_, index) => patientId(written + index))],
	});
	await client.query({
		name: 'write history',
		text: `insert into resource_history (site_id, resource_type, id, version, last_updated, resource)
			select s, 'Observation', i, 1, now(), r from unnest($1::uuid[], $2::uuid[], $3::text[]) as t (s, i, r)`,
		values: [sites, ids, texts],
	});
	await client.query('commit');
}

const works: Record<string, Work> = {
	'read by id': keyed('read', 'select resource, version from patient where site_id = $1 and id = $2', patientId),
	'patient by identifier': keyed(
		'identifier',
		'select p.resource from patient_identifier i join patient p on p.site_id = i.site_id and p.id = i.patient_id where i.site_id = $1 and i.value = $2',
		(number) => `P${(number % patients) + 1}`,
	),
	'observations of a patient': keyed(
		'observations',
		'select id, resource from observation where site_id = $1 and patient_id = $2 order by last_updated, id limit 50',
		patientId,
	),
	'batch of 32': [40, batch],
};

/** Microseconds of the backend for one piece of work. */
async function measured(client: pg.Client, pid: number, arm: Arm, [count, does]: Work): Promise<number> {
	const cpuMs = () => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
	// The plans are made anew after the policies have changed.
	for (let number = 0; number < 6; number++) await does(client, number);
	const before = cpuMs();
	for (let number = 0; number < count; number++) {
		if (arm === 'each')
			await client.query({ name: 'sites', text: "select set_config('tributary.sites', $1, false)", values: [`{${site}}`] });
		await does(client, number * 7);
	}
	return ((cpuMs() - before) / count) * 1000;
}

async function compare(admin: pg.Client, client: pg.Client, rounds: number): Promise<void> {
	const [row] = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows;
	await client.query("select set_config('tributary.sites', $1, false)", [`{${site}}`]);
	const taken = new Map(Object.keys(works).map((name) => [name, new Map(arms.map((arm): [Arm, number[]] => [arm, []]))]));
	for (let round = 0; round < rounds; round++) {
		for (const arm of round % 2 === 0 ? arms : [...arms].reverse()) {
			for (const table of tables) await admin.query(`alter table ${table} ${arm === 'off' ? 'disable' : 'enable'} row level security`);
			for (const [name, work] of Object.entries(works))
				taken
					.get(name)
					?.get(arm)
					?.push(await measured(client, row?.pid ?? 0, arm, work));
		}
	}
	for (const [name, byArm] of taken) {
		const off = byArm.get('off') ?? [];
		const told = [...byArm].map(([arm, list]) => {
			const ratio = median(list.map((value, index) => value / (off[index] ?? value)));
			return `${arm} ${median(list).toFixed(0)} µs (${((ratio - 1) * 100).toFixed(1)} %)`;
		});
		console.log(`${name}: ${told.join(', ')}`);
	}
}

const dataDir = mkdtempSync(join(tmpdir(), 'tributary-rows-'));
chmodSync(dataDir, 0o755);
const server = await startEmbeddedDatabase({ dataDir, settings: { fsync: 'off', autovacuum: 'off' } });
try {
	await migrate(server.url);
	const admin = new pg.Client({ connectionString: server.url });
	const url = new URL(server.url);
	url.username = 'application';
	const client = new pg.Client({ connectionString: url.href });
	await admin.connect();
	await fill(admin);
	await client.connect();
	await compare(admin, client, Number(process.argv[2] ?? 9));
	await client.end();
	await admin.end();
} finally {
	await server.stop();
	rmSync(dataDir, { recursive: true, force: true });
}

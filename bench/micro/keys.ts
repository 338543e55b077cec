/**
 * Bytes and microseconds of a row: keys as texts against keys as 16-byte digests, and one table against monthly partitions. Writes the
 * rows of ORU messages (order key of 48 characters, item key of 40) to an embedded PostgreSQL with fsync, batch by batch as ingest does,
 * all variants in turn; the median of the rounds counts. `npm run bench -- keys`; KEYS_BENCH_ROUNDS (40) batches for each variant.
 */
import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { newId } from '#core/id.ts';
import { keyedPlans } from '#storage/connection.ts';
import { startEmbeddedDatabase } from '#storage/embedded/embedded-database.ts';
import { migrate } from '#storage/migrate.ts';

const rounds = Number(process.env['KEYS_BENCH_ROUNDS'] ?? 40);
const rowsOfBatch = 128;
const siteId = newId();

interface Variant {
	name: string;
	table: string;
	setup: string;
	insert(batch: number): Promise<unknown>;
	find(batch: number): Promise<unknown>;
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);
const orderOf = (batch: number, row: number) => `urn:oid:1.2.840.113619.19.4|F${String(batch * 1000 + (row >> 2)).padStart(18, '0')}`;
const itemOf = (row: number) => `http://loinc.org|${10_000 + (row & 3)}-7|specimen ${row & 3}|1`.padEnd(40, 'x');
const batchRows = Array.from({ length: rowsOfBatch }, (_, row) => row);
const text = (resource: number) => `{"status":"final","code":{"text":"value ${resource}"},"note":[{"text":"${'x'.repeat(300)}"}]}`;

function observations(client: pg.Client, name: string, type: 'text' | 'uuid'): Variant {
	const table = `observation_${type}`;
	const key = type === 'text' ? (value: string) => value : digest;
	return {
		name,
		table,
		setup: `create table ${table} (site_id uuid not null, id uuid not null, patient_id uuid, order_key ${type}, item_key ${type}, resource text not null,
			primary key (site_id, id)) with (fillfactor = 90, toast_tuple_target = 8160);
			create index on ${table} (site_id, patient_id, id);
			create unique index on ${table} (site_id, order_key, item_key) where order_key is not null`,
		insert: (batch) =>
			client.query({
				name: `insert_${table}`,
				text: `insert into ${table} select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::${type}[], $5::${type}[], $6::text[])`,
				values: [
					batchRows.map(() => siteId),
					batchRows.map(() => newId()),
					batchRows.map((row) => `00000000-0000-0000-0000-${String(row >> 2).padStart(12, '0')}`),
					batchRows.map((row) => key(orderOf(batch, row))),
					batchRows.map((row) => key(itemOf(row))),
					batchRows.map(text),
				],
			}),
		find: (batch) =>
			client.query({
				name: `find_${table}`,
				text: `select o.id, o.order_key, o.item_key from unnest($1::uuid[], $2::${type}[]) as k (site_id, order_key)
					join ${table} o on o.site_id = k.site_id and o.order_key = k.order_key`,
				values: [
					batchRows.filter((row) => row % 4 === 0).map(() => siteId),
					batchRows.filter((row) => row % 4 === 0).map((row) => key(orderOf(batch, row))),
				],
			}),
	};
}

function messages(client: pg.Client, name: string, months: number): Variant {
	const table = `log_${months}`;
	const parted = months > 0;
	const columns = `(like message_log including defaults including constraints including storage including indexes)`;
	const parts = Array.from({ length: months }, (_, index) => index - months + 2).map(
		(month) => `execute format('create table ${table}_${month + 100} partition of ${table} for values from (%s) to (%s)',
			partition_bound('message_log', month_from_now(${month})), partition_bound('message_log', month_from_now(${month + 1})));`,
	);
	const ids: string[][] = [];
	return {
		name,
		table,
		setup: `create table ${table} ${columns}${parted ? ' partition by range (id)' : ''}; do $$ begin ${parts.join('\n')} end $$`,
		insert: (batch) => {
			ids[batch] = batchRows.map(() => newId());
			return client.query({
				name: `insert_${table}`,
				text: `insert into ${table} (site_id, id, sequence, surface, client_id, source, received_at, committed_at, message_type, control_id, outcome, patient, bytes, ack)
					select $1::uuid, k.id, 1, 'mllp', $3::uuid, '10.0.0.1', now(), now(), 'ADT^A08', k.id::text, 'accepted', k.id::text, $4::bytea, $4::bytea
					from unnest($2::uuid[]) as k (id) on conflict (site_id, id) do nothing`,
				values: [siteId, ids[batch], randomUUID(), Buffer.alloc(500, 'x')],
			});
		},
		find: (batch) =>
			client.query({
				name: `find_${table}`,
				text: `select m.ack from unnest($1::uuid[], $2::uuid[]) as k (site_id, id) left join ${table} m on m.site_id = k.site_id and m.id = k.id`,
				values: [batchRows.map(() => siteId), ids[batch]],
			}),
	};
}

async function timed(work: Promise<unknown>): Promise<number> {
	const started = performance.now();
	await work;
	return ((performance.now() - started) * 1000) / rowsOfBatch;
}

const median = (figures: number[]) => figures.sort((one, other) => one - other)[figures.length >> 1] ?? Number.NaN;

export async function run(): Promise<void> {
	const dataDir = mkdtempSync(join(tmpdir(), 'tributary-keys-'));
	chmodSync(dataDir, 0o755);
	const database = await startEmbeddedDatabase({ dataDir });
	const client = new pg.Client({ connectionString: database.url, options: keyedPlans });
	try {
		await migrate(database.url);
		await client.connect();
		const variants = [
			observations(client, 'observation, text keys', 'text'),
			observations(client, 'observation, 16-byte keys', 'uuid'),
			messages(client, 'message log, one table', 0),
			messages(client, 'message log, 3 months', 3),
			messages(client, 'message log, 26 months', 26),
		];
		for (const { setup } of variants) await client.query(setup);
		const figures = variants.map(() => ({ insert: [] as number[], find: [] as number[] }));
		for (let round = 0; round < rounds; round++) {
			// The planner knows the tables as it does after the first autovacuum.
			if (round === 5) await client.query('analyze');
			for (const [index, variant] of variants.entries()) {
				figures[index]?.insert.push(await timed(variant.insert(round)));
				figures[index]?.find.push(await timed(variant.find(round)));
			}
		}
		const count = rounds * rowsOfBatch;
		for (const [index, { name, table }] of variants.entries()) {
			const { rows } = await client.query(
				`select coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 as bytes from pg_class c
				where c.relname = $1 or c.oid in (select inhrelid from pg_inherits where inhparent = $1::regclass)`,
				[table],
			);
			const { insert = [], find = [] } = figures[index] ?? {};
			const bytes = Math.round(rows[0].bytes / count);
			console.log(`${name.padEnd(28)} ${bytes} bytes a row, insert ${median(insert).toFixed(1)} µs, find ${median(find).toFixed(1)} µs`);
		}
	} finally {
		await client.end();
		await database.stop();
		rmSync(dataDir, { recursive: true, force: true });
	}
}

import type { SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import type { Subject } from '../suite/subject.ts';

/** The tables that the messages of the corpus fill. */
const tables = ['message_log', 'accepted_message', 'observation', 'diagnostic_report'];

/**
 * This is the most that PostgreSQL itself takes: the rows that messages brought, into tables of the same shape with the same indexes, in transactions of 64
 * messages each over one connection. Nothing is parsed, looked up or answered, so this is a limit of what any service can reach with such rows.
 */
export async function bareRows({ database }: Subject, recorder: Recorder, options: SuiteOptions): Promise<void> {
	const batchMessages = 64;
	for (const name of tables) {
		await database.query(`drop table if exists bare_${name}`);
		await database.query(`create table bare_${name} (like ${name} including all)`);
	}
	// Rows of a message have the time of its transaction; the numbers here deal the rows of a sample out to batches.
	const { rows } = await database.query<{ messages: string }>("select count(*) as messages from message_log where outcome = 'accepted'");
	const messages = Math.min(Number(rows[0]?.messages ?? 0), options.isQuick ? 640 : 12_800);
	const batches = Math.floor(messages / batchMessages);
	for (const name of tables) {
		const { rows: counted } = await database.query<{ rows: string }>(`select count(*) as rows from ${name}`);
		const perBatch = Math.max(1, Math.round((Number(counted[0]?.rows ?? 0) / Number(rows[0]?.messages ?? 1)) * batchMessages));
		await database.query(
			`create temporary table sample_${name} as select (row_number() over () - 1) / ${perBatch} as batch, row.* from (select * from ${name} limit ${perBatch * batches}) row`,
		);
		await database.query(`create index on sample_${name} (batch)`);
		await database.query(`analyze sample_${name}`);
	}
	const columns = new Map<string, string>();
	for (const name of tables) {
		const { rows: named } = await database.query<{ list: string }>(
			"select string_agg(quote_ident(attname), ', ' order by attnum) as list from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''",
			[name],
		);
		columns.set(name, named[0]?.list ?? '');
	}
	const startedMs = performance.now();
	let done = 0;
	for (; done < batches && performance.now() - startedMs < options.seconds * 1000; done++) {
		const inserts = tables.map(
			(name) => `insert into bare_${name} (${columns.get(name)}) select ${columns.get(name)} from sample_${name} where batch = ${done}`,
		);
		await database.query(`begin; ${inserts.join('; ')}; commit`);
	}
	const seconds = (performance.now() - startedMs) / 1000;
	recorder.line({
		section: 'mllp',
		work: 'the same rows, 64 messages a transaction',
		subject: 'bare PostgreSQL',
		kind: 'limit',
		connections: 1,
		perSecond: (done * batchMessages) / seconds,
		p50Ms: (seconds * 1000) / done,
		p99Ms: null,
		failed: 0,
		driver: 'pg',
		saturated: 'PostgreSQL',
	});
	for (const name of tables) await database.query(`drop table bare_${name}, sample_${name}`);
}

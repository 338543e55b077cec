import type pg from 'pg';
import { type Pooling, readDatabaseUrl } from '#core/database-url.ts';
import type { Log } from '#core/log.ts';
import { StartError } from '#core/start-error.ts';
import { newClient } from './database-hosts.ts';
import { DatabaseTlsError } from './database-tls.ts';
import { stateOf } from './sqlstate.ts';

const answerMsMax = 5000;
/** A pooler gives the next transaction the session that was used last, unless others of its clients come in between. */
const holdersMax = 2;

/** PostgreSQL, invalid_sql_statement_name; protocol_violation, by which PgBouncer refuses a parameter of the start. */
const [unknownStatement, protocolViolation] = ['26000', '08P01'];

/**
 * Finds out whether transactions of one connection come to different sessions, and whether they still find a statement that was prepared before. A service
 * that did not know would say that it is ready, and refuse what it is asked.
 * @throws StartError when the URL says otherwise, or there is no connection because of its TLS
 */
export async function checkPooling(variable: string, url: string): Promise<void> {
	const { pooling: stated } = readDatabaseUrl(url);
	const found = await poolingFound(url, stated).catch((error) => {
		throw error instanceof DatabaseTlsError ? new StartError(`${variable}: ${error.message}`, error) : error;
	});
	const fault = faultOf(stated, found);
	if (fault !== undefined) throw new StartError(`${variable} leads through a pooler in transaction mode${fault}`);
}

/**
 * Does the same for the replica. One that is away is no fault: the primary answers in its place, and what is wrong with its pooler then shows
 * when it is back, as a replica that does not answer.
 * @throws StartError when the URL says otherwise
 */
export async function checkReplicaPooling(variable: string, url: string, log: Pick<Log, 'warn'>): Promise<void> {
	try {
		await checkPooling(variable, url);
	} catch (error) {
		if (error instanceof StartError && !(error.cause instanceof DatabaseTlsError)) throw error;
		log.warn({ err: error }, 'the replica does not answer, so it is not known what stands before it');
	}
}

const keeps = 'PgBouncer 1.21 or newer with max_prepared_statements';

function faultOf(stated: Pooling, found: Pooling): string | undefined {
	if (stated === 'session' && found === 'transaction') return ': add the parameter pooling=transaction to the URL';
	if (stated === 'session' && found === 'unprepared')
		return ` that keeps no prepared statements: use ${keeps} and add pooling=transaction to the URL, or add pooling=unprepared`;
	if (stated === 'transaction' && found === 'unprepared')
		return ` that keeps no prepared statements: use ${keeps}, or write pooling=unprepared in the URL`;
	return undefined;
}

async function poolingFound(url: string, stated: Pooling): Promise<Pooling> {
	const clients: pg.Client[] = [];
	const open = async (options?: string): Promise<pg.Client> => {
		const client = newClient(url, {
			...{ application_name: 'tributary start', connectionTimeoutMillis: answerMsMax, query_timeout: answerMsMax },
			...(options === undefined ? {} : { options }),
		});
		client.on('error', () => undefined);
		clients.push(client);
		await client.connect();
		return client;
	};
	try {
		const client = await open(stated === 'session' ? '-c jit=off' : undefined);
		const session = async () => sessionOf(client, stated === 'unprepared' ? undefined : 'session_of_connection');
		const first = await session();
		for (let held = 0; held < holdersMax; held++) {
			const holder = await open();
			await holder.query('begin');
			if ((await sessionOf(holder)) !== first) continue;
			// Somebody else has the session now: this connection gets another one.
			await session();
			return stated === 'unprepared' ? stated : 'transaction';
		}
		return 'session';
	} catch (error) {
		if (stateOf(error) === unknownStatement) return 'unprepared';
		if (stateOf(error) === protocolViolation && /startup parameter/.test((error as Error).message)) return 'unprepared';
		throw error;
	} finally {
		await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
	}
}

async function sessionOf(client: pg.Client, name?: string): Promise<number> {
	const query = { text: 'select pg_backend_pid() as pid', ...(name === undefined ? {} : { name }) };
	const { rows } = await client.query<{ pid: number }>(query);
	return rows[0]?.pid ?? 0;
}

import { availableParallelism } from 'node:os';
import { checkTimeZones } from '#administration/time-zones.ts';
import { readDatabaseUrl } from '#core/database-url.ts';
import { ingestThreadsOf } from '#core/ingest-threads.ts';
import { StartError } from '#core/start-error.ts';
import { processesOf } from '#processes/start-node.ts';
import { checkPooling } from '#storage/check-pooling.ts';
import type { ConnectionPool } from '#storage/connection-pool.ts';
import { openPool } from '#storage/database.ts';
import { stateOfServer } from '#storage/database-hosts.ts';
import { DatabaseTlsError } from '#storage/database-tls.ts';
import { hasSchema, pendingMigrations } from '#storage/migrate.ts';
import type { Config } from '../../config.ts';
import { type Finding, fault, finding, ok, reasonOf, warning } from './check.ts';

/** The oldest PostgreSQL that the statements run on. */
export const oldestServer = 150_000;

const settingsQuery = {
	text: `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
		current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
		current_setting('full_page_writes') as full_page_writes, current_setting('server_encoding') as server_encoding,
		current_setting('max_connections')::int as max_connections,
		current_setting('superuser_reserved_connections')::int as reserved,
		(select count(*)::int from pg_stat_activity where backend_type = 'client backend' and coalesce(application_name, '') not like 'tributary%') as others,
		pg_is_in_recovery() as standby, (select version from pg_stat_ssl where pid = pg_backend_pid() and ssl) as tls,
		(select count(*)::int from pg_stat_replication r where r.state is distinct from 'backup') as followers,
		current_user as role, pg_has_role('pg_read_all_stats', 'usage') as sees_followers`,
};

interface Settings {
	version: string;
	number: number;
	fsync: string;
	synchronous_commit: string;
	full_page_writes: string;
	server_encoding: string;
	max_connections: number;
	reserved: number;
	others: number;
	standby: boolean;
	/** Such as TLSv1.3; null for a connection without it. */
	tls: string | null;
	/** The number of standbys that follow the server. */
	followers: number;
	role: string;
	/** Members of pg_monitor see how far behind the standbys are. */
	sees_followers: boolean;
}

/** The results of the checks of a database, with the sites whose times are read by the zone of the host. */
export interface DatabaseFindings {
	findings: Finding[];
	sitesWithoutTimeZone: string[];
}

export async function checkDatabase(databaseUrl: string, config: Config): Promise<DatabaseFindings> {
	const pool = openPool(databaseUrl, {
		max: 2,
		application_name: 'tributary doctor',
		connectionTimeoutMillis: 5000,
		query_timeout: 10_000,
	});
	const zones: { sites: string[] } = { sites: [] };
	try {
		const [settings] = await pool.rows<Settings>(settingsQuery, []);
		if (settings === undefined) throw new Error('the database does not tell its settings');
		const findings = [
			ok('database', `PostgreSQL ${settings.version} answers${settings.tls === null ? '' : ` over ${settings.tls}`}`),
			...trustFinding(databaseUrl),
			...settingFindings(settings),
			connectionFinding(settings, config),
			...replicationFinding(settings),
			...(await finding('clock', () => clockFinding(pool))),
			...(await finding('migrations', () => migrationFinding(pool, databaseUrl))),
			...(await finding('time zones', async () => {
				if (!(await hasSchema(pool))) return [];
				const { assumed_time_zone: assumed, sites_without_time_zone: sites } = await checkTimeZones(pool);
				zones.sites = sites;
				return zoneFinding(assumed, sites);
			})),
		];
		return { findings, sitesWithoutTimeZone: zones.sites };
	} finally {
		await pool.close();
	}
}

/** Asks each server of a URL that names several what it is. */
export async function checkServers(check: string, url: string): Promise<Finding[]> {
	const { hosts } = readDatabaseUrl(url);
	if (hosts.length === 1) return [];
	return Promise.all(
		hosts.map(async (each) => {
			const name = `${each.host}:${each.port}`;
			try {
				const { standby, readOnly } = await stateOfServer(url, each);
				return ok(check, `${name} is ${standby ? 'a standby' : `the primary${readOnly ? ', and takes no writes' : ''}`}`);
			} catch (error) {
				return warning(check, `${name} cannot be reached: ${reasonOf(error)}`);
			}
		}),
	);
}

/** Tells whether a variable says what stands between this machine and its server, as a start does. */
export async function checkPooler(variable: string, url: string): Promise<Finding[]> {
	try {
		await checkPooling(variable, url);
		return [];
	} catch (error) {
		// A server that does not answer has a finding of its own.
		return error instanceof StartError && !(error.cause instanceof DatabaseTlsError) ? [fault('pooler', error.message)] : [];
	}
}

/** Whoever stands between the service and its database can show any certificate where nobody looks at it. */
function trustFinding(url: string): Finding[] {
	const { tls } = readDatabaseUrl(url);
	if (!tls) return [];
	if (tls.mode !== 'require' || tls.rootCert !== undefined) return [];
	return [
		warning('database', 'sslmode=require encrypts, and does not look at who the server is: use sslmode=verify-full, with sslrootcert'),
	];
}

function settingFindings({ number, version, ...settings }: Settings): Finding[] {
	const wrong: Finding[] = [];
	const check = 'database settings';
	if (number < oldestServer) wrong.push(fault(check, `PostgreSQL ${version} is too old: 15 or newer is needed`));
	if (settings.fsync !== 'on') wrong.push(fault(check, 'fsync is off: what was acknowledged can be lost with the power; set fsync = on'));
	if (settings.synchronous_commit === 'off')
		wrong.push(fault(check, 'synchronous_commit is off: what was acknowledged can be lost; set synchronous_commit = on'));
	if (settings.full_page_writes !== 'on')
		wrong.push(fault(check, 'full_page_writes is off: a loss of power can damage tables; set full_page_writes = on'));
	if (settings.server_encoding !== 'UTF8')
		wrong.push(fault(check, `the database has the encoding ${settings.server_encoding}: make it anew with UTF8`));
	if (settings.standby) wrong.push(fault(check, 'the database is a standby and takes no writes: set DATABASE_URL to its primary'));
	return wrong.length > 0 ? wrong : [ok(check, 'fsync, synchronous_commit, full_page_writes and encoding are as they should be')];
}

/** The connections of a node, as docs/operations.md adds them up. */
function connectionsOf(config: Config): number {
	const processes = processesOf(config);
	const workers = Math.max(config.WORKERS ?? Math.max(1, availableParallelism() - 1), processes);
	// The lane that gets a thread of its own leaves a connection behind.
	const second = ingestThreadsOf(config, processes).mayHaveSecondThread ? 1 : 0;
	const { peopleConnectionsMax: people, readConnectionsMax: reads, bulkRunningMax } = config.limits;
	// With a replica, the connections that read in its place serve the pages of the console too, and one more in each process compares the two servers.
	const readers = Math.max(reads, 2 * processes) + (config.DATABASE_READ_URL === undefined ? 0 : -processes);
	return (
		2 * workers +
		second +
		Math.max(people, 2 * processes) +
		readers +
		6 * processes +
		Math.ceil(workers / 2) +
		bulkRunningMax * (workers + 1)
	);
}

function connectionFinding({ max_connections: max, reserved, others }: Settings, config: Config): Finding {
	const need = connectionsOf(config);
	const free = max - reserved - others;
	const text = `this node needs up to ${need} connections; max_connections is ${max}, of which ${reserved} are reserved and ${others} used by others`;
	return free < need ? fault('connections', `${text}: raise max_connections, or lower WORKERS`) : ok('connections', text);
}

/** A role without the right is told a lag of 0, whatever it is. */
function replicationFinding({ followers, role, sees_followers: sees }: Settings): Finding[] {
	if (followers === 0) return [];
	const [text, are] = followers === 1 ? ['1 standby follows the server', 'it is'] : [`${followers} standbys follow the server`, 'they are'];
	if (sees) return [ok('replication', `${text}, and the role ${role} sees how far behind ${are}`)];
	const unseen = `the role ${role} does not see how far behind ${are}`;
	const effect = 'tributary_database_standby_lag_bytes stays 0 and TributaryStandbyBehind is never raised';
	return [warning('replication', `${text}, and ${unseen}, so ${effect}: grant pg_monitor to ${role}`)];
}

/** Beyond this, times of messages and the ends of keys differ noticeably. */
const apartWarnMs = 2000;
const apartFaultMs = 60_000;

async function clockFinding(pool: ConnectionPool): Promise<Finding> {
	const before = Date.now();
	const [row] = await pool.rows<{ ms: string }>({ text: 'select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms' }, []);
	const after = Date.now();
	const there = Number(row?.ms);
	const apart = there < before ? there - before : there > after ? there - after : 0;
	const text = `the clock of the database is ${Math.abs(apart)} ms ${apart < 0 ? 'behind' : 'ahead of'} this one`;
	if (Math.abs(apart) < apartWarnMs) return ok('clock', text);
	const advice = `${text}: let both follow a time server`;
	return Math.abs(apart) < apartFaultMs ? warning('clock', advice) : fault('clock', advice);
}

async function migrationFinding(pool: ConnectionPool, databaseUrl: string): Promise<Finding> {
	if (!(await hasSchema(pool)))
		return fault('migrations', "the database has no tables of Tributary: check DATABASE_URL; 'tributary start' makes them");
	const pending = await pendingMigrations(databaseUrl);
	if (pending.length === 0) return ok('migrations', 'the schema is up to date');
	return warning(
		'migrations',
		`${pending.length} are missing (${pending.join(', ')}): the next start applies them, or 'tributary migrate'`,
	);
}

function zoneFinding(assumed: string, sites: readonly string[]): Finding {
	if (sites.length === 0) return ok('time zones', 'every active site has one');
	const remedy = 'tributary site set <slug> --time-zone <zone>';
	return warning('time zones', `${sites.join(', ')} ${sites.length === 1 ? 'has' : 'have'} none, so ${assumed} is assumed: ${remedy}`);
}

import { openPool } from '#storage/database.ts';
import type { Config } from '../../config.ts';
import { type Finding, fault, ok, reasonOf, warning } from './check.ts';
import { oldestServer } from './database.ts';

const check = 'read replica';

/** A server as it describes itself. Positions of the log are in bytes from its beginning. */
interface Server {
	standby: boolean;
	/** Each cluster has another one, and its standbys have the same. */
	cluster: string;
	started: string;
	version: string;
	number: number;
	/** The end of what is on disk on a primary, and of what was replayed on a standby; null for a standby that has replayed nothing. */
	position: string | null;
	/** The age of the last transaction that a standby replayed; null on a primary. */
	replayed_ms: string | null;
}

const serverQuery = {
	text: `select pg_is_in_recovery() as standby, (select system_identifier::text from pg_control_system()) as cluster,
		pg_postmaster_start_time()::text as started, current_setting('server_version') as version,
		current_setting('server_version_num')::int as number,
		pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end, '0/0')::text as position,
		case when pg_is_in_recovery() then (extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::bigint::text end as replayed_ms`,
};

async function asked(url: string): Promise<Server> {
	const pool = openPool(url, { max: 1, application_name: 'tributary doctor', connectionTimeoutMillis: 5000, query_timeout: 10_000 });
	try {
		const [server] = await pool.rows<Server>(serverQuery, []);
		if (server === undefined) throw new Error('the server does not tell what it is');
		return server;
	} finally {
		await pool.close();
	}
}

const unused = 'the primary answers all reads in its place';

/**
 * Tells whether the server of DATABASE_READ_URL answers, is a standby of that of DATABASE_URL, is of a version that the statements run on, and how far it is
 * behind. A service without its replica works, so most of what may be wrong is a warning.
 */
export async function checkReplica({ DATABASE_URL: primaryUrl, limits }: Config, url: string): Promise<Finding[]> {
	// The primary first: what it has by then can only come to the replica later.
	const primary = await (primaryUrl === undefined ? undefined : asked(primaryUrl).catch(() => undefined));
	let replica: Server;
	try {
		replica = await asked(url);
	} catch (error) {
		return [warning(check, `does not answer, so ${unused}: ${reasonOf(error)}`)];
	}
	const found = [...versionFindings(replica, primary)];
	if (!replica.standby) found.push(noStandby(replica, primary));
	else if (primary !== undefined && replica.cluster !== primary.cluster)
		found.push(warning(check, `is a standby of another server than that of DATABASE_URL, so ${unused}`));
	else found.push(lagFinding(replica, primary, limits.replicaLagMsMax));
	return found;
}

function versionFindings({ number, version }: Server, primary: Server | undefined): Finding[] {
	if (number < oldestServer) return [fault(check, `PostgreSQL ${version} is too old: 15 or newer is needed`)];
	if (primary === undefined || primary.number === number) return [];
	return [warning(check, `has PostgreSQL ${version}, and the primary ${primary.version}: update both`)];
}

function noStandby(replica: Server, primary: Server | undefined): Finding {
	if (primary !== undefined && primary.cluster === replica.cluster && primary.started === replica.started)
		return warning(check, 'is the server of DATABASE_URL itself: DATABASE_READ_URL has no effect');
	return warning(check, `is no standby, so ${unused}; it may have been promoted`);
}

function lagFinding(replica: Server, primary: Server | undefined, lagMsMax: number): Finding {
	const answers = `PostgreSQL ${replica.version} answers as a standby`;
	if (primary === undefined)
		return warning(check, `${answers}; how far it is behind is not known, since the server of DATABASE_URL does not answer`);
	const bytes = Math.max(0, Number(primary.position) - Number(replica.position ?? 0));
	if (bytes === 0) return ok(check, `${answers} and lacks nothing`);
	// The last transaction grows old where nobody writes, so its age says something only while something is missing.
	const ms = Number(replica.replayed_ms ?? 0);
	const text = `${answers} and lacks ${bytes} bytes of the log; the last transaction that it has is ${(ms / 1000).toFixed(1)} s old`;
	return ms > lagMsMax ? warning(check, `${text}, which is more than REPLICA_LAG_MS_MAX`) : ok(check, text);
}

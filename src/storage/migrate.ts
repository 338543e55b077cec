import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { Spine } from '../../migrations/0001-spine.ts';
import { Fhir } from '../../migrations/0002-fhir.ts';
import { Bulk } from '../../migrations/0003-bulk.ts';
import { Mpps } from '../../migrations/0004-mpps.ts';
import { Imaging } from '../../migrations/0005-imaging.ts';
import { Batches } from '../../migrations/0006-batches.ts';
import { Statistics } from '../../migrations/0007-statistics.ts';
import { RemoteAes } from '../../migrations/0008-remote-aes.ts';
import { Reports } from '../../migrations/0010-reports.ts';
import { ImagingStudy } from '../../migrations/0011-imaging-study.ts';
import { Commitment } from '../../migrations/0012-commitment.ts';
import { InstancePolicy } from '../../migrations/0013-instance-policy.ts';
import { Documents } from '../../migrations/0014-documents.ts';
import { SignIn } from '../../migrations/0015-sign-in.ts';
import { MessageSearch } from '../../migrations/0016-message-search.ts';
import { SiteLimits } from '../../migrations/0017-site-limits.ts';
import { Reach } from '../../migrations/0018-reach.ts';
import { OneTimePasswords } from '../../migrations/0019-one-time-passwords.ts';
import { ormConnection } from './orm-connection.ts';

/** All migrations in order. They are written by hand; the ORM only runs them and keeps their names. */
const migrations = [
	{ name: '0001-spine', class: Spine },
	{ name: '0002-fhir', class: Fhir },
	{ name: '0003-bulk', class: Bulk },
	{ name: '0004-mpps', class: Mpps },
	{ name: '0005-imaging', class: Imaging },
	{ name: '0006-batches', class: Batches },
	{ name: '0007-statistics', class: Statistics },
	{ name: '0008-remote-aes', class: RemoteAes },
	{ name: '0010-reports', class: Reports },
	{ name: '0011-imaging-study', class: ImagingStudy },
	{ name: '0012-commitment', class: Commitment },
	{ name: '0013-instance-policy', class: InstancePolicy },
	{ name: '0014-documents', class: Documents },
	{ name: '0015-sign-in', class: SignIn },
	{ name: '0016-message-search', class: MessageSearch },
	{ name: '0017-site-limits', class: SiteLimits },
	{ name: '0018-reach', class: Reach },
	{ name: '0019-one-time-passwords', class: OneTimePasswords },
];

/** Any constant will do, as long as every node takes the same. */
const migrationLock = 7_421_913;

/**
 * Brings the schema up to date. Two nodes that start together do it one after the other.
 * @throws Error when the database is newer than this version of the product
 */
export async function migrate(databaseUrl: string): Promise<{ applied: string[] }> {
	return whileLocked(databaseUrl, async () => {
		const orm = await openOrm(databaseUrl);
		try {
			await refuseNewer(orm);
			const applied = await orm.migrator.up();
			return { applied: applied.map(({ name }) => name) };
		} finally {
			await orm.close(true);
		}
	});
}

/** Names of the migrations that the database lacks. */
export async function pendingMigrations(databaseUrl: string): Promise<string[]> {
	const orm = await openOrm(databaseUrl);
	try {
		await refuseNewer(orm);
		return (await orm.migrator.getPending()).map(({ name }) => name);
	} finally {
		await orm.close(true);
	}
}

function openOrm(databaseUrl: string): Promise<MikroORM> {
	return MikroORM.init({
		...ormConnection(databaseUrl),
		entities: [],
		discovery: { warnWhenNoEntities: false },
		extensions: [Migrator],
		migrations: { migrationsList: migrations, snapshot: false, transactional: true, allOrNothing: true, silent: true },
	});
}

async function refuseNewer(orm: MikroORM): Promise<void> {
	const known = new Set(migrations.map(({ name }) => name));
	const newer = (await orm.migrator.getExecuted()).filter(({ name }) => !known.has(name));
	if (newer.length > 0)
		throw new Error(`the database was made by a newer version of Tributary (${newer.map(({ name }) => name).join(', ')})`);
}

/** The lock is held by a transaction of its own, which also works behind a transaction pooler. */
async function whileLocked<T>(databaseUrl: string, work: () => Promise<T>): Promise<T> {
	const client = new pg.Client({ connectionString: databaseUrl });
	await client.connect();
	try {
		await client.query('begin');
		await client.query('select pg_advisory_xact_lock($1)', [migrationLock]);
		const result = await work();
		await client.query('commit');
		return result;
	} finally {
		await client.end();
	}
}

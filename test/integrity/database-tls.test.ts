import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { silentLog } from '#core/log.ts';
import { startNode } from '#processes/start-node.ts';
import { openPool, WorkerDatabase } from '#storage/database.ts';
import { adt } from '#test/support/adt.ts';
import { type EncryptedDatabase, encryptedDatabase } from '#test/support/encrypted-database.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { without } from '#test/support/needs.ts';
import { servesEverySurface } from '#test/support/serves-every-surface.ts';
import { eventually } from '#test/support/service.ts';
import { terminal } from '#test/support/terminal.ts';
import { readConfig } from '../../src/config.ts';
import { defaultLimits } from '../../src/limits.ts';

describe('a database that admits TLS alone', { skip: without('openssl') }, () => {
	let database: EncryptedDatabase;
	const full = () => ({ sslmode: 'verify-full', sslrootcert: database.file('authority') });

	before(async () => {
		database = await encryptedDatabase();
	});

	after(() => database[Symbol.asyncDispose]());

	/** The words of a start that is refused, and those of the command line with the same URL. */
	async function refusals(url: string): Promise<{ start: string; command: string }> {
		const dataDir = mkdtempSync(join(tmpdir(), 'tributary-refused-'));
		const config = readConfig({ DATABASE_URL: url, DATA_DIR: dataDir, PROCESSES: '1', FHIR_PORT: '0', LOG_LEVEL: 'silent' });
		let start = '';
		try {
			await assert.rejects(startNode(config, silentLog), ({ name, message }: Error) => {
				start = `${name}: ${message}`;
				return true;
			});
			let command = '';
			await assert.rejects(openPool(url, { max: 1 }).rows({ text: 'select 1' }, []), ({ cause }: Error) => {
				command = (cause as Error).message;
				return true;
			});
			return { start, command };
		} finally {
			rmSync(dataDir, { recursive: true, force: true });
		}
	}

	test('is reached by every connection, and one that the server ends is opened again', async () => {
		const url = database.url(full());
		await servesEverySurface(
			url,
			{ DATABASE_READ_URL: database.url({ ...full(), sslmode: 'verify-ca' }, database.unnamed) },
			async (service) => {
				const open = await service.rows<{ name: string; encrypted: boolean }>(
					`select application_name as name, bool_and(ssl) as encrypted from pg_stat_activity join pg_stat_ssl using (pid)
				where application_name like 'tributary %' group by 1 order by 1`,
				);
				const plain = open.filter(({ encrypted }) => !encrypted);
				assert.deepEqual(plain, []);
				const names = open.map(({ name }) => name.replace('tributary ', ''));
				for (const each of ['access', 'administration', 'ingest', 'journal', 'read', 'replica'])
					assert.ok(names.includes(each), `${each}: ${names}`);
				await database.administer("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'tributary %'");
				await eventually(async () => {
					const sender = await MllpClient.connect(service.port('mllp')).catch(() => undefined);
					const answer = await sender?.send(adt('again', 'again', 1)).catch(() => undefined);
					sender?.socket.destroy();
					return answer !== undefined && msa(answer).code === 'AA';
				}, 'a message is acknowledged');
			},
		);
	});

	test('is looked for among several servers, each by its own name', async () => {
		const servers = `${database.unnamed},${database.named}`;
		const pool = openPool(database.url({ ...full(), target_session_attrs: 'read-write' }, servers), { max: 1 });
		const [row] = await pool.rows<{ host: string }>({ text: 'select host(inet_server_addr()) as host' }, []);
		await pool.close();
		assert.equal(row?.host, database.named, 'the other server shows no certificate for its name');
	});

	test('takes a certificate in place of a password, on connections for rows and for COPY', async () => {
		const own = { sslcert: database.file('certified'), sslkey: database.file('certified-key') };
		const url = database.url({ ...full(), ...own }, database.named, 'certified');
		const worker = new WorkerDatabase(url, defaultLimits);
		const lane = worker.lane();
		assert.deepEqual(await lane.runOpened({ name: 'who', text: 'select current_user' }, []), [['certified']]);
		const bulk = await worker.bulk('import');
		assert.deepEqual(await bulk.cells('select current_user'), [['certified']]);
		await bulk.close();
		await worker.close();
		const { start } = await refusals(database.url(full(), database.named, 'certified'));
		assert.match(start, /certificate/);
	});

	for (const [title, parameters, at, sentence] of [
		[
			'without sslmode',
			() => ({}),
			'named',
			/^the database server \S+ admits no connection without TLS: add sslmode=verify-full to the URL/,
		],
		['with sslmode=disable', () => ({ sslmode: 'disable' }), 'named', /admits no connection without TLS/],
		[
			'with another authority',
			() => ({ ...full(), sslrootcert: database.file('other') }),
			'named',
			/^the certificate of the database server \S+ is not issued by an authority in sslrootcert=\S+other\.pem \([A-Z_]+\)$/,
		],
		[
			'with require and another authority',
			() => ({ sslmode: 'require', sslrootcert: database.file('other') }),
			'named',
			/not issued by an authority/,
		],
		[
			'without an authority',
			() => ({ sslmode: 'verify-full' }),
			'named',
			/not issued by an authority that Node\.js trusts, and the URL has no sslrootcert/,
		],
		['by another name', full, 'unnamed', /is for another name: connect to a name that it has, or use sslmode=verify-ca$/],
		[
			'with a file that is not there',
			() => ({ ...full(), sslrootcert: database.file('missing') }),
			'named',
			/^sslrootcert=\S+ cannot be read \(ENOENT\)$/,
		],
		[
			'with a file of something else',
			() => ({ ...full(), sslrootcert: database.file('garbage') }),
			'named',
			/^sslrootcert=\S+ holds no certificate in PEM$/,
		],
	] as const) {
		test(`is not reached ${title}: one sentence says why, and the service does not start`, async () => {
			const { start, command } = await refusals(database.url(parameters(), database[at]));
			assert.equal(start, `StartError: DATABASE_URL: ${command}`);
			assert.match(command, sentence);
			assert.doesNotMatch(command, /\n/);
		});
	}

	test('is told of by doctor, and a command says what is wrong with it', async (t) => {
		const checks = async (parameters: Record<string, string>) => {
			const shell = await terminal(t, { DATABASE_URL: database.url(parameters) });
			const { out } = await shell.run('doctor', '--json');
			const found: { check: string; state: string; text: string }[] = JSON.parse(out).checks;
			return found.filter(({ check }) => check === 'database' || check === 'pooler');
		};
		const [trusted, ...others] = await checks(full());
		assert.match(trusted?.text ?? '', /^PostgreSQL \S+ answers over TLSv1\.3$/);
		assert.deepEqual(others, []);
		const [encrypted, unknown] = await checks({ sslmode: 'require' });
		assert.match(encrypted?.text ?? '', /answers over TLSv1\.3$/);
		assert.deepEqual([unknown?.state, /does not look at who the server is/.test(unknown?.text ?? '')], ['warning', true]);
		const wrong = { ...full(), sslrootcert: database.file('other') };
		const refused = await checks(wrong);
		assert.deepEqual(
			refused.map(({ check, state }) => [check, state]),
			[['database', 'fault']],
		);
		assert.match(refused[0]?.text ?? '', /is not issued by an authority in sslrootcert/);
		const shell = await terminal(t, { DATABASE_URL: database.url(wrong) });
		const { code, err } = await shell.run('site', 'list');
		assert.equal(code, 1);
		assert.match(err, /^tributary: the certificate of the database server [^\n]+ is not issued by an authority in sslrootcert=[^\n]+\n$/);
	});
});

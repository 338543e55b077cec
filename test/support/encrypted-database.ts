import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataDirectory } from '#storage/embedded/data-directory.ts';
import { startEmbeddedDatabase } from '#storage/embedded/embedded-database.ts';
import { administer, createTemplate, templateName } from './template.ts';

/** A migrated database on a server of its own that admits only connections over TLS, on two loopback addresses. */
export interface EncryptedDatabase extends AsyncDisposable {
	/** The address that the certificate of the server names. */
	named: string;
	/** An address that it does not name. */
	unnamed: string;
	/** The path of a PEM file: the authority of the server, another one, a certificate for the user `certified` and its key, and no PEM at all. */
	file(name: 'authority' | 'other' | 'certified' | 'certified-key' | 'garbage' | 'missing'): string;
	/** The URL of the migrated database, by the named address as the user of the server unless others are given. */
	url(parameters: Readonly<Record<string, string>>, at?: string, user?: string): string;
	/** Carries a statement out as the owner of the server, who comes by its Unix socket. */
	administer(statement: string): Promise<void>;
}

export async function encryptedDatabase(): Promise<EncryptedDatabase> {
	const dataDir = mkdtempSync(join(tmpdir(), 'tributary-tls-database-'));
	execFileSync('chmod', ['755', dataDir]);
	// No other server has these addresses, so the port is free there.
	const [named = '', unnamed = ''] = [1, 2].map((last) => `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${last}`);
	const file = (name: string) => join(dataDir, `${name}.pem`);
	const keyed = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
	const make = (name: string, ...how: string[]) => {
		const paths = ['-keyout', file(`${name}-key`), '-out', file(name)];
		execFileSync('openssl', ['req', '-x509', ...keyed, '-subj', `/CN=${name}`, ...paths, ...how], { stdio: 'ignore' });
	};
	const byAuthority = ['-CA', file('authority'), '-CAkey', file('authority-key')];
	make('authority');
	make('other');
	make('server', ...byAuthority, '-addext', `subjectAltName=IP:${named},DNS:database.example.org`);
	make('certified', ...byAuthority);
	writeFileSync(file('garbage'), 'no certificate');
	const settings = { fsync: 'off', shared_buffers: '64MB' };
	const made = await startEmbeddedDatabase({ dataDir, settings });
	await createTemplate(made.url);
	await administer(made.url, 'create role certified superuser login');
	await made.stop();
	const { cluster } = dataDirectory(dataDir);
	const { uid, gid } = statSync(cluster);
	const rules = ['local all all trust', 'hostssl all certified 127.0.0.0/8 cert', 'hostssl all tributary 127.0.0.0/8 trust'];
	writeFileSync(join(cluster, 'pg_hba.conf'), `${rules.join('\n')}\n`);
	for (const name of ['server', 'server-key', 'authority']) chownSync(file(name), uid, gid);
	const server = await startEmbeddedDatabase({
		dataDir,
		settings: {
			...settings,
			...{ listen_addresses: `${named},${unnamed}`, ssl: 'on', ssl_cert_file: file('server'), ssl_key_file: file('server-key') },
			ssl_ca_file: file('authority'),
		},
	});
	return {
		named,
		unnamed,
		file,
		url: (parameters, at = named, user = 'tributary') =>
			`postgresql://${user}@${at}/${templateName}${Object.keys(parameters).length === 0 ? '' : `?${new URLSearchParams(parameters)}`}`,
		administer: (statement) => administer(server.url, statement),
		[Symbol.asyncDispose]: async () => {
			await server.stop();
			rmSync(dataDir, { recursive: true, force: true });
		},
	};
}

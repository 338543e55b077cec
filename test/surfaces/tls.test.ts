import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect } from 'node:tls';
import { checkPorts } from '#cli/doctor/host.ts';
import { silentLog } from '#core/log.ts';
import { startNode } from '#processes/start-node.ts';
import { readRuntimeFile } from '#storage/runtime-file.ts';
import { subjectShown } from '#test/support/certificate-files.ts';
import { without } from '#test/support/needs.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { readCertificates } from '../../src/certificates.ts';
import { readConfig } from '../../src/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'tributary-tls-'));
const at = (name: string) => join(folder, name);

/** Makes a certificate that signs itself, with its key, by openssl. */
function make(name: string, days: readonly string[]): void {
	const subject = [
		'-newkey',
		'rsa:2048',
		'-nodes',
		'-subj',
		`/CN=${name}`,
		'-keyout',
		at(`${name}.key.pem`),
		'-out',
		at(`${name}.cert.pem`),
	];
	execFileSync('openssl', ['req', '-x509', ...subject, ...days], { stdio: 'ignore' });
}

/** As `subjectShown`, by these versions of TLS. */
function shown(port: number, options: { least?: 'TLSv1' | 'TLSv1.2'; most?: 'TLSv1.1' | 'TLSv1.3' } = {}): Promise<string> {
	const { least: minVersion = 'TLSv1.2', most: maxVersion = 'TLSv1.3' } = options;
	return subjectShown(port, { minVersion, maxVersion, ...(minVersion === 'TLSv1' && { ciphers: 'DEFAULT@SECLEVEL=0' }) });
}

describe('TLS files', { skip: without('openssl') }, () => {
	let service: TestService;
	let key: string;
	const ports = ['fhir', 'mllp_tls', 'dimse_tls'] as const;
	const useNamed = (name: string) => {
		for (const kind of ['key', 'cert']) {
			copyFileSync(at(`${name}.${kind}.pem`), at(`next.${kind}`));
			renameSync(at(`next.${kind}`), at(`used.${kind}.pem`));
		}
	};

	before(async () => {
		make('first', ['-days', '30']);
		make('second', ['-days', '30']);
		make('other', ['-days', '30']);
		useNamed('first');
		service = await testService({
			TLS_CERT_FILE: at('used.cert.pem'),
			TLS_KEY_FILE: at('used.key.pem'),
			...{ MLLP_PORT: 'off', DIMSE_PORT: 'off', MLLP_TLS_PORT: '0', DIMSE_TLS_PORT: '0', HL7_PORT: 'off', MPPS_PORT: 'off' },
			PROCESSES: '1',
		});
		key = (await service.addSite('west')).key;
	});

	after(async () => {
		await service[Symbol.asyncDispose]();
		rmSync(folder, { recursive: true, force: true });
	});

	test('the plain ports, and the surfaces that nobody uses, can be left out', async () => {
		const open = ['admin', 'dimse_tls', 'fhir', 'mllp_tls', 'ops'];
		assert.deepEqual(Object.keys(service.service.surfaces).sort(), open);
		assert.deepEqual(Object.keys(readRuntimeFile(service.dataDir)?.surfaces ?? {}).sort(), open);
		const operations = `http://127.0.0.1:${service.port('ops')}`;
		const { checks } = (await (await fetch(`${operations}/health/ready`)).json()) as { checks: Record<string, string> };
		assert.equal(checks['listeners'], 'up');
		assert.doesNotMatch(
			await (await fetch(`${operations}/metrics`)).text(),
			/http_requests_total\{surface="(?:mpps|hl7-http)",[^}]*\} [1-9]/,
		);
		const running = await checkPorts(readConfig({ DATA_DIR: service.dataDir }));
		assert.deepEqual(
			running.map(({ text }) => text),
			['the service runs, and its 5 ports answer'],
		);
		// What others hold on the default ports does not matter where the surface is off.
		const off = Object.fromEntries(['HL7', 'MPPS', 'MLLP', 'DIMSE'].map((name) => [`${name}_PORT`, 'off']));
		const stopped = await checkPorts(readConfig({ DATA_DIR: folder, FHIR_PORT: '0', ADMIN_PORT: '0', OPS_PORT: '0', ...off }));
		assert.deepEqual(
			stopped.map(({ state }) => state),
			['ok'],
		);
	});

	test('TLS 1.1 is refused on every port, 1.2 and 1.3 are taken', async () => {
		for (const port of ports) {
			assert.match(await shown(service.port(port), { least: 'TLSv1', most: 'TLSv1.1' }), /PROTOCOL_VERSION|ECONNRESET/, port);
			assert.equal(await shown(service.port(port)), 'CN=first', port);
		}
	});

	test('that are renewed are used without a restart, while open connections go on; what cannot be used is left alone', async () => {
		const before = service.port('fhir');
		const open = connect({ host: '127.0.0.1', port: before, rejectUnauthorized: false });
		await new Promise((resolve) => open.once('secureConnect', resolve));
		useNamed('second');
		service.process().renewCertificates();
		for (const port of ports)
			await eventually(async () => (await shown(service.port(port))) === 'CN=second', `the new certificate of ${port}`);
		open.write(`GET /fhir/Patient?_count=1 HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`);
		const [head] = (await new Promise<Buffer>((resolve) => open.once('data', resolve))).toString().split('\r\n');
		assert.equal(head, 'HTTP/1.1 200 OK');
		assert.equal(service.port('fhir'), before);
		writeFileSync(at('used.cert.pem'), 'garbage');
		service.process().renewCertificates();
		for (const port of ports) assert.equal(await shown(service.port(port)), 'CN=second');
		useNamed('first');
		service.process().renewCertificates();
		for (const port of ports)
			await eventually(async () => (await shown(service.port(port))) === 'CN=first', `the old certificate of ${port}`);
	});

	test('that no client could be served with are refused at the start, by the name of the variable', async () => {
		writeFileSync(at('garbage.pem'), '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
		writeFileSync(at('empty.pem'), '');
		const own = { TLS_CERT_FILE: at('first.cert.pem'), TLS_KEY_FILE: at('first.key.pem') };
		for (const [environment, message] of [
			[{ ...own, TLS_CERT_FILE: at('none.pem') }, 'TLS_CERT_FILE: the file cannot be read (ENOENT)'],
			[{ ...own, TLS_CERT_FILE: at('empty.pem') }, 'TLS_CERT_FILE: the file has no certificate in PEM'],
			[{ ...own, TLS_CERT_FILE: at('garbage.pem') }, 'TLS_CERT_FILE: the file has a certificate that cannot be read'],
			[{ ...own, TLS_KEY_FILE: at('other.key.pem') }, 'TLS_KEY_FILE: the key is not that of the first certificate in TLS_CERT_FILE'],
			[
				{ ...own, TLS_KEY_FILE: at('garbage.pem') },
				'TLS_KEY_FILE: the file has no private key in PEM that can be read without a passphrase',
			],
			[{ ...own, TLS_KEY_FILE: at('none.pem') }, 'TLS_KEY_FILE: the file cannot be read (ENOENT)'],
			[{ ...own, TLS_CLIENT_CA_FILE: at('garbage.pem') }, 'TLS_CLIENT_CA_FILE: the file has a certificate that cannot be read'],
			[{ ...own, TLS_CLIENT_CA_FILE: at('none.pem') }, 'TLS_CLIENT_CA_FILE: the file cannot be read (ENOENT)'],
			[{ TLS_CLIENT_CA_FILE: at('none.pem') }, 'TLS_CLIENT_CA_FILE: the file cannot be read (ENOENT)'],
			[{ TLS_CLIENT_CA_FILE: at('empty.pem') }, 'TLS_CLIENT_CA_FILE: the file has no certificate in PEM'],
			[{ AUDIT_SYSLOG_KEY_FILE: at('none.pem') }, 'AUDIT_SYSLOG_KEY_FILE: the file cannot be read (ENOENT)'],
		] as const) {
			const config = readConfig({ ...environment, DATA_DIR: at('data'), DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
			await assert.rejects(startNode(config, silentLog), { name: 'ConfigurationError', message });
		}
	});

	test('are valid from a day to another', () => {
		const own = { TLS_CERT_FILE: at('first.cert.pem'), TLS_KEY_FILE: at('first.key.pem'), TLS_CLIENT_CA_FILE: undefined };
		assert.equal(readCertificates(own, Date.now())?.expiryMs.length, 1);
		assert.throws(() => readCertificates(own, Date.parse('2126-01-01')), {
			message: /^TLS_CERT_FILE: a certificate expired on 20\d\d-\d\d-\d\d$/,
		});
		assert.throws(() => readCertificates(own, Date.parse('2001-01-01')), {
			message: /^TLS_CERT_FILE: a certificate is not valid before 20\d\d-\d\d-\d\d$/,
		});
	});
});

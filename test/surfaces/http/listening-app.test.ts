import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { silentLog } from '#core/log.ts';
import { ListeningApp } from '#surfaces/http/listening-app.ts';

const certificates = join(import.meta.dirname, '../mllp/certificates');

test('a certificate that is spoilt after it was checked leaves the port with the one of before', {
	skip: process.platform !== 'linux',
}, async (t) => {
	const folder = mkdtempSync(join(tmpdir(), 'tributary-certificates-'));
	const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
	copyFileSync(join(certificates, 'server.cert.pem'), certFile);
	copyFileSync(join(certificates, 'server.key.pem'), keyFile);
	const options = { name: 'fhir', host: '127.0.0.1', port: 0, sharesPort: true, tls: { certFile, keyFile }, log: silentLog };
	const app = new ListeningApp(options, (response) => response.end());
	t.after(() => {
		app.leave();
		app.close();
		rmSync(folder, { recursive: true });
	});
	await app.listen();
	writeFileSync(certFile, '-----BEGIN CERTIFICATE-----\n');
	await app.renew();
	const socket = await new Promise<TLSSocket>((resolve, reject) => {
		const opening = connect({ host: '127.0.0.1', port: app.port, ca: readFileSync(join(certificates, 'authority.cert.pem')) }, () =>
			resolve(opening),
		);
		opening.on('error', reject);
	});
	assert.ok(socket.authorized);
	socket.destroy();
});

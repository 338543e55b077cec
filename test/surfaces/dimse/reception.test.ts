import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { proxyVersion2 } from '../mllp/support.ts';
import { associateRequest, connect, data, echo, Peer, statusOf, value } from './peer.ts';
import { startSurface } from './support.ts';

const pem = (name: string) => readFileSync(new URL(`../mllp/certificates/${name}.pem`, import.meta.url));
const tls = { cert: pem('server.cert'), key: pem('server.key') };
const secured = (port: number, client: object = {}) =>
	new Peer(connectTls({ host: '127.0.0.1', port, ca: pem('authority.cert'), servername: 'localhost', ...client }));
const client = (name: string) => ({ cert: pem(`${name}.cert`), key: pem(`${name}.key`) });

test('an association over TLS', async (context) => {
	const { port } = await startSurface(context, { listen: { tls } });
	const peer = secured(port);
	context.after(() => peer.socket.destroy());
	assert.equal((await peer.ask(associateRequest()))[0]?.type, 2);
	const [answer] = await peer.ask(data(value(1, 'command', echo())));
	assert.ok(answer);
	assert.equal(statusOf(answer), 0);
});

test('with a client authority a certificate that it issued is required', async (context) => {
	const { port, refused, counted } = await startSurface(context, { listen: { tls: { ...tls, clientCa: pem('authority.cert') } } });
	for (const credentials of [{}, client('stranger-client')]) {
		const peer = secured(port, credentials);
		peer.write(associateRequest());
		await peer.closed;
		assert.deepEqual(peer.received, []);
	}
	const known = secured(port, client('client'));
	context.after(() => known.socket.destroy());
	assert.equal((await known.ask(associateRequest()))[0]?.type, 2);
	assert.deepEqual(refused, Array(2).fill({ address: '127.0.0.1', reason: 'certificate' }));
	assert.equal(await counted('dimseConnectionsOpened', { result: 'refused-tls' }), 2);
	assert.equal(await counted('accessRefusals', { protocol: 'dicom', reason: 'certificate' }), 2);
});

test('plain DIMSE on the TLS port is closed', async (context) => {
	const { port } = await startSurface(context, { listen: { tls } });
	const peer = await connect(context, port);
	peer.write(associateRequest());
	await peer.closed;
	assert.deepEqual(
		peer.received.filter(({ type }) => type === 2),
		[],
	);
});

for (const [version, header] of [
	['1', Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 56324 11112\r\n')],
	['2', proxyVersion2('192.0.2.7')],
] as const) {
	test(`a trusted proxy's version ${version} header names the sender`, async (context) => {
		const { port, directory } = await startSurface(context, { trustedProxies: ['127.0.0.1'] });
		const peer = await connect(context, port);
		assert.equal((await peer.ask(Buffer.concat([header, associateRequest()])))[0]?.type, 2);
		assert.deepEqual(directory.asked, [['WEST', 'CT1', '192.0.2.7']]);
	});
}

test('a PROXY header comes before the handshake', async (context) => {
	const { port, directory } = await startSurface(context, { listen: { tls }, trustedProxies: ['127.0.0.1'] });
	const socket = createConnection({ host: '127.0.0.1', port });
	socket.write(proxyVersion2('192.0.2.7'));
	const peer = new Peer(connectTls({ socket, ca: pem('authority.cert'), servername: 'localhost' }));
	context.after(() => peer.socket.destroy());
	assert.equal((await peer.ask(associateRequest()))[0]?.type, 2);
	assert.deepEqual(directory.asked, [['WEST', 'CT1', '192.0.2.7']]);
});

test('a trusted proxy that names nobody is refused', async (context) => {
	const { port, refused, counted } = await startSurface(context, { trustedProxies: ['127.0.0.1'], limits: { dimseArtimMsMax: 100 } });
	const without = await connect(context, port);
	without.write(associateRequest());
	const silent = await connect(context, port);
	await Promise.all([without.closed, silent.closed]);
	assert.deepEqual(refused, Array(2).fill({ address: '127.0.0.1', reason: 'proxy' }));
	assert.equal(await counted('dimseConnectionsOpened', { result: 'refused-proxy' }), 2);
});

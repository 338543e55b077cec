import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { adt, frame, grant, proxyVersion2, Sender, startSurface, unavailable, until } from './support.ts';

describe('MLLP senders', () => {
	test('an address that no client lists is closed at once, counted and audited', async (t) => {
		const { address, directory, gateway, refused, counted } = await startSurface(t);
		directory.addresses.clear();
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')));
		await sender.closed;
		assert.deepEqual(sender.answers, []);
		assert.equal(gateway.delivered.length, 0);
		assert.deepEqual(refused, [{ address: '127.0.0.1', reason: 'address' }]);
		assert.equal(await counted('mllpConnectionsOpened', { result: 'refused-address' }), 1);
		assert.equal(await counted('accessRefusals', { protocol: 'hl7-mllp', reason: 'address' }), 1);
	});

	test('a sender on an IPv6 socket is known by its IPv4 address', async (t) => {
		const { address, gateway } = await startSurface(t, { listen: { host: '::' } });
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')));
		assert.deepEqual(await sender.acknowledged(1), ['AA|1']);
		assert.equal(gateway.delivered[0]?.source, '127.0.0.1');
	});

	test('MSH-3 and MSH-4 are what the sender is matched by', async (t) => {
		const { address, directory } = await startSurface(t);
		const asked: string[][] = [];
		directory.match = (application, facility) => {
			asked.push([application, facility]);
			return { kind: 'match', grant };
		};
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')));
		await sender.received(1);
		assert.deepEqual(asked, [['SENDER', 'WEST']]);
	});

	for (const kind of ['no-sender', 'tie'] as const) {
		test(`a message that matches ${kind === 'tie' ? 'two sites' : 'no client'} is answered AE and logged as nobody's`, async (t) => {
			const { address, directory, gateway, unmatched, counted } = await startSurface(t);
			directory.match = () => ({ kind });
			const sender = await Sender.connect(address.port);
			sender.write(frame(adt('1')));
			assert.deepEqual(await sender.acknowledged(1), ['AE|1']);
			assert.equal(gateway.delivered.length, 0);
			assert.equal(unmatched.length, 1);
			assert.equal(unmatched[0]?.reason, kind);
			assert.equal(unmatched[0]?.controlId, '1');
			assert.equal(Buffer.from(unmatched[0]?.bytes ?? []).toString('latin1'), adt('1'));
			assert.equal(await counted('hl7Refusals', { code: 'sender-not-authorized' }), 1);
		});
	}

	test('a client that is disabled in mid-connection: the answer under way is given, the next message is not taken', async (t) => {
		const { address, directory, gateway, counted } = await startSurface(t);
		let answer: () => void = () => {};
		gateway.answer = (delivery) =>
			new Promise((resolve) => {
				answer = () => resolve(gateway.accepted(delivery));
			});
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')));
		await until(() => gateway.delivered.length === 1);
		directory.addresses.clear();
		sender.write(frame(adt('2')));
		await until(async () => (await counted('accessRefusals', { reason: 'address' })) > 0);
		answer();
		await sender.closed;
		assert.deepEqual(await sender.acknowledged(2), ['AA|1']);
		assert.equal(gateway.delivered.length, 1);
		await until(async () => (await counted('mllpConnectionsEnded', { reason: 'address' })) === 1);
	});

	test('an address that cannot be looked up is closed at once, and nobody says that it is wrong', async (t) => {
		const { address, directory, refused, counted } = await startSurface(t);
		directory.addresses.clear();
		directory.certain = false;
		const sender = await Sender.connect(address.port);
		await sender.closed;
		assert.deepEqual([sender.answers, refused], [[], []]);
		assert.equal(await counted('mllpConnectionsOpened', { result: 'unavailable' }), 1);
		assert.equal(await counted('mllpConnectionsOpened'), 1);
		assert.equal(await counted('accessRefusals'), 0);
	});

	test('a message whose sender cannot be looked up waits, and is answered when it can', async (t) => {
		const { address, directory, gateway, counted } = await startSurface(t);
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')));
		assert.deepEqual(await sender.acknowledged(1), ['AA|1']);
		directory.addresses.clear();
		directory.certain = false;
		sender.write(frame(adt('2')) + frame(adt('3')));
		await until(async () => (await counted('mllpConnectionsPaused')) === 1);
		assert.equal(gateway.delivered.length, 1);
		directory.addresses.add('127.0.0.1');
		assert.deepEqual(await sender.acknowledged(3), ['AA|1', 'AA|2', 'AA|3']);
		assert.equal(await counted('accessRefusals'), 0);
	});

	test('a message whose sender cannot be looked up for too long is not answered, and the connection ends as unavailable', async (t) => {
		const { address, directory, refused, unmatched, counted } = await startSurface(t, { limits: { unavailableMsMax: 100 } });
		const sender = await Sender.connect(address.port);
		await until(async () => (await counted('mllpConnections')) === 1);
		directory.addresses.clear();
		directory.certain = false;
		sender.write(frame(adt('1')));
		await sender.closed;
		assert.deepEqual([sender.answers, refused, unmatched], [[], [], []]);
		await until(async () => (await counted('mllpConnectionsEnded', { reason: 'unavailable' })) === 1);
		assert.equal(await counted('accessRefusals'), 0);
	});

	for (const [holder, limits] of [
		['address', { mllpAddressConnectionsMax: 2 }],
		['client', { mllpClientConnectionsMax: 2 }],
		['site', { mllpSiteConnectionsMax: 2 }],
	] as const) {
		test(`connections beyond the share of their ${holder} are closed at once, and others are taken`, async (t) => {
			const { address, directory, counted } = await startSurface(t, { limits, listen: { host: '::' } });
			directory.addresses = new Set(['127.0.0.1', '::1']);
			const all = [await Sender.connect(address.port), await Sender.connect(address.port)];
			for (const [index, sender] of all.entries()) {
				sender.write(frame(adt(`${index}`)));
				await sender.received(1);
			}
			const third = await Sender.connect(address.port);
			await third.closed;
			assert.equal(await counted('mllpConnectionsOpened', { result: `refused-${holder}-limit` }), 1);
			directory.owner = { clientId: 'another', siteId: 'another' };
			const other = await Sender.connect(address.port, holder === 'address' ? '::1' : '127.0.0.1');
			other.write(frame(adt('other')));
			await other.received(1);
			directory.owner = { clientId: grant.clientId, siteId: grant.siteId };
			all[0]?.socket.destroy();
			await until(async () => (await counted('mllpConnections')) === 2);
			const next = await Sender.connect(address.port);
			next.write(frame(adt('next')));
			await next.received(1);
		});
	}

	test('connections beyond the limit are closed at once', async (t) => {
		const { address, counted } = await startSurface(t, { limits: { mllpConnectionsMax: 2 } });
		const [first, second] = [await Sender.connect(address.port), await Sender.connect(address.port)];
		for (const [index, sender] of [first, second].entries()) {
			sender.write(frame(adt(`${index}`)));
			await sender.received(1);
		}
		const third = await Sender.connect(address.port);
		await third.closed;
		assert.equal(await counted('mllpConnectionsOpened', { result: 'refused-limit' }), 1);
		first.socket.destroy();
		await until(async () => (await counted('mllpConnections')) <= 1);
		const fourth = await Sender.connect(address.port);
		fourth.write(frame(adt('4')));
		assert.deepEqual(await fourth.acknowledged(1), ['AA|4']);
	});
});

describe('MLLP while the service cannot store', () => {
	test('nothing is answered, and the connection is closed when the time is over', async (t) => {
		const { address, gateway, counted } = await startSurface(t, { limits: { unavailableMsMax: 150 } });
		gateway.answer = unavailable;
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')));
		await sender.closed;
		assert.deepEqual(sender.answers, []);
		await until(async () => (await counted('mllpConnectionsEnded', { reason: 'unavailable' })) === 1);
		assert.equal(await counted('hl7Messages'), 0);
	});

	test('a delivery that never ends closes the connection too', async (t) => {
		const { address, gateway } = await startSurface(t, { limits: { unavailableMsMax: 100 } });
		gateway.answer = () => new Promise(() => {});
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')));
		await sender.closed;
		assert.deepEqual(sender.answers, []);
	});

	test('a message that can be stored within the time is answered, under the id of its first try', async (t) => {
		const { address, gateway } = await startSurface(t);
		let failures = 3;
		gateway.answer = (delivery) => (failures-- > 0 ? unavailable() : Promise.resolve(gateway.accepted(delivery)));
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')));
		assert.deepEqual(await sender.acknowledged(1), ['AA|1']);
		assert.equal(gateway.delivered.length, 4);
		assert.equal(new Set(gateway.delivered.map(({ id }) => id)).size, 1);
	});

	test('an unexpected failure of the service is not held against the message', async (t) => {
		const { address, gateway } = await startSurface(t);
		let failures = 1;
		gateway.answer = (delivery) =>
			failures-- > 0 ? Promise.reject(new Error('worker lost')) : Promise.resolve(gateway.accepted(delivery));
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')));
		assert.deepEqual(await sender.acknowledged(1), ['AA|1']);
	});

	test('messages behind one that could not be stored are delivered after it, in order', async (t) => {
		const { address, gateway } = await startSurface(t);
		const effects: string[] = [];
		let down = true;
		gateway.answer = async (delivery) => {
			await new Promise((resolve) => setImmediate(resolve));
			if (down) return unavailable();
			const reply = gateway.accepted(delivery);
			effects.push(reply.controlId);
			return reply;
		};
		const sender = await Sender.connect(address.port);
		sender.write(['1', '2', '3'].map((id) => frame(adt(id))).join(''));
		await until(() => gateway.delivered.length >= 3);
		sender.write(frame(adt('4')));
		await until(() => gateway.delivered.length >= 6);
		down = false;
		assert.deepEqual(await sender.acknowledged(4), ['AA|1', 'AA|2', 'AA|3', 'AA|4']);
		assert.deepEqual(effects, ['1', '2', '3', '4']);
	});

	for (const lack of ['room', 'up'] as const) {
		test(`without ${lack === 'room' ? 'room in the mailbox' : 'a database'} nothing is delivered and reading pauses, then goes on`, async (t) => {
			const { address, gateway, counted } = await startSurface(t);
			gateway[lack] = false;
			const sender = await Sender.connect(address.port);
			sender.write(frame(adt('1')) + frame(adt('2')));
			await until(async () => (await counted('mllpConnectionsPaused')) > 0);
			assert.equal(gateway.delivered.length, 0);
			gateway[lack] = true;
			assert.deepEqual(await sender.acknowledged(2), ['AA|1', 'AA|2']);
			assert.equal(await counted('mllpConnectionsPaused'), 0);
		});
	}
});

const pem = (name: string) => readFileSync(new URL(`certificates/${name}.pem`, import.meta.url));
const serverTls = { cert: pem('server.cert'), key: pem('server.key') };
const clientTls = (name: string) => ({ cert: pem(`${name}.cert`), key: pem(`${name}.key`) });
const tlsSender = (port: number, client: object = {}) =>
	new Sender(connectTls({ host: '127.0.0.1', port, ca: pem('authority.cert'), servername: 'localhost', ...client }));

describe('MLLP over TLS', () => {
	test('a message is answered over TLS', async (t) => {
		const { address } = await startSurface(t, { listen: { tls: serverTls } });
		assert.equal(address.tls, true);
		const sender = tlsSender(address.port);
		sender.write(frame(adt('1')));
		assert.deepEqual(await sender.acknowledged(1), ['AA|1']);
		sender.socket.end(Buffer.from(frame(adt('2')), 'latin1'));
		assert.deepEqual(await sender.acknowledged(2), ['AA|1', 'AA|2']);
		await sender.closed;
	});

	test('with a client authority a certificate that it issued is required', async (t) => {
		const { address, refused, gateway, counted } = await startSurface(t, {
			listen: { tls: { ...serverTls, clientCa: pem('authority.cert') } },
		});
		for (const client of [{}, clientTls('stranger-client')]) {
			const sender = tlsSender(address.port, client);
			sender.write(frame(adt('1')));
			await sender.closed;
			assert.deepEqual(sender.answers, []);
		}
		await until(() => refused.length === 2);
		assert.deepEqual(refused[0], { address: '127.0.0.1', reason: 'certificate' });
		assert.equal(await counted('mllpConnectionsOpened', { result: 'refused-tls' }), 2);
		assert.equal(gateway.delivered.length, 0);
		const known = tlsSender(address.port, clientTls('client'));
		known.write(frame(adt('2')));
		assert.deepEqual(await known.acknowledged(1), ['AA|2']);
	});

	test('plain MLLP on the TLS port is closed', async (t) => {
		const { address, counted } = await startSurface(t, { listen: { tls: serverTls } });
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')));
		await sender.closed;
		await until(async () => (await counted('mllpConnectionsOpened', { result: 'refused-tls' })) > 0);
		assert.equal(await counted('mllpConnectionsOpened', { result: 'refused-tls' }), 1);
	});

	test('a PROXY header comes before the handshake', async (t) => {
		const { address, directory, gateway } = await startSurface(t, { listen: { tls: serverTls }, trustedProxies: ['127.0.0.1'] });
		directory.addresses = new Set(['192.0.2.7']);
		const socket = createConnection({ host: '127.0.0.1', port: address.port });
		socket.write(proxyVersion2('192.0.2.7'));
		const sender = new Sender(connectTls({ socket, ca: pem('authority.cert'), servername: 'localhost' }));
		sender.write(frame(adt('1')));
		assert.deepEqual(await sender.acknowledged(1), ['AA|1']);
		assert.equal(gateway.delivered[0]?.source, '192.0.2.7');
	});
});

describe('MLLP behind a balancer', () => {
	const line = Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 56324 3000\r\n', 'latin1');

	for (const [version, header] of [
		['1', line],
		['2', proxyVersion2('192.0.2.7')],
	] as const) {
		test(`a trusted proxy's version ${version} header names the sender, in one packet or byte by byte`, async (t) => {
			const { address, directory, gateway } = await startSurface(t, { trustedProxies: ['127.0.0.1'] });
			directory.addresses = new Set(['192.0.2.7']);
			const whole = await Sender.connect(address.port);
			whole.write(Buffer.concat([header, Buffer.from(frame(adt('1')), 'latin1')]));
			assert.deepEqual(await whole.acknowledged(1), ['AA|1']);
			const slow = await Sender.connect(address.port);
			for (const byte of header) {
				slow.write(Buffer.from([byte]));
				await new Promise((resolve) => setImmediate(resolve));
			}
			slow.write(frame(adt('2')));
			assert.deepEqual(await slow.acknowledged(1), ['AA|2']);
			assert.deepEqual(
				gateway.delivered.map(({ source }) => source),
				['192.0.2.7', '192.0.2.7'],
			);
		});

		test(`a version ${version} header from anyone else closes the connection`, async (t) => {
			const { address, gateway, refused, counted } = await startSurface(t);
			const sender = await Sender.connect(address.port);
			sender.write(Buffer.concat([header, Buffer.from(frame(adt('1')), 'latin1')]));
			await sender.closed;
			assert.equal(gateway.delivered.length, 0);
			assert.deepEqual(refused, [{ address: '127.0.0.1', reason: 'proxy' }]);
			await until(async () => (await counted('mllpConnectionsEnded', { reason: 'proxy' })) === 1);
		});
	}

	test('the address that the proxy names is the one that must be allowed', async (t) => {
		const { address, refused } = await startSurface(t, { trustedProxies: ['127.0.0.1'] });
		const sender = await Sender.connect(address.port);
		sender.write(Buffer.concat([line, Buffer.from(frame(adt('1')), 'latin1')]));
		await sender.closed;
		assert.deepEqual(refused, [{ address: '192.0.2.7', reason: 'address' }]);
	});

	test('a trusted proxy without a header is refused', async (t) => {
		const { address, gateway, refused } = await startSurface(t, { trustedProxies: ['127.0.0.1'] });
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')));
		await sender.closed;
		assert.equal(gateway.delivered.length, 0);
		assert.deepEqual(refused, [{ address: '127.0.0.1', reason: 'proxy' }]);
	});

	test('a trusted proxy that says nothing is closed after a while', async (t) => {
		const { address, refused } = await startSurface(t, { trustedProxies: ['127.0.0.1'], limits: { mllpFrameMsMax: 100 } });
		const sender = await Sender.connect(address.port);
		sender.write('PROXY TC');
		await sender.closed;
		assert.equal(refused.length, 1);
	});

	test('an empty line before the first frame is no PROXY header', async (t) => {
		const { address } = await startSurface(t);
		const sender = await Sender.connect(address.port);
		sender.write('\r\n');
		sender.write(frame(adt('1')));
		assert.deepEqual(await sender.acknowledged(1), ['AA|1']);
	});
});

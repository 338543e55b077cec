import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { adt, controlIdOf, frame, grant, Sender, startSurface, until } from './support.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('MLLP on the wire', () => {
	test('a message is delivered with its site, client, source and bytes, and answered', async (t) => {
		const { address, gateway, counted } = await startSurface(t);
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')));
		assert.deepEqual(await sender.acknowledged(1), ['AA|1']);
		const [delivery] = gateway.delivered;
		assert.equal(delivery?.siteId, grant.siteId);
		assert.equal(delivery?.clientId, grant.clientId);
		assert.equal(delivery?.surface, 'mllp');
		assert.equal(delivery?.source, '127.0.0.1');
		assert.equal(Buffer.from(delivery?.bytes ?? []).toString('latin1'), adt('1'));
		assert.equal(await counted('hl7Messages', { surface: 'mllp', type: 'ADT^A08', outcome: 'accepted' }), 1);
		assert.equal(await counted('siteMessages', { site: 'west', outcome: 'accepted' }), 1);
		assert.equal(await counted('mllpFrames'), 1);
		assert.equal(await counted('mllpConnections'), 1);
	});

	test('a frame sent byte by byte is one message', async (t) => {
		const { address, gateway } = await startSurface(t);
		const sender = await Sender.connect(address.port);
		for (const byte of frame(adt('1'))) {
			sender.write(byte);
			await settled();
		}
		assert.deepEqual(await sender.acknowledged(1), ['AA|1']);
		assert.equal(gateway.delivered.length, 1);
	});

	test('ten frames in one packet are answered in order', async (t) => {
		const { address } = await startSurface(t);
		const sender = await Sender.connect(address.port);
		const ids = Array.from({ length: 10 }, (_, index) => `${index}`);
		sender.write(ids.map((id) => frame(adt(id))).join(''));
		assert.deepEqual(
			await sender.acknowledged(10),
			ids.map((id) => `AA|${id}`),
		);
	});

	test('answers keep the order of the messages when deliveries end in another', async (t) => {
		const { address, gateway } = await startSurface(t);
		const ends: (() => void)[] = [];
		gateway.answer = (delivery) => new Promise((resolve) => ends.push(() => resolve(gateway.accepted(delivery))));
		const sender = await Sender.connect(address.port);
		sender.write(['a', 'b', 'c', 'd'].map((id) => frame(adt(id))).join(''));
		await until(() => ends.length === 4);
		for (const index of [3, 1, 2]) ends[index]?.();
		await settled();
		assert.deepEqual(sender.answers, []);
		ends[0]?.();
		assert.deepEqual(await sender.acknowledged(4), ['AA|a', 'AA|b', 'AA|c', 'AA|d']);
	});

	test('a pipelining sender has no more than the limit under way, and gets every answer', async (t) => {
		const { address, gateway } = await startSurface(t, { limits: { mllpConnectionMessagesMax: 4 } });
		let underWay = 0;
		let most = 0;
		gateway.answer = async (delivery) => {
			underWay += 1;
			most = Math.max(most, underWay);
			await settled();
			underWay -= 1;
			return gateway.accepted(delivery);
		};
		const sender = await Sender.connect(address.port);
		const ids = Array.from({ length: 500 }, (_, index) => `${index}`);
		for (const id of ids) sender.write(frame(adt(id)));
		assert.deepEqual(
			await sender.acknowledged(500),
			ids.map((id) => `AA|${id}`),
		);
		assert.equal(most, 4);
	});

	test('junk between frames is counted and does not disturb the next message', async (t) => {
		const { address, counted } = await startSurface(t);
		const sender = await Sender.connect(address.port);
		sender.write(`junk${frame(adt('1'))}\r\n\0${frame(adt('2'))}`);
		assert.deepEqual(await sender.acknowledged(2), ['AA|1', 'AA|2']);
		assert.equal(await counted('mllpSkippedBytes'), 7);
	});

	test('an end of block without CR is answered at once', async (t) => {
		const { address } = await startSurface(t);
		const sender = await Sender.connect(address.port);
		sender.write(`\x0b${adt('1')}\x1c`);
		assert.deepEqual(await sender.acknowledged(1), ['AA|1']);
		sender.write(`\x0b\x0b${adt('2')}\x1c\x1c\r`);
		assert.deepEqual(await sender.acknowledged(2), ['AA|1', 'AA|2']);
	});

	test('a message of 8 MB arrives whole', async (t) => {
		const { address, gateway } = await startSurface(t);
		const sender = await Sender.connect(address.port);
		const message = adt('1', `OBX|1|TX|1^x||${'v'.repeat(8 * 1024 * 1024)}\r`);
		sender.write(frame(message));
		assert.deepEqual(await sender.acknowledged(1), ['AA|1']);
		assert.equal(gateway.delivered[0]?.bytes.length, message.length);
		assert.ok(Buffer.from(gateway.delivered[0]?.bytes ?? []).equals(Buffer.from(message, 'latin1')));
	});

	test('a frame over the limit is answered AE from its head, and the connection stays', async (t) => {
		const { address, gateway, counted } = await startSurface(t, { limits: { mllpFrameBytesMax: 1024 * 1024 } });
		const sender = await Sender.connect(address.port);
		sender.write(`\x0b${adt('long')}`);
		const filler = Buffer.alloc(1024 * 1024, 'x');
		for (let sent = 0; sent < 100; sent++) {
			if (!sender.socket.write(filler)) await new Promise((resolve) => sender.socket.once('drain', resolve));
		}
		sender.write(`\x1c\r${frame(adt('next'))}`);
		assert.deepEqual(await sender.acknowledged(2), ['AE|long', 'AA|next']);
		assert.match(sender.answers[0] ?? '', /104/);
		assert.deepEqual(
			gateway.delivered.map(({ bytes }) => controlIdOf(bytes)),
			['next'],
		);
		assert.equal(await counted('mllpFrameErrors', { reason: 'too-long' }), 1);
	});

	test('half a frame and then silence ends the connection, and nothing is delivered', async (t) => {
		const { address, gateway, counted } = await startSurface(t, { limits: { mllpFrameMsMax: 100 } });
		const sender = await Sender.connect(address.port);
		sender.write(`${frame(adt('1'))}\x0bMSH|^~\\&|SEN`);
		await sender.closed;
		assert.deepEqual(await sender.acknowledged(1), ['AA|1']);
		assert.equal(gateway.delivered.length, 1);
		assert.equal(await counted('mllpFrameErrors', { reason: 'timeout' }), 1);
		await until(async () => (await counted('mllpConnectionsEnded', { reason: 'frame-timeout' })) === 1);
		assert.equal(await counted('mllpConnections'), 0);
	});

	test('a connection without traffic is closed', async (t) => {
		const { address, counted } = await startSurface(t, { limits: { mllpIdleMsMax: 50 } });
		const sender = await Sender.connect(address.port);
		await sender.closed;
		await until(async () => (await counted('mllpConnections')) === 0);
		assert.equal(await counted('mllpConnectionsEnded', { reason: 'idle' }), 1);
	});

	test('a sender that closes its side behind its last message still gets the answer', async (t) => {
		const { address, gateway, counted } = await startSurface(t);
		let answer: () => void = () => {};
		gateway.answer = (delivery) =>
			new Promise((resolve) => {
				answer = () => resolve(gateway.accepted(delivery));
			});
		const sender = await Sender.connect(address.port);
		sender.socket.end(Buffer.from(frame(adt('1')), 'latin1'));
		await until(() => gateway.delivered.length === 1);
		await settled();
		answer();
		assert.deepEqual(await sender.acknowledged(1), ['AA|1']);
		await sender.closed;
		await until(async () => (await counted('mllpConnectionsEnded', { reason: 'peer' })) === 1);
	});

	test('a sender that ends within a frame is counted', async (t) => {
		const { address, gateway, counted } = await startSurface(t);
		const sender = await Sender.connect(address.port);
		sender.socket.end('\x0bMSH|');
		await sender.closed;
		assert.equal(await counted('mllpFrameErrors', { reason: 'unfinished' }), 1);
		assert.equal(gateway.delivered.length, 0);
	});

	test('nothing is written for a sender that has gone', async (t) => {
		const { address, gateway, counted } = await startSurface(t);
		let answer: () => void = () => {};
		gateway.answer = (delivery) =>
			new Promise((resolve) => {
				answer = () => resolve(gateway.accepted(delivery));
			});
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')));
		await until(() => gateway.delivered.length === 1);
		sender.socket.resetAndDestroy();
		await until(async () => (await counted('mllpConnections')) <= 0);
		answer();
		await settled();
		await until(async () => (await counted('mllpConnectionsEnded', { reason: 'error' })) === 1);
		assert.equal(await counted('hl7Messages'), 0);
	});

	test('a batch is answered message by message', async (t) => {
		const { address, gateway } = await startSurface(t);
		const sender = await Sender.connect(address.port);
		sender.write(frame(`FHS|^~\\&\rBHS|^~\\&\r${adt('1')}${adt('2')}BTS|2\rFTS|1\r`));
		sender.write(frame(adt('3')));
		assert.deepEqual(await sender.acknowledged(3), ['AA|1', 'AA|2', 'AA|3']);
		assert.deepEqual(
			gateway.delivered.map(({ bytes }) => controlIdOf(bytes)),
			['1', '2', '3'],
		);
	});

	test('a batch of more messages than may be under way is answered whole', async (t) => {
		const { address, directory } = await startSurface(t, { limits: { mllpConnectionMessagesMax: 4 } });
		const sender = await Sender.connect(address.port);
		const ids = Array.from({ length: 50 }, (_, index) => `${index}`);
		sender.write(frame(`BHS|^~\\&\r${ids.map((id) => adt(id)).join('')}BTS|50\r`));
		assert.deepEqual(
			await sender.acknowledged(50),
			ids.map((id) => `AA|${id}`),
		);
		directory.match = () => ({ kind: 'tie' });
		sender.write(frame(`BHS|^~\\&\r${ids.map((id) => adt(id)).join('')}BTS|50\r`));
		assert.deepEqual(
			(await sender.acknowledged(100)).slice(50),
			ids.map((id) => `AE|${id}`),
		);
	});

	test('a message with no, one or two acknowledgements is answered with as many', async (t) => {
		const { address, gateway } = await startSurface(t);
		gateway.answer = async (delivery) => {
			const reply = gateway.accepted(delivery);
			const count = Number(reply.controlId);
			const acknowledgements = Array.from({ length: count }, () => Buffer.from(`MSH|^~\\&\rMSA|CA|${count}\r`));
			return { ...reply, answer: { acknowledgements } };
		};
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('0')) + frame(adt('2')) + frame(adt('1')));
		assert.deepEqual(await sender.acknowledged(3), ['CA|2', 'CA|2', 'CA|1']);
	});

	test('a peer that does not read its answers is not read from, and gets them all later', async (t) => {
		const { address, gateway, counted } = await startSurface(t);
		const large = 'x'.repeat(256 * 1024);
		gateway.answer = async (delivery) => {
			const reply = gateway.accepted(delivery);
			return { ...reply, answer: { acknowledgements: [Buffer.from(`MSH|^~\\&\rMSA|AA|${reply.controlId}|${large}\r`)] } };
		};
		const sender = await Sender.connect(address.port);
		sender.socket.pause();
		const ids = Array.from({ length: 60 }, (_, index) => `${index}`);
		for (const id of ids) {
			sender.write(frame(adt(id)));
			await settled();
		}
		await until(async () => (await counted('mllpConnectionsPaused')) > 0);
		sender.socket.resume();
		assert.deepEqual(
			await sender.acknowledged(60),
			ids.map((id) => `AA|${id}`),
		);
	});

	test('draining answers what is under way, delivers nothing more and ends the connections', async (t) => {
		const { surface, address, gateway, counted } = await startSurface(t, { limits: { mllpConnectionMessagesMax: 1 } });
		let answer: () => void = () => {};
		gateway.answer = (delivery) =>
			new Promise((resolve) => {
				answer = () => resolve(gateway.accepted(delivery));
			});
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')) + frame(adt('2')));
		await until(() => gateway.delivered.length === 1);
		const closing = surface.close(10_000);
		await assert.rejects(Sender.connect(address.port), { code: 'ECONNREFUSED' });
		answer();
		await closing;
		await sender.closed;
		assert.deepEqual(await sender.acknowledged(2), ['AA|1']);
		assert.equal(gateway.delivered.length, 1);
		await until(async () => (await counted('mllpConnectionsEnded', { reason: 'drained' })) === 1);
		assert.equal(surface.connections(), 0);
	});

	test('draining does not wait for an answer beyond its time', async (t) => {
		const { surface, address, gateway } = await startSurface(t);
		gateway.answer = () => new Promise(() => {});
		const sender = await Sender.connect(address.port);
		sender.write(frame(adt('1')));
		await until(() => gateway.delivered.length === 1);
		await surface.close(20);
		await sender.closed;
		assert.deepEqual(sender.answers, []);
	});

	test('a port that is taken is reported', async (t) => {
		const { surface, address } = await startSurface(t);
		await assert.rejects(surface.listen({ host: '127.0.0.1', port: address.port }), { code: 'EADDRINUSE' });
	});
});

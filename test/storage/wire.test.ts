import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import type pg from 'pg';
import { stateOf, troubleOf } from '#storage/sqlstate.ts';
import { Wire } from '#storage/wire.ts';

/** A message of the server: its code and its body. */
function message(code: string, ...body: (Buffer | string)[]): Buffer {
	const bytes = Buffer.concat(body.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
	const head = Buffer.alloc(5);
	head.write(code, 'latin1');
	head.writeInt32BE(bytes.length + 4, 1);
	return Buffer.concat([head, bytes]);
}

function row(...cells: (string | null)[]): Buffer {
	const count = Buffer.alloc(2);
	count.writeUInt16BE(cells.length);
	const parts = cells.map((cell) => {
		const length = Buffer.alloc(4);
		length.writeInt32BE(cell === null ? -1 : Buffer.byteLength(cell));
		return Buffer.concat([length, Buffer.from(cell ?? '')]);
	});
	return message('D', count, ...parts);
}

const completed = (command: string) => message('C', `${command}\0`);
const ready = message('Z', 'I');
const refusal = (severity: string, code: string) => message('E', `S${severity}\0C${code}\0Mno\0tpatient\0nkey\0\0`);

/** A server that answers what it is told to, and keeps what it was sent. */
class Server extends Duplex {
	sent = '';

	override _write(chunk: Buffer, _encoding: string, done: () => void): void {
		this.sent += chunk.toString('latin1');
		done();
	}

	override _read(): void {}
}

function wireTo(silentMsMax = 10_000) {
	const server = new Server();
	return { server, wire: new Wire(server, silentMsMax) };
}

const one = { name: 'one', text: 'select 1' };

describe('what the server answers', () => {
	const answers = [
		message('1'),
		message('2'),
		row('Müller', null, ''),
		message('N', 'SNOTICE\0\0'),
		row('x'.repeat(3000)),
		completed('SELECT 2'),
		ready,
	];
	const all = Buffer.concat(answers);

	test('is read however it is cut', async () => {
		for (const size of [1, 2, 3, 4, 5, 7, 64, 1000, all.length]) {
			const { server, wire } = wireTo();
			const answered = wire.run(one, [], false);
			wire.flush();
			for (let at = 0; at < all.length; at += size) server.push(all.subarray(at, at + size));
			assert.deepEqual(await answered, { rows: [['Müller', null, ''], ['x'.repeat(3000)]], command: 'SELECT 2' }, `pieces of ${size}`);
		}
	});

	test('leads to the statements in their order; one that is known is not prepared again', async () => {
		const { server, wire } = wireTo();
		const both = [wire.run(one, ['a'], false), wire.run(one, ['b'], false)];
		wire.flush();
		assert.equal(server.sent.split('select 1').length, 2);
		server.push(
			Buffer.concat([message('1'), message('2'), row('1'), completed('SELECT 1'), message('2'), row('2'), completed('SELECT 1'), ready]),
		);
		assert.deepEqual(
			(await Promise.all(both)).map(({ rows }) => rows),
			[[['1']], [['2']]],
		);
	});

	test('of a failed statement says what and where; the rest of its group is passed over and prepared anew, the next group is not touched', async () => {
		const { server, wire } = wireTo();
		const failing = wire.run({ name: 'bad', text: 'bad' }, [], false);
		const behind = wire.run({ name: 'behind', text: 'behind' }, [], true);
		const next = wire.run(one, [], false);
		wire.flush();
		server.push(Buffer.concat([refusal('ERROR', '23505'), ready, message('1'), message('2'), completed('SELECT 0'), ready]));
		const [first, second, third] = await Promise.allSettled([failing, behind, next]);
		assert.ok(first.status === 'rejected' && second.status === 'rejected');
		const { code, table, constraint } = first.reason as pg.DatabaseError;
		assert.deepEqual([code, table, constraint, stateOf(second.reason)], ['23505', 'patient', 'key', '25P02']);
		assert.equal(third.status, 'fulfilled');
		server.sent = '';
		void wire.run({ name: 'behind', text: 'behind' }, [], false).catch(() => undefined);
		wire.flush();
		assert.match(server.sent, /^P/);
		server.destroy();
	});

	test('with the end of the connection ends every statement, with the reason if it gave one', async () => {
		for (const reason of [undefined, refusal('FATAL', '57P01')]) {
			const { server, wire } = wireTo();
			const waiting = [wire.run(one, [], false), wire.run(one, [], false)];
			wire.flush();
			if (reason) server.push(reason);
			setImmediate(() => server.destroy());
			for (const { reason: error } of (await Promise.allSettled(waiting)) as PromiseRejectedResult[]) {
				assert.equal(troubleOf(error), 'connection');
				assert.equal(stateOf(error), reason && '57P01');
			}
			await assert.rejects(wire.run(one, [], false), (error) => troubleOf(error) === 'connection');
		}
	});

	test('may not be silence', async () => {
		const { server, wire } = wireTo(20);
		const waiting = wire.run(one, [], false);
		wire.flush();
		// The timer of the wire alone would not keep the process.
		const held = setTimeout(() => undefined, 60_000);
		await assert.rejects(waiting, (error) => troubleOf(error) === 'connection');
		clearTimeout(held);
		assert.ok(server.destroyed);
	});
});

test('of searches only so many stay prepared; the first of them is given up, and prepared anew under another name', () => {
	const { server, wire } = wireTo();
	const search = (index: number) => {
		void wire.run({ name: `search_${index}`, text: 'select 1' }, [], false).catch(() => undefined);
		wire.flush();
	};
	for (let index = 0; index < 64; index++) search(index);
	void wire.run(one, [], false).catch(() => undefined);
	wire.flush();
	assert.doesNotMatch(server.sent, /Ssearch_/);
	search(64);
	assert.deepEqual(server.sent.match(/Ssearch_\w+/g), ['Ssearch_0_1']);
	server.sent = '';
	search(1);
	assert.match(server.sent, /^B/);
	search(0);
	assert.deepEqual(server.sent.match(/search_\w+/g), ['search_1_2', 'search_0_66', 'search_0_66', 'search_1_2']);
	server.destroy();
});

test('a parameter is a text, bytes, a number or a boolean; a statement with another is not sent at all', async () => {
	const { server, wire } = wireTo();
	await assert.rejects(wire.run(one, ['a', {}], false), TypeError);
	await assert.rejects(wire.run(one, [[['a']]], false), TypeError);
	wire.flush();
	assert.equal(server.sent, '');
	server.destroy();
});

test('a statement with more parameters than the protocol can count is refused, and not sent at all', async () => {
	const { server, wire } = wireTo();
	const values = (count: number) => Array.from({ length: count }, () => 'a');
	await assert.rejects(wire.run(one, values(65_536), false), { name: 'Failure', code: 'too-costly' });
	wire.flush();
	assert.equal(server.sent, '');
	void wire.run(one, values(65_535), false).catch(() => undefined);
	wire.flush();
	assert.notEqual(server.sent, '');
	server.destroy();
});

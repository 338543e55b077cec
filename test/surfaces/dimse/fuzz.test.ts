import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssociateRequestError, readAssociateRequest } from '#surfaces/dimse/associate-request.ts';
import { readCommandSet } from '#surfaces/dimse/command-set.ts';
import { type PduEvent, PduReader } from '#surfaces/dimse/pdu-reader.ts';
import { fc, fuzzing } from '#test/support/fuzzing.ts';
import { abortPdu, associate, associateRequest, connect, data, echo, releaseRequest, statusOf, store, value } from './peer.ts';
import { startSurface } from './support.ts';

const limits = { dataBytesMax: 4096, associateBytesMax: 8192 };

/** All events of a stream cut into pieces, the fragments of one value put together. */
function eventsOf(pieces: Buffer[]): PduEvent[] {
	const reader = new PduReader(limits);
	const events: PduEvent[] = [];
	let within = false;
	for (const piece of pieces) {
		reader.feed(piece);
		for (let event = reader.next(); event !== undefined; event = reader.next()) {
			const last = events.at(-1);
			if (within && event.kind === 'fragment' && last?.kind === 'fragment' && last.contextId === event.contextId)
				events[events.length - 1] = { ...event, bytes: Buffer.concat([last.bytes, event.bytes]) };
			else events.push(event);
			within = event.kind === 'fragment' && !event.isLast;
		}
	}
	return events;
}

function cut(bytes: Buffer, at: number[]): Buffer[] {
	const ends = [...new Set(at.map((position) => position % (bytes.length + 1)))].sort((left, right) => left - right);
	return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
const wholePdu = fc.oneof(
	fc
		.record({ context: fc.integer({ min: 1, max: 9 }), kind: fc.constantFrom('command' as const, 'data' as const), content: bytes(300) })
		.map(({ context, kind, content }) => data(value(context, kind, content), value(context, 'data', content))),
	fc.constantFrom(associateRequest(), releaseRequest, abortPdu, data(value(1, 'command', echo()))),
);
const stream = fc
	.array(fc.oneof({ weight: 8, arbitrary: wholePdu }, { weight: 1, arbitrary: bytes(40) }), { maxLength: 8 })
	.map((parts) => Buffer.concat(parts));

test('PDUs are read alike however they are cut', (context) => {
	fc.assert(
		fc.property(stream, fc.array(fc.nat(5000), { maxLength: 12 }), (whole, at) => {
			assert.deepEqual(eventsOf(cut(whole, at)), eventsOf([whole]));
		}),
		fuzzing(context, 10_000),
	);
});

test('nothing is read behind what is no PDU, and no fragment is longer than what came', (context) => {
	fc.assert(
		fc.property(bytes(400), (whole) => {
			const events = eventsOf([whole]);
			const invalid = events.findIndex(({ kind }) => kind === 'invalid');
			assert.ok(invalid === -1 || invalid === events.length - 1);
			const given = events.reduce((sum, event) => sum + (event.kind === 'fragment' ? event.bytes.length : 0), 0);
			assert.ok(given <= whole.length);
		}),
		fuzzing(context, 30_000),
	);
});

/** A valid text with some of its bytes changed, taken out or put in. */
const mutated = (valid: Buffer) =>
	fc
		.array(fc.record({ at: fc.nat(valid.length - 1), byte: fc.integer({ min: 0, max: 255 }), how: fc.nat(2) }), {
			minLength: 1,
			maxLength: 6,
		})
		.map((changes) =>
			changes.reduce((text, { at, byte, how }) => {
				const put = how === 1 ? Buffer.alloc(0) : Buffer.from([byte]);
				return Buffer.concat([text.subarray(0, at), put, text.subarray(how === 2 ? at : at + 1)]);
			}, valid),
		);

test('an A-ASSOCIATE-RQ is read or found broken', (context) => {
	const body = associateRequest().subarray(6);
	fc.assert(
		fc.property(
			fc.oneof(
				mutated(body),
				bytes(200).map((rest) => Buffer.concat([body.subarray(0, 68), rest])),
			),
			(changed) => {
				const padded = Buffer.concat([changed, Buffer.alloc(Math.max(0, 68 - changed.length))]);
				try {
					const { contexts } = readAssociateRequest(padded);
					assert.ok(contexts.every(({ id }) => id % 2 === 1));
				} catch (error) {
					assert.ok(error instanceof AssociateRequestError);
				}
			},
		),
		fuzzing(context, 30_000),
	);
});

test('a command set is read or found broken', (context) => {
	fc.assert(
		fc.property(fc.oneof(mutated(store()), bytes(100)), (changed) => {
			const command = readCommandSet(changed);
			assert.ok(command === undefined || command.commandField <= 0xffff);
		}),
		fuzzing(context, 30_000),
	);
});

test('whatever is sent, the surface answers or closes, keeps no part of an object, and goes on', async (context) => {
	const { port, intake, counted } = await startSurface(context, { limits: { dimseArtimMsMax: 2000, dimseStallMsMax: 2000 } });
	const valid = Buffer.concat([
		associateRequest(),
		data(value(3, 'command', store()), value(3, 'data', Buffer.alloc(600))),
		releaseRequest,
	]);
	await fc.assert(
		fc.asyncProperty(fc.oneof(mutated(valid), stream, bytes(300)), async (sent) => {
			const peer = await connect(context, port);
			peer.socket.end(sent);
			await peer.closed;
			for (const { type } of peer.received) assert.ok([2, 3, 4, 6, 7].includes(type));
		}),
		fuzzing(context, 1000),
	);
	for (const { ended } of intake.taken) assert.ok(ended !== undefined);
	assert.equal(await counted('dimseAssociations'), 0);
	assert.equal(await counted('dimseAssociationsPaused'), 0);
	const peer = await associate(context, port);
	const [answer] = await peer.ask(data(value(1, 'command', echo())));
	assert.ok(answer);
	assert.equal(statusOf(answer), 0);
});

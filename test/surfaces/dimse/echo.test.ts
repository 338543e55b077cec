import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import type { RemoteAe } from '#access/directory.ts';
import { targetPolicy } from '#core/target-policy.ts';
import { type EchoOptions, echo } from '#surfaces/dimse/echo.ts';
import { fc, runs } from '#test/support/fuzzing.ts';
import { defaultLimits } from '../../../src/limits.ts';
import { abortPdu, commandSet, data, type Peer, pdu, value } from './peer.ts';
import { associateAccept, listeningRemote, proposalOf } from './remote.ts';
import { implicitLittleEndian, startSurface, verification } from './support.ts';

const certificates = new URL('../mllp/certificates/', import.meta.url);
const pem = (name: string) => readFileSync(new URL(name, certificates));

function options(more: Partial<EchoOptions> = {}): EchoOptions {
	return { callingAe: 'WEST', tls: undefined, targets: targetPolicy([], '127.0.0.1'), limits: defaultLimits, ...more };
}

const soon = options({ limits: { ...defaultLimits, dimseConnectMsMax: 100 } });
const accepted = associateAccept({ 1: [0, implicitLittleEndian] });
const answerWith = (status: number) =>
	data(value(1, 'command', commandSet({ 2: verification, 256: 0x8030, 288: 1, 2048: 0x0101, 2304: status })));

/** What a peer does with an association that it is asked for. */
async function against(t: TestContext, play: (peer: Peer) => unknown, given = options()) {
	const remote = await listeningRemote(t);
	const [result] = await Promise.all([
		echo(remote.target, given),
		remote.connected().then(async (peer) => {
			await peer.next();
			await play(peer);
		}),
	]);
	return result;
}

describe('a C-ECHO of a remote AE', () => {
	test('is answered by this service itself', async (t) => {
		const { port } = await startSurface(t);
		const target: RemoteAe = { title: 'WEST', host: 'localhost', port, tls: false };
		assert.deepEqual(await echo(target, options()), { outcome: 'answered', status: 0, reason: 'WEST answered' });
		const { outcome, reason } = await echo({ ...target, title: 'NOWHERE' }, options());
		assert.deepEqual([outcome, reason], ['rejected', 'NOWHERE rejected the association: called-AE-title-not-recognized']);
	});

	test('proposes verification alone under the titles of both, and releases the association', async (t) => {
		const remote = await listeningRemote(t);
		const called = echo(remote.target, options());
		const peer = await remote.connected();
		const { called: calledAe, calling, contexts } = proposalOf((await peer.next()).body);
		assert.deepEqual([calledAe, calling, Object.keys(contexts), contexts[1]?.[0]], ['REMOTE', 'WEST', ['1'], verification]);
		peer.write(accepted);
		assert.equal((await peer.next()).type, 4);
		peer.write(answerWith(0));
		assert.equal((await peer.next()).type, 5);
		peer.write(pdu(6, Buffer.alloc(4)));
		assert.equal((await called).outcome, 'answered');
		await peer.closed;
	});

	test('has its answer though the peer does not release', async (t) => {
		const played = async (peer: Peer) => {
			peer.write(accepted);
			await peer.next();
			peer.write(answerWith(0));
		};
		assert.equal((await against(t, played)).outcome, 'answered');
	});

	test('that the peer refuses has the status', async (t) => {
		const result = await against(t, async (peer) => {
			peer.write(accepted);
			await peer.next();
			peer.write(answerWith(0x0122));
			await peer.next();
			peer.write(pdu(6, Buffer.alloc(4)));
		});
		assert.deepEqual(result, { outcome: 'refused', status: 0x0122, reason: 'REMOTE answered with the status 0x0122' });
	});

	const failures: [string, string, RegExp, (peer: Peer) => unknown][] = [
		['a rejection', 'rejected', /local-limit-exceeded, transient$/, (peer) => peer.write(pdu(3, Buffer.from([0, 2, 3, 2])))],
		['an abort', 'aborted', /aborted the association$/, (peer) => peer.write(abortPdu)],
		['an end of the connection', 'aborted', /closed the connection$/, (peer) => peer.socket.end()],
		['garbage', 'protocol', /broke the protocol$/, (peer) => peer.write(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'))],
		['an acceptance that is cut short', 'protocol', /broke the protocol$/, (peer) => peer.write(pdu(2, accepted.subarray(6, 90)))],
		[
			'bytes without end',
			'protocol',
			/sends without end$/,
			(peer) => peer.write(Buffer.concat([pdu(2, Buffer.alloc(0), 0xffffffff), Buffer.alloc(defaultLimits.dimseAssociateBytesMax)])),
		],
		[
			'no context',
			'no-context',
			/does not accept C-ECHO$/,
			async (peer) => {
				peer.write(associateAccept({ 1: [3, ''] }));
				assert.equal((await peer.next()).type, 5);
				peer.write(pdu(6, Buffer.alloc(4)));
			},
		],
	];
	for (const [name, outcome, reason, play] of failures) {
		test(`${name} is told as ${outcome}`, async (t) => {
			const result = await against(t, play);
			assert.equal(result.outcome, outcome, result.reason);
			assert.match(result.reason, reason);
			assert.match(result.reason, /^REMOTE /);
		});
	}

	test('a peer that is silent is given up, and its connection closed', async (t) => {
		const closed: Promise<unknown>[] = [];
		const silent = await against(t, (peer) => void closed.push(peer.closed), soon);
		assert.deepEqual(silent, { outcome: 'timeout', reason: 'REMOTE did not accept the association in time' });
		const mute = await against(
			t,
			(peer) => {
				peer.write(accepted);
				closed.push(peer.closed);
			},
			soon,
		);
		assert.deepEqual(mute, { outcome: 'timeout', reason: 'REMOTE accepted the association and did not answer in time' });
		await Promise.all(closed);
	});

	test('a peer that is not there is told with the code of the system', async () => {
		for (const host of ['127.0.0.1', 'localhost']) {
			const forbidden = await echo({ title: 'NOBODY', host, port: 1, tls: false }, options({ targets: targetPolicy([], '0.0.0.0') }));
			assert.equal(forbidden.outcome, 'unreachable');
			assert.match(forbidden.reason, /its address is not permitted, ALLOWED_TARGETS may permit it/);
		}
		const result = await echo({ title: 'NOBODY', host: '127.0.0.1', port: 1, tls: false }, options());
		assert.deepEqual(result, { outcome: 'unreachable', reason: 'NOBODY cannot be reached: ECONNREFUSED' });
	});

	test('over TLS holds the peer to the authorities, and shows a certificate', async (t) => {
		const { port } = await startSurface(t, {
			listen: { tls: { cert: pem('server.cert.pem'), key: pem('server.key.pem'), clientCa: pem('authority.cert.pem') } },
		});
		const target = { title: 'WEST', host: 'localhost', port, tls: true };
		const own = { authorities: pem('authority.cert.pem'), cert: pem('client.cert.pem'), key: pem('client.key.pem') };
		assert.equal((await echo(target, options({ tls: own }))).outcome, 'answered');
		const stranger = await echo(target, options({ tls: { ...own, authorities: undefined } }));
		assert.deepEqual([stranger.outcome, /cannot be reached: \w+/.test(stranger.reason)], ['unreachable', true]);
		assert.notEqual((await echo(target, options({ tls: { ...own, cert: undefined, key: undefined } }))).outcome, 'answered');
		assert.notEqual((await echo({ ...target, tls: false }, soon)).outcome, 'answered');
	});

	test('whatever a peer answers comes to an outcome', async (t) => {
		const remote = await listeningRemote(t);
		const bytes = fc.oneof(
			fc.uint8Array({ maxLength: 300 }),
			fc.tuple(fc.nat(accepted.length - 1), fc.nat(255)).map(([at, byte]) => Uint8Array.from(accepted).fill(byte, at, at + 1)),
			fc.nat(accepted.length).map((length) => accepted.subarray(0, length)),
		);
		await fc.assert(
			fc.asyncProperty(bytes, fc.uint8Array({ maxLength: 100 }), async (first, second) => {
				const called = echo(remote.target, options({ limits: { ...defaultLimits, dimseConnectMsMax: 1000 } }));
				const peer = await remote.connected();
				await peer.next();
				peer.socket.write(first);
				peer.socket.end(second);
				const { outcome } = await called;
				assert.ok(outcome !== 'answered' && outcome !== 'unreachable', outcome);
			}),
			{ numRuns: runs(40) },
		);
	});
});

import { isIP, Socket } from 'node:net';
import { DEFAULT_CIPHERS } from 'node:tls';
import type { RemoteAe } from '#access/directory.ts';
import type { Echo } from '#administration/echo.ts';
import { permittedAddress } from '#core/permitted-lookup.ts';
import type { TargetPolicy } from '#core/target-policy.ts';
import { rejectedBy } from './association-error.ts';
import type { DimseLimits } from './limits.ts';
import type { RequestorTls } from './requestor-tls.ts';

export interface EchoOptions {
	callingAe: string;
	tls: RequestorTls | undefined;
	/** The addresses that may be called. */
	targets: TargetPolicy;
	limits: Pick<DimseLimits, 'dimseConnectMsMax' | 'dimseAssociateBytesMax'>;
}

/** The echo has been answered, so the peer gets no longer than this to release the association. */
const releaseMsMax = 2000;

/** The library's types do not show its connection. This code bounds and closes it. */
interface Connected {
	socket: Socket;
	on(event: 'abort', listener: () => void): unknown;
}

function connectionOf(client: object): Connected {
	const { network } = client as { network?: Connected };
	if (!(network?.socket instanceof Socket)) throw new Error('dcmjs-dimse keeps its connection where it is not expected');
	return network;
}

function securityOptions(tls: RequestorTls | undefined, host: string) {
	const { cert, key, authorities } = tls ?? {};
	return {
		...(isIP(host) === 0 ? { servername: host } : {}),
		...(cert && key ? { cert, key } : {}),
		...(authorities ? { ca: authorities } : {}),
		rejectUnauthorized: true,
		minVersion: 'TLSv1.2',
		ciphers: DEFAULT_CIPHERS,
	};
}

/**
 * Sends C-ECHO to a remote AE (PS3.7 §9.1.5) with the client of dcmjs-dimse: an association, one request, its release. It never rejects
 * because of the peer. The library does not bound what it receives and leaves connections open that the peer does not close; this code
 * handles both.
 */
export async function echo(remote: RemoteAe, options: EchoOptions): Promise<Echo> {
	try {
		return await echoAt(remote, await permittedAddress(options.targets, remote.host), options);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === undefined) throw error;
		return { outcome: 'unreachable', reason: `${remote.title} cannot be reached: ${code}` };
	}
}

async function echoAt({ title, host, port, tls }: RemoteAe, address: string, { callingAe, tls: own, limits }: EchoOptions): Promise<Echo> {
	// The library takes a tenth of a second and some memory to load, so only those who ask for an echo pay for it.
	const { Client: DimseClient, log, requests } = (await import('dcmjs-dimse')).default;
	log.setLevel('silent');
	const client = new DimseClient();
	const request = new requests.CEchoRequest();
	client.addRequest(request);
	const ms = limits.dimseConnectMsMax;
	// The time limits of the library come later than ours and close nothing.
	const late = { connectTimeout: 4 * ms, associationTimeout: 4 * ms, pduTimeout: 4 * ms };
	return new Promise((resolve) => {
		let answer: Echo | undefined;
		let isConnected = false;
		let received = 0;
		const end = (echo: Echo) => {
			clearTimeout(patience);
			answer ??= echo;
			socket.destroy();
			resolve(answer);
		};
		const fail = (outcome: Echo['outcome'], what: string) => end({ outcome, reason: `${title} ${what}` });
		let patience = setTimeout(() => fail('timeout', 'did not accept the association in time'), ms);
		const expectWithin = (limitMs: number, what: string) => {
			clearTimeout(patience);
			patience = setTimeout(() => fail('timeout', what), limitMs);
		};
		client.on('associationAccepted', () => expectWithin(ms, 'accepted the association and did not answer in time'));
		client.on('associationRejected', ({ result, source, reason }) => {
			end({ outcome: 'rejected', reason: rejectedBy(title, Buffer.from([0, result, source, reason])).message });
		});
		request.on('response', (response) => {
			const status = response.getStatus();
			const words = status === 0 ? 'answered' : `answered with the status 0x${status.toString(16).padStart(4, '0').toUpperCase()}`;
			answer ??= { outcome: status === 0 ? 'answered' : 'refused', status, reason: `${title} ${words}` };
			expectWithin(releaseMsMax, words);
		});
		client.on('associationReleased', () => fail('no-context', 'does not accept C-ECHO'));
		client.on('closed', () => fail('aborted', 'closed the connection'));
		client.on('networkError', () => fail('protocol', 'broke the protocol'));
		client.send(address, port, callingAe, title, { ...late, ...(tls ? { securityOptions: securityOptions(own, host) } : {}) });
		const connection = connectionOf(client);
		const { socket } = connection;
		connection.on('abort', () => fail('aborted', 'aborted the association'));
		socket.setNoDelay(true);
		socket.once(tls ? 'secureConnect' : 'connect', () => {
			isConnected = true;
		});
		// This listener runs before the library's, which does not keep the code.
		socket.prependListener('error', (error: NodeJS.ErrnoException) => {
			const why = error.code ?? 'connection failed';
			if (isConnected) fail('aborted', `broke off: ${why}`);
			else fail('unreachable', `cannot be reached: ${why}`);
		});
		socket.on('data', (chunk) => {
			received += chunk.length;
			if (received > limits.dimseAssociateBytesMax) fail('protocol', 'broke the protocol: it sends without end');
		});
	});
}

import type { Socket } from 'node:net';
import { Server } from 'node:tls';

export interface TlsIdentity {
	/** PEM. */
	cert: Buffer | string;
	key: Buffer | string;
	/** PEM. If it is set, clients need a certificate that this authority issued. */
	clientCa?: Buffer | string;
}

/** A handshake takes a few round trips. A peer that needs longer holds a connection without being known. */
const handshakeMsMax = 10_000;

interface Pending {
	secured(socket: Socket): void;
}

/**
 * Runs TLS over sockets that were accepted elsewhere, because a PROXY header comes before the handshake. `failed` is called for a socket
 * that closes without a completed handshake; that includes a missing or foreign client certificate.
 */
export class SecureSockets {
	readonly #server: Server;
	readonly #pending = new Map<string, Pending>();

	constructor({ cert, key, clientCa }: TlsIdentity) {
		const client = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
		this.#server = new Server({ cert, key, ...client, minVersion: 'TLSv1.2', handshakeTimeout: handshakeMsMax });
		this.#server.on('secureConnection', (socket) => {
			const pending = this.#pending.get(endpoint(socket));
			this.#pending.delete(endpoint(socket));
			if (pending === undefined) socket.destroy();
			else pending.secured(socket);
		});
	}

	wrap(socket: Socket, secured: (socket: Socket) => void, failed: () => void): void {
		const key = endpoint(socket);
		this.#pending.set(key, { secured });
		socket.once('close', () => {
			if (this.#pending.delete(key)) failed();
		});
		this.#server.emit('connection', socket);
	}
}

function endpoint(socket: Socket): string {
	return `${socket.remoteAddress} ${socket.remotePort} ${socket.localPort}`;
}

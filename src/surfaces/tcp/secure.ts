import type { Socket } from 'node:net';
import { type SecureContextOptions, Server } from 'node:tls';
import type { TlsIdentity } from '../../certificates.ts';

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

	constructor(identity: TlsIdentity) {
		const client = identity.clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: true };
		this.#server = new Server({ ...contextOf(identity), ...client, handshakeTimeout: handshakeMsMax });
		this.#server.on('secureConnection', (socket) => {
			const pending = this.#pending.get(endpoint(socket));
			this.#pending.delete(endpoint(socket));
			if (pending === undefined) socket.destroy();
			else pending.secured(socket);
		});
	}

	/** Handshakes from now on have this certificate. */
	renew(identity: TlsIdentity): void {
		this.#server.setSecureContext(contextOf(identity));
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

/** TLS 1.0 and 1.1 are withdrawn (RFC 8996). */
function contextOf({ cert, key, clientCa }: TlsIdentity): SecureContextOptions {
	return { cert, key, ...(clientCa === undefined ? {} : { ca: clientCa }), minVersion: 'TLSv1.2' };
}

function endpoint(socket: Socket): string {
	return `${socket.remoteAddress} ${socket.remotePort} ${socket.localPort}`;
}

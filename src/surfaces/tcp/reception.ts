import { createServer, type Server, type Socket } from 'node:net';
import { normaliseAddress } from '#core/address.ts';
import type { Log } from '#core/log.ts';
import { awaitProxyHeader } from './proxy-header.ts';
import { SecureSockets, type TlsIdentity } from './secure.ts';

export interface TcpListenOptions {
	host: string;
	/** 0: any free port. */
	port: number;
	tls?: TlsIdentity;
}

export interface TcpAddress {
	host: string;
	port: number;
	tls: boolean;
}

/** `proxy`: a PROXY header that is missing or wrong, or from a peer that is no trusted proxy. */
export type ConnectionRefusal = 'address' | 'proxy' | 'certificate';

/** What a surface makes of the sockets that are accepted for it. */
export interface ReceptionOptions {
	/** For the log: `MLLP`, `DIMSE`. */
	protocol: string;
	allowHalfOpen: boolean;
	/** How long a trusted proxy has for its header. */
	headerMsMax: number;
	log: Log;
	/** Whether a peer is listed in TRUSTED_PROXIES; its connections then begin with a PROXY header. */
	isTrustedProxy(address: string): boolean;
	/** Whether one more socket is taken, with so many that still owe a header or a handshake. */
	hasRoom(arriving: number): boolean;
	/** Whether anybody at this address may connect, asked before a TLS handshake. `unavailable`: it cannot be told at the moment. */
	mayConnect(address: string): boolean | 'unavailable';
	/** `proxied`: the address came with a PROXY header. */
	connected(socket: Socket, address: string, proxied: boolean): void;
	/** The socket is closed after the call. The address is the sender's, or the peer's when it named none. */
	refused(address: string, reason: ConnectionRefusal): void;
	/** Closed through no fault of the peer: there is no room, or nobody can tell whether it may connect. */
	turnedAway(reason: 'limit' | 'unavailable'): void;
}

const keepAliveDelayMs = 30_000;

/** The sockets of one surface from their acceptance until it is known on whose behalf they call: PROXY header, then TLS. */
export class Reception {
	readonly #options: ReceptionOptions;
	readonly #servers: Server[] = [];
	/** Accepted TCP sockets that still owe a PROXY header or a TLS handshake. */
	readonly #arriving = new Set<Socket>();
	#closing = false;

	constructor(options: ReceptionOptions) {
		this.#options = options;
	}

	/** Listens on one more port. Rejects with the system's error (EADDRINUSE, …). */
	async listen({ host, port, tls }: TcpListenOptions): Promise<TcpAddress> {
		const secure = tls === undefined ? undefined : new SecureSockets(tls);
		const { allowHalfOpen, protocol, log } = this.#options;
		// With Nagle's algorithm an answer waits for the peer's delayed acknowledgement: 40 ms a message.
		const options = { allowHalfOpen, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveDelayMs };
		const server = createServer(options, (socket) => this.#onSocket(socket, secure));
		await new Promise<void>((resolve, reject) => {
			server.once('error', reject);
			server.listen({ host, port }, () => {
				server.off('error', reject);
				server.on('error', (error) => log.error({ err: error }, `${protocol} listener failed`));
				resolve();
			});
		});
		this.#servers.push(server);
		const bound = server.address();
		return { host, port: typeof bound === 'object' && bound !== null ? bound.port : port, tls: secure !== undefined };
	}

	/** Stops listening and closes who has not arrived yet. Resolves when every accepted socket is gone. */
	async close(): Promise<void> {
		this.#closing = true;
		const gone = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
		for (const socket of this.#arriving) socket.destroy();
		await Promise.all(gone);
	}

	#onSocket(socket: Socket, secure: SecureSockets | undefined): void {
		// A failed socket closes, and the close is what is acted upon.
		socket.on('error', () => undefined);
		const { headerMsMax, hasRoom, isTrustedProxy, turnedAway } = this.#options;
		if (this.#closing || !hasRoom(this.#arriving.size)) {
			turnedAway('limit');
			socket.destroy();
			return;
		}
		this.#arriving.add(socket);
		socket.once('close', () => this.#arriving.delete(socket));
		const peer = normaliseAddress(socket.remoteAddress ?? '');
		if (peer === '') socket.destroy();
		else if (isTrustedProxy(peer)) {
			const received = (address: string | undefined) => this.#admit(socket, normaliseAddress(address ?? peer), true, secure);
			awaitProxyHeader(socket, headerMsMax, received, () => this.#refuse(socket, peer, 'proxy'));
		} else this.#admit(socket, peer, false, secure);
	}

	#admit(socket: Socket, address: string, proxied: boolean, secure: SecureSockets | undefined): void {
		const { mayConnect, turnedAway } = this.#options;
		const allowed = mayConnect(address);
		if (allowed === 'unavailable') {
			turnedAway(allowed);
			socket.destroy();
		} else if (!allowed) {
			this.#refuse(socket, address, 'address');
		} else if (secure === undefined) {
			this.#connect(socket, socket, address, proxied);
		} else {
			const failed = () => {
				if (!this.#closing) this.#refuse(socket, address, 'certificate');
			};
			secure.wrap(socket, (secured) => this.#connect(socket, secured, address, proxied), failed);
		}
	}

	#connect(accepted: Socket, socket: Socket, address: string, proxied: boolean): void {
		this.#arriving.delete(accepted);
		if (!socket.destroyed) this.#options.connected(socket, address, proxied);
	}

	#refuse(socket: Socket, address: string, reason: ConnectionRefusal): void {
		const { log, protocol, refused } = this.#options;
		log.warn({ address, reason }, `${protocol} connection refused`);
		refused(address, reason);
		socket.destroy();
	}
}

import { createServer, type Server, type Socket } from 'node:net';
import { normaliseAddress } from '#core/address.ts';
import type { Log } from '#core/log.ts';
import type { Quotas } from '#core/node-line.ts';
import { takenPort } from '#core/start-error.ts';
import { type Share, takeShares } from '#core/take-shares.ts';
import type { TlsIdentity } from '../../certificates.ts';
import { awaitProxyHeader } from './proxy-header.ts';
import { SecureSockets } from './secure.ts';

export interface TcpListenOptions {
	host: string;
	/** 0 means any free port. */
	port: number;
	/** True if other processes of the node listen on the same port. */
	sharesPort?: boolean;
	tls?: TlsIdentity;
	/** Registers what is done with a renewed certificate. */
	onRenewal?(take: (identity: TlsIdentity) => void): void;
}

export interface TcpAddress {
	host: string;
	port: number;
	tls: boolean;
}

/** `proxy`: a PROXY header is missing or invalid, or came from a peer that is no trusted proxy. */
export type ConnectionRefusal = 'address' | 'proxy' | 'certificate';

/** Whose share of the connections is used up. */
export type ConnectionHolder = 'address' | 'client' | 'site';

/** `limit`: all sockets together are too many. */
export type TurnedAway = 'limit' | 'unavailable' | `${ConnectionHolder}-limit`;

/** Tells what a surface does with the sockets that are accepted for it. */
export interface ReceptionOptions {
	/** The name for the log: `MLLP`, `DIMSE`. */
	protocol: string;
	allowHalfOpen: boolean;
	/** The time that a trusted proxy has for its header. */
	headerMsMax: number;
	log: Log;
	/** Tells whether a peer is listed in TRUSTED_PROXIES; its connections then begin with a PROXY header. */
	isTrustedProxy(address: string): boolean;
	/** Takes room for one more socket; false when there is none. */
	takeRoom(): boolean | Promise<boolean>;
	/** Gives the room of a socket back, which is closed. */
	giveRoom(): void;
	/**
	 * Tells before a TLS handshake whether any client at this address may connect. `unavailable` means that this cannot be told at the
	 * moment.
	 */
	mayConnect(address: string): boolean | 'unavailable';
	quotas: Quotas;
	/** Returns the shares that a connection from this address counts against. */
	sharesOf(address: string): readonly Share<ConnectionHolder>[];
	/** `proxied` means that the address came with a PROXY header. */
	connected(socket: Socket, address: string, proxied: boolean): void;
	/** The socket is closed after the call. The address is the sender's, or the peer's when the sender's is unknown. */
	refused(address: string, reason: ConnectionRefusal): void;
	/** The socket was closed because there is no room, its share is used up, or it cannot be told whether the peer may connect. */
	turnedAway(reason: TurnedAway, address: string): void;
}

/** It finds peers that are gone; the idle limits of the protocols end those that are silent. */
const keepAliveDelayMs = 30_000;

/** The sockets of one surface from their acceptance until their sender is known: first the PROXY header, then TLS. */
export class Reception {
	readonly #options: ReceptionOptions;
	readonly #servers: Server[] = [];
	/** Accepted TCP sockets that still owe a PROXY header or a TLS handshake. */
	readonly #arriving = new Set<Socket>();
	#closing = false;

	constructor(options: ReceptionOptions) {
		this.#options = options;
	}

	/** Listens on one more port. Rejects with a StartError, which has the system's code (EADDRINUSE, …). */
	async listen({ host, port, sharesPort = false, tls, onRenewal }: TcpListenOptions): Promise<TcpAddress> {
		const secure = tls === undefined ? undefined : new SecureSockets(tls);
		if (secure) onRenewal?.((identity) => secure.renew(identity));
		const { allowHalfOpen, protocol, log } = this.#options;
		// With Nagle's algorithm an answer would wait for the peer's delayed acknowledgement: 40 ms a message.
		const options = { allowHalfOpen, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveDelayMs };
		const server = createServer(options, (socket) => this.#onSocket(socket, secure));
		await new Promise<void>((resolve, reject) => {
			const refuse = (error: Error) => reject(takenPort(protocol, host, port, error));
			server.once('error', refuse);
			server.listen({ host, port, reusePort: sharesPort }, () => {
				server.off('error', refuse);
				server.on('error', (error) => log.error({ err: error }, `${protocol} listener failed`));
				resolve();
			});
		});
		this.#servers.push(server);
		const bound = server.address();
		return { host, port: typeof bound === 'object' && bound !== null ? bound.port : port, tls: secure !== undefined };
	}

	/** Stops listening and closes sockets that have not arrived yet. Resolves when every accepted socket is gone. */
	async close(): Promise<void> {
		this.#closing = true;
		const gone = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
		for (const socket of this.#arriving) socket.destroy();
		await Promise.all(gone);
	}

	#onSocket(socket: Socket, secure: SecureSockets | undefined): void {
		// A failed socket also closes, and the close event is handled.
		socket.on('error', () => undefined);
		const room = !this.#closing && this.#options.takeRoom();
		if (typeof room === 'boolean') {
			this.#onRoom(socket, secure, room);
			return;
		}
		void room.then((hasRoom) => this.#onRoom(socket, secure, hasRoom));
	}

	#onRoom(socket: Socket, secure: SecureSockets | undefined, hasRoom: boolean): void {
		const { headerMsMax, isTrustedProxy, giveRoom, turnedAway } = this.#options;
		if (!hasRoom) {
			turnedAway('limit', normaliseAddress(socket.remoteAddress ?? ''));
			socket.destroy();
			return;
		}
		if (socket.destroyed || this.#closing) {
			socket.destroy();
			giveRoom();
			return;
		}
		socket.once('close', giveRoom);
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
		const { mayConnect, turnedAway, sharesOf, quotas } = this.#options;
		const allowed = mayConnect(address);
		if (allowed === 'unavailable') {
			turnedAway(allowed, address);
			socket.destroy();
			return;
		}
		if (!allowed) {
			this.#refuse(socket, address, 'address');
			return;
		}
		const shares = sharesOf(address);
		const settled = (full: ConnectionHolder | undefined) => {
			if (full !== undefined) {
				turnedAway(`${full}-limit`, address);
				socket.destroy();
				return;
			}
			const give = () => {
				for (const { name } of shares) quotas.give(name);
			};
			if (socket.closed || socket.destroyed) {
				give();
				return;
			}
			socket.once('close', give);
			this.#welcome(socket, address, proxied, secure);
		};
		const full = takeShares(quotas, shares);
		if (full instanceof Promise) void full.then(settled);
		else settled(full);
	}

	#welcome(socket: Socket, address: string, proxied: boolean, secure: SecureSockets | undefined): void {
		if (secure === undefined) {
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
		this.#options.refused(address, reason);
		socket.destroy();
	}
}

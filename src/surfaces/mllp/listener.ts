import { createServer, type Server, type Socket } from 'node:net';
import { normaliseAddress } from '#core/address.ts';
import { awaitProxyHeader } from '../tcp/proxy-header.ts';
import { SecureSockets, type TlsIdentity } from '../tcp/secure.ts';
import { MllpConnection } from './connection.ts';
import type { MllpContext, RefusedConnection } from './context.ts';

export interface MllpListenOptions {
	host: string;
	/** 0: any free port. */
	port: number;
	tls?: TlsIdentity;
}

export interface MllpAddress {
	host: string;
	port: number;
	tls: boolean;
}

export interface MllpSurface {
	/** Listens on one more port; all ports share the connection limit. Rejects with the system's error (EADDRINUSE, …). */
	listen(options: MllpListenOptions): Promise<MllpAddress>;
	/** Connections that are open and allowed. */
	connections(): number;
	/**
	 * Stops accepting and reading, finishes the answers under way, ends the sockets; what is left after `withinMs` is
	 * destroyed. Resolves when every socket is gone.
	 */
	close(withinMs: number): Promise<void>;
}

const keepAliveDelayMs = 30_000;
const refusalResults = { address: 'refused-address', proxy: 'refused-proxy', certificate: 'refused-tls' } as const;

/** The sockets of one surface, from their acceptance on. */
class Listeners {
	readonly #context: MllpContext;
	readonly #servers: Server[] = [];
	/** Accepted TCP sockets that still owe a PROXY header or a TLS handshake. */
	readonly #arriving = new Set<Socket>();
	readonly #connections = new Set<MllpConnection>();
	#draining = false;

	constructor(context: MllpContext) {
		this.#context = context;
	}

	get connections(): number {
		return this.#connections.size;
	}

	async listen({ host, port, tls }: MllpListenOptions): Promise<MllpAddress> {
		const secure = tls === undefined ? undefined : new SecureSockets(tls);
		const options = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveDelayMs };
		const server = createServer(options, (socket) => this.#onSocket(socket, secure));
		await new Promise<void>((resolve, reject) => {
			server.once('error', reject);
			server.listen({ host, port }, () => {
				server.off('error', reject);
				server.on('error', (error) => this.#context.log.error({ err: error }, 'MLLP listener failed'));
				resolve();
			});
		});
		this.#servers.push(server);
		const bound = server.address();
		return { host, port: typeof bound === 'object' && bound !== null ? bound.port : port, tls: secure !== undefined };
	}

	#onSocket(socket: Socket, secure: SecureSockets | undefined): void {
		// A failed socket closes, and the close is what is acted upon.
		socket.on('error', () => undefined);
		if (this.#draining || this.#arriving.size + this.#connections.size >= this.#context.limits.mllpConnectionsMax) {
			this.#context.metrics.mllpConnectionsOpened.inc({ result: 'refused-limit' });
			socket.destroy();
			return;
		}
		this.#arriving.add(socket);
		socket.once('close', () => this.#arriving.delete(socket));
		const peer = normaliseAddress(socket.remoteAddress ?? '');
		if (peer === '') socket.destroy();
		else if (this.#context.isTrustedProxy(peer))
			awaitProxyHeader(
				socket,
				this.#context.limits.mllpFrameMsMax,
				(address) => this.#admit(socket, normaliseAddress(address ?? peer), true, secure),
				() => this.#refuse(socket, { address: peer, reason: 'proxy' }),
			);
		else this.#admit(socket, peer, false, secure);
	}

	#admit(socket: Socket, address: string, proxied: boolean, secure: SecureSockets | undefined): void {
		if (!this.#context.directory.mayConnect('hl7-mllp', address)) {
			this.#refuse(socket, { address, reason: 'address' });
		} else if (secure === undefined) {
			this.#connect(socket, socket, address, proxied);
		} else {
			const failed = () => {
				if (!this.#draining) this.#refuse(socket, { address, reason: 'certificate' });
			};
			secure.wrap(socket, (secured) => this.#connect(socket, secured, address, proxied), failed);
		}
	}

	#connect(accepted: Socket, socket: Socket, address: string, proxied: boolean): void {
		this.#arriving.delete(accepted);
		if (socket.destroyed) return;
		this.#context.metrics.mllpConnectionsOpened.inc({ result: 'accepted' });
		const connection = new MllpConnection(socket, address, proxied, this.#context);
		this.#connections.add(connection);
		void connection.closed.then(() => this.#connections.delete(connection));
	}

	#refuse(socket: Socket, refused: RefusedConnection): void {
		const { metrics, log } = this.#context;
		metrics.mllpConnectionsOpened.inc({ result: refusalResults[refused.reason] });
		metrics.accessRefusals.inc({ protocol: 'hl7-mllp', reason: refused.reason });
		log.warn({ address: refused.address, reason: refused.reason }, 'MLLP connection refused');
		this.#context.audit(refused);
		socket.destroy();
	}

	async close(withinMs: number): Promise<void> {
		this.#draining = true;
		const gone = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
		for (const socket of this.#arriving) socket.destroy();
		const open = [...this.#connections];
		for (const connection of open) connection.drain();
		const timer = setTimeout(() => {
			for (const connection of this.#connections) connection.destroy();
		}, withinMs);
		await Promise.all([...gone, ...open.map(({ closed }) => closed)]);
		clearTimeout(timer);
	}
}

/** HL7 v2 over MLLP, on as many ports as `listen` is called for, plain and TLS. */
export function createMllpSurface(context: MllpContext): MllpSurface {
	const listeners = new Listeners(context);
	return {
		listen: (options) => listeners.listen(options),
		connections: () => listeners.connections,
		close: (withinMs) => listeners.close(withinMs),
	};
}

import { createServer, type Server, type Socket } from 'node:net';
import { normaliseAddress } from '#core/address.ts';
import { awaitProxyHeader } from '../tcp/proxy-header.ts';
import { SecureSockets, type TlsIdentity } from '../tcp/secure.ts';
import { Association } from './association.ts';
import type { DimseContext } from './context.ts';
import { procedureStep } from './procedure-step.ts';
import type { ServiceClass } from './service.ts';
import { storage } from './storage.ts';
import { verification } from './verification.ts';

export interface DimseListenOptions {
	host: string;
	/** 0: any free port. */
	port: number;
	tls?: TlsIdentity;
}

export interface DimseAddress {
	host: string;
	port: number;
	tls: boolean;
}

export interface DimseSurface {
	/** Listens on one more port; all ports share the limit of associations. Rejects with the system's error (EADDRINUSE, …). */
	listen(options: DimseListenOptions): Promise<DimseAddress>;
	/** Stops accepting, answers what was received whole, aborts the associations; what is left after `withinMs` is destroyed. */
	close(withinMs: number): Promise<void>;
}

const keepAliveDelayMs = 30_000;
const refusalResults = { proxy: 'refused-proxy', certificate: 'refused-tls' } as const;

class Listeners {
	readonly #context: DimseContext;
	readonly #services: readonly ServiceClass[];
	readonly #servers: Server[] = [];
	/** Accepted TCP sockets that still owe a PROXY header or a TLS handshake. */
	readonly #arriving = new Set<Socket>();
	readonly #associations = new Set<Association>();
	#draining = false;

	constructor(context: DimseContext) {
		this.#context = context;
		this.#services = [verification, storage(context), procedureStep(context)];
	}

	async listen({ host, port, tls }: DimseListenOptions): Promise<DimseAddress> {
		const secure = tls === undefined ? undefined : new SecureSockets(tls);
		// With Nagle's algorithm an answer waits for the peer's delayed acknowledgement: 40 ms an instance.
		const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveDelayMs };
		const server = createServer(options, (socket) => this.#onSocket(socket, secure));
		await new Promise<void>((resolve, reject) => {
			server.once('error', reject);
			server.listen({ host, port }, () => {
				server.off('error', reject);
				server.on('error', (error) => this.#context.log.error({ err: error }, 'DIMSE listener failed'));
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
		// Twice as many, so that what is too much can be told so in an A-ASSOCIATE-RJ.
		if (this.#draining || this.#arriving.size + this.#associations.size >= 2 * this.#context.limits.dimseAssociationsMax) {
			this.#context.metrics.dimseConnectionsOpened.inc({ result: 'refused-limit' });
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
				this.#context.limits.dimseArtimMsMax,
				(address) => this.#admit(socket, normaliseAddress(address ?? peer), secure),
				() => this.#refuse(socket, peer, 'proxy'),
			);
		else this.#admit(socket, peer, secure);
	}

	#admit(socket: Socket, address: string, secure: SecureSockets | undefined): void {
		if (secure === undefined) {
			this.#connect(socket, socket, address);
			return;
		}
		const failed = () => {
			if (!this.#draining) this.#refuse(socket, address, 'certificate');
		};
		secure.wrap(socket, (secured) => this.#connect(socket, secured, address), failed);
	}

	#connect(accepted: Socket, socket: Socket, address: string): void {
		this.#arriving.delete(accepted);
		if (socket.destroyed) return;
		this.#context.metrics.dimseConnectionsOpened.inc({ result: 'accepted' });
		const association = new Association(socket, address, this.#context, { services: this.#services, hasRoom: () => this.#hasRoom() });
		this.#associations.add(association);
		void association.closed.then(() => this.#associations.delete(association));
	}

	#hasRoom(): boolean {
		let established = 0;
		for (const association of this.#associations) if (association.established) established += 1;
		return established < this.#context.limits.dimseAssociationsMax;
	}

	#refuse(socket: Socket, address: string, reason: 'proxy' | 'certificate'): void {
		const { metrics, log, audit } = this.#context;
		metrics.dimseConnectionsOpened.inc({ result: refusalResults[reason] });
		metrics.accessRefusals.inc({ protocol: 'dicom', reason });
		log.warn({ address, reason }, 'DIMSE connection refused');
		audit({ address, reason });
		socket.destroy();
	}

	async close(withinMs: number): Promise<void> {
		this.#draining = true;
		const gone = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
		for (const socket of this.#arriving) socket.destroy();
		const open = [...this.#associations];
		for (const association of open) association.drain();
		const timer = setTimeout(() => {
			for (const association of this.#associations) association.destroy();
		}, withinMs);
		await Promise.all([...gone, ...open.map(({ closed }) => closed)]);
		clearTimeout(timer);
	}
}

/** DICOM DIMSE as service class provider, on as many ports as `listen` is called for, plain and TLS. */
export function createDimseSurface(context: DimseContext): DimseSurface {
	const listeners = new Listeners(context);
	return { listen: (options) => listeners.listen(options), close: (withinMs) => listeners.close(withinMs) };
}

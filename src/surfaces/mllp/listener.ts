import type { Socket } from 'node:net';
import { holderOf } from '#core/address.ts';
import type { Share } from '#core/take-shares.ts';
import { type ConnectionHolder, Reception, type TcpAddress, type TcpListenOptions } from '../tcp/reception.ts';
import { MllpConnection } from './connection.ts';
import type { MllpContext, RefusedConnection } from './context.ts';

export interface MllpSurface {
	/** Listens on one more port; all ports share the connection limit. Rejects with a StartError, which has the system's code (EADDRINUSE, …). */
	listen(options: TcpListenOptions): Promise<TcpAddress>;
	/** Returns the number of open, allowed connections. */
	connections(): number;
	/**
	 * Stops accepting and reading, finishes the answers under way and ends the sockets. Those left after `withinMs` are destroyed.
	 * Resolves when every socket is gone.
	 */
	close(withinMs: number): Promise<void>;
}

const refusalResults = { address: 'refused-address', proxy: 'refused-proxy', certificate: 'refused-tls' } as const;

const connectionQuota = 'MLLP connections';

/** The connections of one surface. */
class Connections {
	readonly reception: Reception;
	readonly #context: MllpContext;
	readonly #connections = new Set<MllpConnection>();

	constructor(context: MllpContext) {
		this.#context = context;
		const { directory, isTrustedProxy, limits, log, metrics, quotas, warn } = context;
		this.reception = new Reception({
			protocol: 'MLLP',
			allowHalfOpen: true,
			headerMsMax: limits.mllpFrameMsMax,
			log,
			isTrustedProxy,
			takeRoom: () => quotas.take(connectionQuota, limits.mllpConnectionsMax),
			giveRoom: () => quotas.give(connectionQuota),
			mayConnect: (address) => directory.mayConnect('hl7-mllp', address),
			connected: (socket, address, proxied) => this.#connect(socket, address, proxied),
			refused: (address, reason) => this.#refused({ address, reason }),
			quotas,
			sharesOf: (address) => this.#sharesOf(address),
			turnedAway: (reason, address) => {
				metrics.mllpConnectionsOpened.inc({ result: reason === 'unavailable' ? reason : `refused-${reason}` });
				warn({ address, reason });
			},
		});
	}

	/** An interface engine that sends for several clients or sites counts by its address alone. */
	#sharesOf(address: string): Share<ConnectionHolder>[] {
		const { directory, limits } = this.#context;
		const { clientId, siteId } = directory.ownerAt('hl7-mllp', address);
		const share = (by: ConnectionHolder, name: string, most: number) => ({ by, name: `${connectionQuota} of ${by} ${name}`, most });
		return [
			share('address', holderOf(address), limits.mllpAddressConnectionsMax),
			...(clientId === undefined ? [] : [share('client', clientId, limits.mllpClientConnectionsMax)]),
			...(siteId === undefined ? [] : [share('site', siteId, limits.mllpSiteConnectionsMax)]),
		];
	}

	get size(): number {
		return this.#connections.size;
	}

	#connect(socket: Socket, address: string, proxied: boolean): void {
		this.#context.metrics.mllpConnectionsOpened.inc({ result: 'accepted' });
		const connection = new MllpConnection(socket, address, proxied, this.#context);
		this.#connections.add(connection);
		void connection.closed.then(() => this.#connections.delete(connection));
	}

	#refused(refused: RefusedConnection): void {
		const { metrics, audit } = this.#context;
		metrics.mllpConnectionsOpened.inc({ result: refusalResults[refused.reason] });
		metrics.accessRefusals.inc({ protocol: 'hl7-mllp', reason: refused.reason });
		audit(refused);
	}

	async close(withinMs: number): Promise<void> {
		const gone = this.reception.close();
		const open = [...this.#connections];
		for (const connection of open) connection.drain();
		const timer = setTimeout(() => {
			for (const connection of this.#connections) connection.destroy();
		}, withinMs);
		await Promise.all([gone, ...open.map(({ closed }) => closed)]);
		clearTimeout(timer);
	}
}

/** Serves HL7 v2 over MLLP on each port for which `listen` is called, plain or TLS. */
export function createMllpSurface(context: MllpContext): MllpSurface {
	const connections = new Connections(context);
	return {
		listen: (options) => connections.reception.listen(options),
		connections: () => connections.size,
		close: (withinMs) => connections.close(withinMs),
	};
}

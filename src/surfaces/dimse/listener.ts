import type { Socket } from 'node:net';
import { type ConnectionRefusal, Reception, type TcpAddress, type TcpListenOptions } from '../tcp/reception.ts';
import type { Room } from './admission.ts';
import { Association } from './association.ts';
import { commitment } from './commitment.ts';
import type { DimseContext } from './context.ts';
import { findService } from './find.ts';
import { getService } from './get.ts';
import { moveService } from './move.ts';
import { procedureStep } from './procedure-step.ts';
import type { ServiceClass } from './service.ts';
import { storage } from './storage.ts';
import { verification } from './verification.ts';

export interface DimseSurface {
	/** Listens on one more port; all ports share the limit of associations. Rejects with a StartError, which has the system's code (EADDRINUSE, …). */
	listen(options: TcpListenOptions): Promise<TcpAddress>;
	/** Stops accepting, answers the messages under way and aborts the associations. Those left after `withinMs` are destroyed. */
	close(withinMs: number): Promise<void>;
}

const connectionQuota = 'DIMSE connections';
const associationQuota = 'DIMSE associations';
const quotaOf = (siteId: string) => `DIMSE associations of ${siteId}`;

/** The connections of one surface, with or without an association. */
class Associations {
	readonly reception: Reception;
	readonly #context: DimseContext;
	readonly #services: readonly ServiceClass[];
	readonly #associations = new Set<Association>();

	constructor(context: DimseContext) {
		this.#context = context;
		const queries = [findService(context), moveService(context), getService(context)];
		this.#services = [verification, storage(context), procedureStep(context), commitment(context), ...queries];
		const { isTrustedProxy, limits, log, metrics, quotas } = context;
		this.reception = new Reception({
			protocol: 'DIMSE',
			allowHalfOpen: false,
			headerMsMax: limits.dimseArtimMsMax,
			log,
			isTrustedProxy,
			// Twice as many connections are accepted, so that the surplus can be refused with an A-ASSOCIATE-RJ.
			takeRoom: () => quotas.take(connectionQuota, 2 * limits.dimseAssociationsMax),
			giveRoom: () => quotas.give(connectionQuota),
			// The AE titles must be known before this can be decided.
			mayConnect: () => true,
			connected: (socket, address) => this.#connect(socket, address),
			refused: (address, reason) => this.#refused(address, reason),
			turnedAway: () => metrics.dimseConnectionsOpened.inc({ result: 'refused-limit' }),
		});
	}

	#connect(socket: Socket, address: string): void {
		this.#context.metrics.dimseConnectionsOpened.inc({ result: 'accepted' });
		const association = new Association(socket, address, this.#context, {
			services: this.#services,
			takeRoom: (siteId) => this.#takeRoom(siteId),
			giveRoom: (siteId) => {
				this.#context.quotas.give(associationQuota);
				this.#context.quotas.give(quotaOf(siteId));
			},
		});
		this.#associations.add(association);
		void association.closed.then(() => this.#associations.delete(association));
	}

	/** Takes room for one more association, of all sites and of this one. */
	#takeRoom(siteId: string): Room | Promise<Room> {
		const { limits, quotas } = this.#context;
		const room = quotas.take(associationQuota, limits.dimseAssociationsMax);
		const ofSite = (taken: boolean) => (taken ? this.#takeRoomOf(siteId) : 'limit');
		return typeof room === 'boolean' ? ofSite(room) : room.then(ofSite);
	}

	#takeRoomOf(siteId: string): Room | Promise<Room> {
		const { associationsMaxOf, quotas } = this.#context;
		const room = quotas.take(quotaOf(siteId), associationsMaxOf(siteId) ?? Number.POSITIVE_INFINITY);
		const settled = (taken: boolean): Room => {
			if (!taken) quotas.give(associationQuota);
			return taken ? 'taken' : 'site-limit';
		};
		return typeof room === 'boolean' ? settled(room) : room.then(settled);
	}

	#refused(address: string, reason: ConnectionRefusal): void {
		const { metrics, audit } = this.#context;
		metrics.dimseConnectionsOpened.inc({ result: reason === 'certificate' ? 'refused-tls' : 'refused-proxy' });
		metrics.accessRefusals.inc({ protocol: 'dicom', reason });
		audit({ address, reason });
	}

	async close(withinMs: number): Promise<void> {
		const gone = this.reception.close();
		const open = [...this.#associations];
		for (const association of open) association.drain();
		const timer = setTimeout(() => {
			for (const association of this.#associations) association.destroy();
		}, withinMs);
		await Promise.all([gone, ...open.map(({ closed }) => closed)]);
		clearTimeout(timer);
	}
}

/** Serves DICOM DIMSE as service class provider on each port for which `listen` is called, plain or TLS. */
export function createDimseSurface(context: DimseContext): DimseSurface {
	const associations = new Associations(context);
	return { listen: (options) => associations.reception.listen(options), close: (withinMs) => associations.close(withinMs) };
}

import type { Socket } from 'node:net';
import { holderOf } from '#core/address.ts';
import { type Share, takeShares } from '#core/take-shares.ts';
import { type ConnectionRefusal, Reception, type TcpAddress, type TcpListenOptions } from '../tcp/reception.ts';
import type { Admitted, Room } from './admission.ts';
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
/** The ids of sites and clients differ. */
const quotaOf = (id: string) => `${associationQuota} of ${id}`;

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
		const { isTrustedProxy, limits, log, metrics, quotas, warn } = context;
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
			quotas,
			// A connection also counts for its site, which is known when it asks for an association.
			sharesOf: (address) => [
				{ by: 'address', name: `${connectionQuota} of ${holderOf(address)}`, most: limits.dimseAddressConnectionsMax },
			],
			turnedAway: (reason, address) => {
				metrics.dimseConnectionsOpened.inc({ result: reason === 'address-limit' ? 'refused-address-limit' : 'refused-limit' });
				warn({ address, reason });
			},
		});
	}

	#connect(socket: Socket, address: string): void {
		this.#context.metrics.dimseConnectionsOpened.inc({ result: 'accepted' });
		const association = new Association(socket, address, this.#context, {
			services: this.#services,
			takeRoom: (admitted) => this.#takeRoom(admitted),
			giveRoom: (admitted) => {
				for (const { name } of this.#sharesOf(admitted)) this.#context.quotas.give(name);
			},
		});
		this.#associations.add(association);
		void association.closed.then(() => this.#associations.delete(association));
	}

	/** Takes room for one more association: of all sites, of this one and of the client. */
	#takeRoom(admitted: Admitted): Room | Promise<Room> {
		const full = takeShares(this.#context.quotas, this.#sharesOf(admitted));
		const settled = (limit: Exclude<Room, 'taken'> | undefined): Room => limit ?? 'taken';
		return full instanceof Promise ? full.then(settled) : settled(full);
	}

	#sharesOf({ siteId, clientId }: Pick<Admitted, 'siteId' | 'clientId'>): Share<Exclude<Room, 'taken'>>[] {
		const { associationsMaxOf, limits } = this.#context;
		const ofSite = associationsMaxOf(siteId) ?? limits.dimseSiteAssociationsMax;
		return [
			{ by: 'limit', name: associationQuota, most: limits.dimseAssociationsMax },
			{ by: 'site-limit', name: quotaOf(siteId), most: ofSite },
			...(clientId === undefined
				? []
				: [{ by: 'client-limit' as const, name: quotaOf(clientId), most: limits.dimseClientAssociationsMax }]),
		];
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

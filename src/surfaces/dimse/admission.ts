import type { AssociationMatch } from '#access/directory.ts';
import { isAeTitle } from '#dicom/ae-title.ts';
import type { AssociateRequest } from './associate-request.ts';
import type { DimseContext } from './context.ts';
import { applicationContextName } from './negotiation.ts';
import { type Rejection, rejections } from './pdu.ts';

/** The client that an association is admitted as. */
export type Admitted = Extract<AssociationMatch, { kind: 'accepted' }>;

export type Admission = Admitted | { kind: 'rejected'; rejection: Rejection };

/** Room for one more association, or the limit that is reached. */
export type Room = 'taken' | 'limit' | 'client-limit' | 'site-limit';

export const noRoom = { kind: 'rejected', rejection: 'limit' } as const;

/**
 * Decides whether an association is admitted: by its version, its titles, who may call, and whether there is room for it. Where the node has
 * several processes, they have to be asked for the room.
 */
export function admissionOf(
	request: AssociateRequest,
	address: string,
	directory: DimseContext['directory'],
	takeRoom: (of: Admitted) => Room | Promise<Room>,
): Admission | Promise<Admission> {
	const rejected = (rejection: Rejection) => ({ kind: 'rejected' as const, rejection });
	const { calledAe, callingAe } = request;
	if ((request.protocolVersion & 1) === 0) return rejected('version');
	if (request.applicationContext !== applicationContextName) return rejected('application-context');
	if (!isAeTitle(calledAe)) return rejected('called');
	if (!isAeTitle(callingAe)) return rejected('calling');
	const match = directory.matchAssociation(calledAe, callingAe, address);
	if (match.kind === 'unavailable') return rejected('unavailable');
	if (match.kind !== 'accepted') return rejected(match.kind === 'called-unknown' ? 'called' : 'calling');
	const settled = (room: Room) => (room === 'taken' ? match : rejected(room));
	const room = takeRoom(match);
	return typeof room === 'string' ? settled(room) : room.then(settled);
}

/** Counts and logs an association that was not admitted, and audits it when the refusal was about access. */
export function noteRejection(
	{ metrics, warn, audit, noteUnmatched }: DimseContext,
	address: string,
	request: AssociateRequest,
	rejection: Rejection,
): void {
	const { calledAe, callingAe } = request;
	metrics.dimseAssociationRequests.inc({ result: `rejected-${rejection}` });
	const shown = (title: string) => (isAeTitle(title) ? title : undefined);
	if (rejection !== 'called' && rejection !== 'calling') {
		warn({ address, reason: rejections[rejection].means, named: shown(callingAe) });
		return;
	}
	metrics.accessRefusals.inc({ protocol: 'dicom', reason: rejection });
	// A title without the form of one is a fault of its sender, and no client could have it.
	if (isAeTitle(calledAe) && isAeTitle(callingAe)) noteUnmatched({ address, reason: rejection, calledAe, callingAe });
	audit({ address, reason: rejection, named: shown(rejection === 'called' ? calledAe : callingAe) });
}

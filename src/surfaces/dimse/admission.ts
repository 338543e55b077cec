import type { AssociationMatch } from '#access/directory.ts';
import { isAeTitle } from '#dicom/ae-title.ts';
import type { AssociateRequest } from './associate-request.ts';
import type { DimseContext } from './context.ts';
import { applicationContextName } from './negotiation.ts';
import { type Rejection, rejections } from './pdu.ts';

/** The client that an association is admitted as. */
export type Admitted = Extract<AssociationMatch, { kind: 'accepted' }>;

/** Decides whether an association is admitted: by its version, its titles, who may call, and whether there is room for it. */
export function admissionOf(
	request: AssociateRequest,
	address: string,
	directory: DimseContext['directory'],
	hasRoom: (siteId?: string) => boolean,
): Admitted | { kind: 'rejected'; rejection: Rejection } {
	const rejected = (rejection: Rejection) => ({ kind: 'rejected' as const, rejection });
	const { calledAe, callingAe } = request;
	if ((request.protocolVersion & 1) === 0) return rejected('version');
	if (request.applicationContext !== applicationContextName) return rejected('application-context');
	if (!isAeTitle(calledAe)) return rejected('called');
	if (!isAeTitle(callingAe)) return rejected('calling');
	const match = directory.matchAssociation(calledAe, callingAe, address);
	if (match.kind === 'unavailable') return rejected('unavailable');
	if (match.kind !== 'accepted') return rejected(match.kind === 'called-unknown' ? 'called' : 'calling');
	if (!hasRoom()) return rejected('limit');
	return hasRoom(match.siteId) ? match : rejected('site-limit');
}

/** Counts and logs an association that was not admitted, and audits it when the refusal was about access. */
export function noteRejection(
	{ metrics, log, audit }: DimseContext,
	address: string,
	request: AssociateRequest,
	rejection: Rejection,
): void {
	const { calledAe, callingAe } = request;
	metrics.dimseAssociationRequests.inc({ result: `rejected-${rejection}` });
	const titles = { called: isAeTitle(calledAe) ? calledAe : undefined, calling: isAeTitle(callingAe) ? callingAe : undefined };
	log.warn({ address, ...titles, reason: rejections[rejection].means }, 'DIMSE association rejected');
	if (rejection !== 'called' && rejection !== 'calling') return;
	metrics.accessRefusals.inc({ protocol: 'dicom', reason: rejection });
	audit({ address, reason: rejection });
}

import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { RemoteAe } from '#access/directory.ts';
import { checkLiteral, ForbiddenTarget, permittedLookup } from '#core/permitted-lookup.ts';
import type { TargetPolicy } from '#core/target-policy.ts';
import type { ProposedRole } from './associate-request.ts';
import { AssociationError } from './association-error.ts';
import type { DimseLimits } from './limits.ts';
import type { DimseMetrics } from './metrics.ts';
import { OutgoingAssociation } from './outgoing-association.ts';
import type { RequestedAssociation } from './requested-association.ts';
import type { RequestorTls } from './requestor-tls.ts';

export interface AssociationOptions {
	callingAe: string;
	/** There are 1 to 128 of them. Each is answered with one of its transfer syntaxes. */
	contexts: readonly { abstractSyntax: string; transferSyntaxes: readonly string[] }[];
	/** Roles for SOP classes of which this side is not, or not only, the SCU. */
	roles?: readonly ProposedRole[];
	tls?: RequestorTls | undefined;
	/** The addresses that may be called. */
	targets: TargetPolicy;
	limits: DimseLimits;
	metrics: DimseMetrics;
	/** Cancels the association in any state. */
	signal?: AbortSignal | undefined;
}

function open(
	{ host, port, tls }: RemoteAe,
	{ tls: own, targets }: AssociationOptions,
): { socket: Socket; ready: 'connect' | 'secureConnect' } {
	const lookup = permittedLookup(targets);
	if (!tls) return { socket: connectTcp({ host, port, lookup, noDelay: true }), ready: 'connect' };
	const name = isIP(host) === 0 ? { servername: host } : {};
	const shown = own?.cert && own.key ? { cert: own.cert, key: own.key } : {};
	const believed = own?.authorities ? { ca: own.authorities } : {};
	return { socket: connectTls({ host, port, lookup, minVersion: 'TLSv1.2', ...name, ...shown, ...believed }), ready: 'secureConnect' };
}

/**
 * Opens an association to a remote AE (PS3.8 §9.2).
 * @throws AssociationError when it cannot be established; RangeError when there are no presentation contexts or too many
 */
export async function requestAssociation(target: RemoteAe, options: AssociationOptions): Promise<RequestedAssociation> {
	const { contexts, roles = [], callingAe, limits, metrics, signal } = options;
	if (contexts.length === 0 || contexts.length > 128)
		throw new RangeError(`${contexts.length} presentation contexts; 1 to 128 can be proposed`);
	try {
		if (signal?.aborted) throw new AssociationError('cancelled', `the association to ${target.title} was given up`);
		refuseForbidden(target, options.targets);
		const proposal = {
			calledAe: target.title,
			callingAe,
			contexts: contexts.map((context, index) => ({ id: 2 * index + 1, ...context })),
			roles,
			pduBytesMax: limits.dimsePduBytesMax,
		};
		const association = new OutgoingAssociation(open(target, options), proposal, { limits, metrics, signal });
		await association.established;
		metrics.dimseAssociationsRequested.inc({ result: 'accepted' });
		return association;
	} catch (error) {
		if (error instanceof AssociationError) metrics.dimseAssociationsRequested.inc({ result: error.failure });
		throw error;
	}
}

/** @throws AssociationError for the text of an address that the policy does not permit */
function refuseForbidden({ title, host }: RemoteAe, targets: TargetPolicy): void {
	try {
		checkLiteral(targets, host);
	} catch (error) {
		if (!(error instanceof ForbiddenTarget)) throw error;
		throw new AssociationError('unreachable', `${title} cannot be reached: ${error.code}`, { cause: error });
	}
}

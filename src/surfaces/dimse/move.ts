import { isAeTitle } from '#dicom/ae-title.ts';
import { AssociationError } from './association-error.ts';
import { statuses } from './command-set.ts';
import type { DimseContext } from './context.ts';
import { offeredContexts } from './offered-syntaxes.ts';
import { sendOver } from './outgoing-instance.ts';
import { type Answer, type Inquiry, queryRetrieve } from './query-retrieve.ts';
import type { RequestedAssociation } from './requested-association.ts';
import { requestAssociation } from './requestor.ts';
import { kindsOf, retrieve, type Selection, selected } from './retrieval.ts';
import type { Exchange, OutgoingInstance, ServiceClass } from './service.ts';

const relational = 1;

/** Sends one instance to the destination. Returns undefined when the destination does not take it. */
async function sendTo(association: RequestedAssociation, instance: OutgoingInstance, { request }: Inquiry): Promise<number | undefined> {
	const moveOriginator = { aeTitle: request.callingAe, messageId: request.command.messageId };
	return (await sendOver(association, instance, moveOriginator))?.status;
}

async function move(context: DimseContext, inquiry: Inquiry, exchange: Exchange): Promise<Answer> {
	const { command, grant, calledAe } = inquiry.request;
	const selection = selected(inquiry);
	const { level } = selection;
	const title = command.moveDestination ?? '';
	// Only remote AEs that the site has registered are called.
	const target = isAeTitle(title) ? context.remoteAes.remoteAe(grant.siteId, title) : undefined;
	if (target === 'unavailable') {
		return { status: statuses.matchesNotCounted, comment: 'remote AEs cannot be looked up, ask again', level };
	}
	if (target === undefined) return { status: statuses.moveDestinationUnknown, comment: 'no remote AE of this title is registered', level };
	const { kinds, total } = await kindsOf(context, selection);
	if (total === 0) return { status: statuses.success, subOperations: { completed: 0, failed: 0, warning: 0 }, level };
	const contexts = offeredContexts(kinds);
	const { limits, metrics, remoteTls, targets } = context;
	let association: RequestedAssociation;
	try {
		const callingAe = calledAe;
		association = await requestAssociation(target, {
			callingAe,
			contexts,
			tls: remoteTls,
			targets,
			limits,
			metrics,
			signal: exchange.ended,
		});
	} catch (error) {
		if (!(error instanceof AssociationError)) throw error;
		context.log.warn(
			{ err: error, site: grant.siteSlug, destination: target.title, ...inquiry.request.trace },
			'a C-MOVE destination cannot be reached',
		);
		return notSent(context, inquiry, exchange, { ...selection, total }, error.message);
	}
	try {
		return await retrieve(context, 'C-MOVE', inquiry, exchange, { ...selection, total }, (instance) =>
			sendTo(association, instance, inquiry),
		);
	} finally {
		await association.release();
	}
}

/** Counts and lists every instance as failed. */
async function notSent(
	context: DimseContext,
	inquiry: Inquiry,
	exchange: Exchange,
	selection: Selection & { total: number },
	comment: string,
): Promise<Answer> {
	return { ...(await retrieve(context, 'C-MOVE', inquiry, exchange, selection, () => Promise.resolve(undefined))), comment };
}

/**
 * Serves C-MOVE (PS3.4 §C.4.2): the selected instances go to a remote AE of the site, in the transfer syntax in which they are stored or, if
 * they are uncompressed, in one that the remote AE accepts.
 */
export function moveService(context: DimseContext): ServiceClass {
	return queryRetrieve(context, 'C-MOVE', relational, (inquiry, exchange) => move(context, inquiry, exchange));
}

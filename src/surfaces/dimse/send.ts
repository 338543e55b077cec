import type { RemoteAe } from '#access/directory.ts';
import type { InstanceOutcome, InstancesToSend } from '#administration/instance-sender.ts';
import { dataSetOf } from '#imaging/archive.ts';
import { AssociationError } from './association-error.ts';
import { offeredContexts } from './offered-syntaxes.ts';
import { outgoing, sendOver } from './outgoing-instance.ts';
import type { RequestedAssociation } from './requested-association.ts';
import { type AssociationOptions, requestAssociation } from './requestor.ts';

export type SendOptions = Omit<AssociationOptions, 'contexts' | 'roles' | 'signal'>;

/**
 * Sends instances to a remote AE by C-STORE over one association (PS3.4 §B), one after the other, as they are asked for. An instance that the
 * peer refuses does not stop the others; when the association ends, so does the sending.
 */
export async function* sendInstances(
	remote: RemoteAe,
	{ kinds, instances, objects }: InstancesToSend,
	options: SendOptions,
): AsyncGenerator<InstanceOutcome> {
	const contexts = offeredContexts(kinds);
	if (contexts.length === 0) return;
	let association: RequestedAssociation;
	try {
		association = await requestAssociation(remote, { ...options, contexts });
	} catch (error) {
		if (!(error instanceof AssociationError)) throw error;
		yield { outcome: 'ended', reason: error.message };
		return;
	}
	const archive = { readDataSet: (key: string) => dataSetOf(objects, key) };
	try {
		for await (const instance of instances) {
			const { sopInstanceUid } = instance;
			try {
				const answer = await sendOver(association, outgoing(archive, instance));
				if (answer === undefined && !association.usable) {
					yield { outcome: 'ended', reason: `${remote.title} takes nothing more` };
					return;
				}
				yield { sopInstanceUid, ...outcomeOf(remote.title, answer?.status, answer?.comment) };
			} catch (error) {
				if (error instanceof AssociationError) {
					yield { outcome: 'ended', reason: error.message };
					return;
				}
				if (!association.usable) throw error;
				yield { sopInstanceUid, outcome: 'failed', reason: 'the image cannot be read or converted' };
			}
		}
	} finally {
		await association.release();
	}
}

/** Success, a warning (0xB000, 0xB006, 0xB007), or a failure (PS3.4 §B.2.3). */
function outcomeOf(
	title: string,
	status: number | undefined,
	comment: string | undefined,
): { outcome: 'sent' | 'warning' | 'failed'; reason: string } {
	if (status === undefined) return { outcome: 'failed', reason: `${title} does not accept this kind of image, or not as it is compressed` };
	if (status === 0) return { outcome: 'sent', reason: '' };
	const code = `0x${status.toString(16).padStart(4, '0').toUpperCase()}`;
	const words = comment === undefined || comment === '' ? code : `${code}: ${comment}`;
	return { outcome: status >> 12 === 0xb ? 'warning' : 'failed', reason: `${title} answered ${words}` };
}

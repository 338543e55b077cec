import { AssociationIndex } from '#access/association-index.ts';
import { readSnapshot } from '#access/snapshot.ts';
import { sendersWithZone } from '#storage/statements/administrative/rederivations.ts';
import type { RunControl } from './context.ts';

/** The index keeps this of the sender of an image: over DICOMweb `source` is the key, and there is no calling AE title. */
export interface SenderOfImages {
	calling_ae: string | null;
	source: string | null;
}

/**
 * Tells whether a zone holds for the sender of an image: the client or key that has it, or a sender of the site without a zone of its own.
 * The index keeps no client, so it is that whom the address and the AE title mean now.
 */
export async function sendersOfImages(
	{ context, siteId }: RunControl,
	of: 'site' | 'client' | 'key',
	subject: string,
): Promise<(sender: SenderOfImages) => boolean> {
	if (of === 'key') return ({ calling_ae: ae, source }) => ae === '' && source === subject;
	const own = new Set((await context.database.rows<{ id: string }>(sendersWithZone, [siteId])).map(({ id }) => id));
	if (of === 'site' && own.size === 0) return () => true;
	const { dicomSites, dicomClients } = await context.database.use((client) => readSnapshot(client, context.allowAnySource));
	const index = new AssociationIndex(dicomSites, dicomClients, context.allowAnySource);
	const called = dicomSites.find((site) => site.siteId === siteId)?.aeTitle;
	const senderOf = ({ calling_ae: ae, source }: SenderOfImages): string | undefined => {
		if (ae === null || source === null) return undefined;
		if (ae === '') return source;
		const found = called === undefined ? undefined : index.match(called, ae, source);
		return found?.kind === 'accepted' ? found.clientId : undefined;
	};
	return (sender) => {
		const id = senderOf(sender);
		return of === 'client' ? id === subject : id === undefined || !own.has(id);
	};
}

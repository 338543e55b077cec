import { z } from 'zod';
import { beginToView } from '#access/viewer-tokens.ts';
import { findRetrievable } from '#imaging/search.ts';
import { AdministrationError, note, type OperationContext } from '../context.ts';
import { uid } from '../schemas.ts';
import { siteBySlug } from '../sites.ts';
import { clausesOf } from './instances.ts';

export const viewerInput = z.strictObject({
	site: z.string(),
	study: uid.describe('Study Instance UID'),
});

export const viewerLink = z.strictObject({
	url: z.string().describe('opens the study in the viewer of the site; whoever has it may read this study until then'),
	expires_at: z.string(),
});

/** Makes a link that opens a study in the site's own viewer. The audit trail records who asked for it, and what is read by it. */
export async function openInViewer(
	context: OperationContext,
	{ site: slug, study }: z.output<typeof viewerInput>,
): Promise<z.output<typeof viewerLink>> {
	const site = await siteBySlug(context.em.fork(), slug);
	const address = site.settings.viewer_url;
	if (address === undefined) throw new AdministrationError(`the site '${slug}' has no viewer: set its viewer_url`, 'conflict', 'site');
	const { instances } = await findRetrievable(context.reader, site.id, clausesOf({ study }), { count: 1, after: undefined });
	if (instances.length === 0) throw new AdministrationError('no study of the site has this UID', 'not-found', 'study');
	await note(context, { action: 'study.viewer', subject: study, siteId: site.id, studies: [study] });
	const msMax = context.limits.viewerTokenMsMax;
	const { token, expiresAt } = await beginToView(context.database, { siteId: site.id, studyUid: study, actor: context.actor.name, msMax });
	return { url: address.replaceAll('{study}', study).replaceAll('{token}', token), expires_at: expiresAt };
}

import { z } from 'zod';
import { findRetrievable } from '#imaging/search.ts';
import type { RetrievableInstance } from '#record/imaging-query.ts';
import type { PictureWish } from '#rendering/picture.ts';
import type { EncodedPicture } from '#rendering/picture-cache.ts';
import { representative } from '#rendering/representative.ts';
import { AdministrationError, type OperationContext } from './context.ts';
import { clausesOf } from './images/instances.ts';
import { eachHour, noteOnce } from './images/noted.ts';
import { defineOperation, type Operation } from './operation.ts';
import { uid } from './schemas.ts';
import { siteBySlug } from './sites.ts';

/** Instances that are read from the index at a time. */
const pageInstances = 100;

const pictureInput = z.strictObject({
	site: z.string(),
	study: uid.describe('Study Instance UID'),
	series: uid.optional().describe('Series Instance UID'),
	instance: uid.optional().describe('SOP Instance UID'),
	frame: z.coerce.number().int().min(1).max(999_999_999).optional().describe('from 1'),
});

/** A picture that somebody looks at, by the path of its image. The audit trail records the look once an hour for each person and study. */
export function showPicture(wish: PictureWish, isThumbnail: boolean): Operation {
	return defineOperation({
		name: 'study picture',
		summary: isThumbnail ? 'shows a small picture of a study, series, instance or frame' : 'shows an image as a picture',
		method: 'GET',
		path: '/sites/{site}/studies/{study}/rendered',
		role: 'auditor',
		effect: 'noted',
		scope: 'site',
		input: pictureInput,
		output: z.custom<EncodedPicture>(),
		commandLine: 'none',
		run: (context, input) => picture(context, input, wish, isThumbnail),
	});
}

async function picture(
	context: OperationContext,
	input: z.output<typeof pictureInput>,
	wish: PictureWish,
	isThumbnail: boolean,
): Promise<EncodedPicture> {
	const { renderer, reader } = context;
	if (renderer === undefined) throw new AdministrationError('pictures are shown by the running service only');
	const { id: siteId } = await siteBySlug(context.em.fork(), input.site);
	const clauses = clausesOf(input);
	const page = (after: readonly string[] | undefined) => findRetrievable(reader, siteId, clauses, { count: pageInstances, after });
	const first = await page(undefined);
	const [instance] = first.instances;
	if (instance === undefined) throw new AdministrationError('no instance of the site has these UIDs', 'not-found');
	// The event is written before the picture is shown, so that no look goes unrecorded.
	const { studyUid } = instance;
	await noteOnce(context, { action: 'study.picture', subject: studyUid, siteId, studies: [studyUid] }, eachHour);
	if (!isThumbnail) return renderer.frame(instance, input.frame ?? 1, wish);
	async function* all(): AsyncGenerator<RetrievableInstance> {
		yield* first.instances;
		for (let after = first.next; after !== undefined; ) {
			const following = await page(after);
			yield* following.instances;
			after = following.next;
		}
	}
	return representative(renderer, all(), input.frame, wish);
}

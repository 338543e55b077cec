import { z } from 'zod';
import { findRetrievable, retrievalKinds } from '#imaging/search.ts';
import type { ImagingClause, RetrievableInstance } from '#record/imaging-query.ts';
import { AdministrationError, note, type OperationContext } from '../context.ts';
import type { InstanceOutcome } from '../instance-sender.ts';
import { calledRemoteAe } from '../remote-aes.ts';
import { siteBySlug } from '../sites.ts';
import { clausesOf, namedInstance } from './instances.ts';

const uid = namedInstance.shape.instance;

export const sendStudyInput = z.strictObject({
	site: z.string(),
	study: uid.describe('Study Instance UID'),
	ae: z.string().describe('id or title of a remote AE of the site'),
	series: uid.optional().describe('Series Instance UID; without it, all series'),
	instance: uid.optional().describe('SOP Instance UID; without it, all instances'),
	after: z
		.string()
		.regex(/^[0-9.]{1,64}\/[0-9.]{1,64}$/, 'must be what `next` said')
		.optional()
		.describe('goes on where `next` of the call before says'),
	limit: z.coerce.number().int().min(1).max(1000).optional().describe('the largest number of images that this call sends; without it, all'),
});

export const sentStudy = z.strictObject({
	ae: z.string().describe('title of the remote AE'),
	total: z.number().int().describe('images that are to be sent, with those of the calls before'),
	sent: z.number().int().describe('images that the remote AE took in this call'),
	warnings: z.number().int().describe('of them, those that it took with a warning'),
	failed: z.number().int(),
	failures: z.array(z.strictObject({ sop_instance_uid: z.string(), reason: z.string() })).describe('the first hundred failures'),
	next: z.string().nullable().describe('where the next call goes on; null when there is nothing more to send'),
	ended: z.string().nullable().describe('why the sending broke off; null if it did not'),
});

const failuresMax = 100;
/** The number of rows that are read at a time. */
const pageRows = 100;

/** The place of a call, from which the next one goes on. */
interface Place {
	next: string | null;
}

/** Sends the images of a study to a remote AE by C-STORE. The audit trail records each call. */
export async function sendStudy(context: OperationContext, input: z.output<typeof sendStudyInput>): Promise<z.output<typeof sentStudy>> {
	const { site, study, series, instance, ae } = input;
	const { id: siteId } = await siteBySlug(context.em.fork(), site);
	const { remote, callingAe } = await calledRemoteAe(context, { ae, site });
	const clauses = clausesOf({ study, series, instance });
	const kinds = await retrievalKinds(context.reader, siteId, clauses);
	const total = kinds.reduce((sum, { instances }) => sum + instances, 0);
	if (total === 0) throw new AdministrationError(`there are no images of the study '${study}'`, 'not-found', 'study');
	const place: Place = { next: input.after ?? null };
	const instances = instancesFrom(context, { siteId, clauses, place, limit: input.limit ?? Number.POSITIVE_INFINITY, study });
	const { id, title, host, port, tls } = remote;
	const counted = await counts(context.send({ title, host, port, tls }, callingAe, { kinds, instances, objects: context.objects }), place);
	const { sent, failed, ended } = counted;
	const after = { ae: title, sent, failed, ...(ended === null ? {} : { ended }) };
	await note(context, { action: 'study.send', subject: study, siteId, after: { ...after, remote: id }, studies: [study] });
	return { ae: title, total, ...counted };
}

interface Reading {
	siteId: string;
	clauses: readonly ImagingClause[];
	place: Place;
	limit: number;
	study: string;
}

/** An instance counts as sent when the next one is asked for. */
async function* instancesFrom(
	{ reader }: OperationContext,
	{ siteId, clauses, place, limit, study }: Reading,
): AsyncGenerator<RetrievableInstance> {
	let after: readonly string[] | undefined = place.next === null ? undefined : [study, ...place.next.split('/')];
	let given = 0;
	do {
		const page = await findRetrievable(reader, siteId, clauses, { count: pageRows, after });
		for (const [index, instance] of page.instances.entries()) {
			yield instance;
			const isLast = index === page.instances.length - 1 && page.next === undefined;
			place.next = isLast ? null : `${instance.seriesUid}/${instance.sopInstanceUid}`;
			if (++given >= limit) return;
		}
		if (page.instances.length === 0) place.next = null;
		after = page.next;
	} while (after !== undefined);
}

async function counts(outcomes: AsyncIterable<InstanceOutcome>, place: Place) {
	let [sent, warnings, failed] = [0, 0, 0];
	let ended: string | null = null;
	const failures: { sop_instance_uid: string; reason: string }[] = [];
	for await (const outcome of outcomes) {
		if (outcome.outcome === 'ended') ended = outcome.reason;
		else if (outcome.outcome === 'failed') {
			failed += 1;
			if (failures.length < failuresMax) failures.push({ sop_instance_uid: outcome.sopInstanceUid, reason: outcome.reason });
		} else {
			sent += 1;
			if (outcome.outcome === 'warning') warnings += 1;
		}
	}
	return { sent, warnings, failed, failures, next: place.next, ended };
}

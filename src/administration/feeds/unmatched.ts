import { z } from 'zod';
import { newId } from '#core/id.ts';
import { readHead } from '#hl7v2/head.ts';
import type { Hl7v2Delivery } from '#record/delivery.ts';
import { IntegrationClient } from '#storage/entities/index.ts';
import { acceptedSince, listUnmatched, noteUnmatchedReplay, showUnmatched } from '#storage/statements/administrative/read-unmatched.ts';
import { firstIdOf } from '#storage/statements/administrative/search-messages.ts';
import { type clientMatch, matchClient } from '../client-match.ts';
import { AdministrationError, note, type OperationContext } from '../context.ts';
import type { Found } from '../operation.ts';
import { readMessage } from '../reading/read-message.ts';
import { reading } from '../reading/reading.ts';
import { instant, ofSite, page, time } from '../schemas.ts';
import { visibleSiteIds } from '../visible-sites.ts';
import { settingsOfClient } from './test-feed.ts';

export const listUnmatchedInput = z.strictObject({ ...ofSite, since: time.optional(), until: time.optional(), ...page(50) });

const name = z.string().nullable();
export const unmatchedRecord = z.strictObject({
	id: z.uuid(),
	received_at: instant,
	site: name.describe('the only site for which it can be meant: only its clients have the address, or its AE title was called'),
	surface: z.string(),
	source: z.string().describe('the address of the sender'),
	reason: z
		.enum(['no-sender', 'tie', 'called', 'calling'])
		.describe(
			'no-sender: MSH-3 and MSH-4 match no client; tie: they match clients of two sites; called: no site has the called AE title; calling: no client of the site has the calling AE title',
		),
	message_type: z.string(),
	control_id: z.string(),
	sending_application: name.describe('MSH-3'),
	sending_facility: name.describe('MSH-4'),
	called_ae: name,
	calling_ae: name,
	replayed_at: instant.nullable(),
	replayed_as: z.uuid().nullable().describe('the message that a replay made of it'),
});
export type UnmatchedRecord = z.infer<typeof unmatchedRecord>;

export const shownUnmatched = unmatchedRecord.extend({
	reading: reading.nullable().describe('the message field by field; null for an association, which has none'),
	suggested: z
		.strictObject({
			site: name,
			protocols: z.array(z.enum(['hl7-mllp', 'dicom'])),
			allowed_ips: z.array(z.string()),
			sending_application: name,
			sending_facility: name,
			calling_ae: name,
		})
		.describe('the integration client that would take it'),
});
export type ShownUnmatched = z.infer<typeof shownUnmatched>;

interface Row extends Omit<UnmatchedRecord, 'received_at' | 'replayed_at'> {
	received_at: Date;
	replayed_at: Date | null;
	/** The beginning of a message that was logged before its names were. */
	head: Buffer | null;
}
type WholeRow = Row & { bytes: Buffer };

function recordOf({ received_at, replayed_at, head, ...row }: Row): UnmatchedRecord {
	const named = head === null ? undefined : readHead(head);
	return {
		...row,
		received_at: received_at.toISOString(),
		replayed_at: replayed_at?.toISOString() ?? null,
		sending_application: row.sending_application ?? named?.application ?? null,
		sending_facility: row.sending_facility ?? named?.facility ?? null,
	};
}

/** Lists messages and associations that matched no site, newest first. Those that may be anybody's are for people who see all sites. */
export async function listUnmatchedMessages(
	context: OperationContext,
	{ before, limit, since, until }: Omit<z.infer<typeof listUnmatchedInput>, 'site'>,
): Promise<UnmatchedRecord[]> {
	const [from, to] = [since, until].map((at) => (at === undefined ? null : firstIdOf(Date.parse(at))));
	const values = [await visibleSiteIds(context), before ?? null, limit, from ?? null, to ?? null];
	const rows = await context.database.rows<Row>(listUnmatched, values);
	return rows.map(recordOf);
}

export async function findUnmatched(context: OperationContext, { id }: { id: string }): Promise<Found<WholeRow> | null> {
	if (!z.uuid().safeParse(id).success) return null;
	const [found] = await context.database.rows<WholeRow>(showUnmatched, [id]);
	// No slug is empty, so what may be anybody's is found by those alone who see all sites.
	return found === undefined ? null : { site: found.site ?? '', found };
}

export async function showUnmatchedMessage(context: OperationContext, row: WholeRow): Promise<ShownUnmatched> {
	const { bytes, ...rest } = row;
	const record = recordOf(rest);
	await note(context, { action: 'unmatched.read', subject: row.id, siteId: null });
	return {
		...record,
		reading: bytes.length === 0 ? null : readMessage(bytes, context.limits),
		suggested: {
			site: record.site,
			protocols: [record.surface === 'dimse' ? ('dicom' as const) : ('hl7-mllp' as const)],
			allowed_ips: [record.source],
			sending_application: record.sending_application || null,
			sending_facility: record.sending_facility || null,
			calling_ae: record.calling_ae,
		},
	};
}

export const replayedUnmatched = z.strictObject({
	id: z.uuid().describe('the message that the replay made'),
	unmatched: z.uuid(),
	site: z.string(),
	outcome: z.string(),
	failure: z.string().nullable(),
});

/** Takes a message as if its sender had sent it now: the client that matches it now decides whose it is. */
export async function replayUnmatched(context: OperationContext, row: WholeRow): Promise<z.infer<typeof replayedUnmatched>> {
	const record = recordOf(row);
	if (row.bytes.length === 0) throw new AdministrationError('an association has no message; its sender opens another one');
	if (row.replayed_as !== null) throw new AdministrationError(`it has been replayed already, as '${row.replayed_as}'`);
	const sender = {
		address: row.source,
		sending_application: record.sending_application ?? '',
		sending_facility: record.sending_facility ?? '',
	};
	const client = await clientOf(context, await matchClient(context, sender));
	const siteId = client.site.id;
	const [later] = await context.database.rows<{ id: string }>(acceptedSince, [siteId, client.id, row.control_id, row.received_at]);
	if (later !== undefined)
		throw new AdministrationError(`its sender has sent it again since, and it was taken as '${later.id}'`, 'conflict');
	const nowMs = context.nowMs();
	const delivery: Hl7v2Delivery = {
		...{ id: newId(nowMs), kind: 'hl7v2', siteId, clientId: client.id, surface: 'replay' },
		...{ source: row.source, receivedAtMs: nowMs, settings: settingsOfClient(client), bytes: row.bytes },
	};
	const { id, outcome, failure } = await context.deliver(delivery);
	await context.database.run(noteUnmatchedReplay, [row.id, new Date(nowMs).toISOString(), id]);
	await note(context, { action: 'unmatched.replay', subject: row.id, siteId, after: { message: id, outcome } });
	return { id, unmatched: row.id, site: client.site.slug, outcome, failure: failure?.diagnostics ?? null };
}

async function clientOf({ em }: OperationContext, { client, reason }: z.infer<typeof clientMatch>): Promise<IntegrationClient> {
	const found = client === null ? null : await em.fork().findOne(IntegrationClient, { id: client.id }, { populate: ['site'] });
	if (found === null) throw new AdministrationError(`no client takes it: ${reason}`);
	return found;
}

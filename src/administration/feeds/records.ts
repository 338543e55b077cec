import { z } from 'zod';
import { instant, ofSite } from '../schemas.ts';
import { settingsInForce } from '../settings.ts';

const amount = z.number().int();

export const feedStates = ['connected', 'silent', 'failing', 'paused', 'disabled', 'unheard', 'not-known'] as const;
export type FeedState = (typeof feedStates)[number];

export const feedKinds = ['client', 'key', 'token', 'nearby', 'unmatched', 'former'] as const;
export type FeedKind = (typeof feedKinds)[number];

export const feedHour = z.strictObject({ at: instant, received: amount, refused: amount });

export const feedRecord = z.strictObject({
	id: z.string().describe('the id of the client or key; for other traffic the slug of its site and a word, north:unmatched'),
	site: z.string().nullable().describe('null for traffic that belongs to no site'),
	kind: z
		.enum(feedKinds)
		.describe(
			'client and key: what a site has set up; token: the client of an access token; nearby: DICOM senders of a site without DICOM clients; unmatched: senders that match nothing; former: a client or key that no longer exists',
		),
	name: z.string(),
	protocols: z.array(z.string()),
	state: z
		.enum(feedStates)
		.describe(
			'failing: more than one message in five of the last quarter of an hour was refused; unheard: nothing has come yet; not-known: too little is known to call it silent',
		),
	last_heard: instant.nullable(),
	silent_after_minutes: z.number().nullable().describe('it counts as silent after this many minutes; null while that is not known yet'),
	silent_by: z.enum(['setting', 'history']).nullable(),
	received: amount.describe('messages of the last hour, over all nodes'),
	refused: amount.describe('messages of the last hour that were refused'),
	queued: amount.describe('messages that wait in mailboxes, over all nodes'),
	p99_ms: z
		.number()
		.nullable()
		.describe(
			'99 of 100 acknowledgements of the last hours took at most this long; 30000 stands for any longer time; null if there were none',
		),
	alert: z.string().nullable().describe('the alert that is open about it'),
	since: instant.nullable().describe('the record of its figures begins here'),
	hours: z.array(feedHour).describe('the last 24 hours, oldest first'),
});
export type FeedRecord = z.infer<typeof feedRecord>;

export const shownFeed = feedRecord.extend({
	called_ae: z.string().nullable().describe('the AE title of its site'),
	settings: settingsInForce
		.nullable()
		.describe('those of the sender, and those that only its site has; null where nobody sends any more, or nobody is known'),
	failures: z
		.array(
			z.strictObject({
				cause: z.string(),
				message_type: z.string(),
				failure_code: z.string().nullable(),
				failure: z.string(),
				messages: amount,
				last_at: instant,
			}),
		)
		.describe('refused messages by cause, among the thousand newest'),
	messages: z
		.array(
			z.strictObject({
				id: z.uuid(),
				received_at: instant,
				surface: z.string(),
				message_type: z.string(),
				control_id: z.string(),
				outcome: z.string(),
				failure_code: z.string().nullable(),
			}),
		)
		.describe('the twenty latest messages'),
	changes: z
		.array(z.strictObject({ id: z.uuid(), at: instant, actor: z.string(), action: z.string(), detail: z.record(z.string(), z.unknown()) }))
		.describe('who changed what, among the 50,000 latest events of the site'),
});
export type ShownFeed = z.infer<typeof shownFeed>;

export const listFeedsInput = z.strictObject({ ...ofSite, state: z.enum(feedStates).optional().describe('only feeds in this state') });

export const networkInput = z.strictObject({
	...ofSite,
	days: z.coerce.number().int().min(1).max(7).default(1).describe('how far back: 1 to 7 days'),
});
export const networkRecord = z.strictObject({
	since: instant.nullable().describe('the record begins here'),
	hours: z.array(instant).describe('the hours of each row, oldest first'),
	sites: z.array(
		z.strictObject({
			site: z.string().nullable().describe('null for traffic that belongs to no site'),
			received: z.array(amount),
			refused: z.array(amount),
		}),
	),
});
export type NetworkRecord = z.infer<typeof networkRecord>;

export const pauseInput = z.strictObject({
	id: z.string(),
	reason: z.string().trim().max(200).optional().describe('why; the audit trail keeps it'),
});

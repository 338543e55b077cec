import { z } from 'zod';
import { isUuid, nilId } from '#core/id.ts';
import { personName, referencedId } from '#fhir/summaries.ts';
import { deliveryKinds, deliverySurfaces } from '#record/delivery.ts';
import { rowIdOf } from '#record/row-id.ts';
import type { ResourceType } from '#record/table-shape.ts';
import { patientValues, relatedMessages, showMessage } from '#storage/statements/administrative/read-messages.ts';
import { type MessageFilters, searchMessages as searchStatement } from '#storage/statements/administrative/search-messages.ts';
import { controlsAlike, numbersAlike, patientsAlike, typesAlike } from './alike.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { overtaken, overtakenBy, overtakenText } from './overtaken.ts';
import { readMessage } from './reading/read-message.ts';
import { reading } from './reading/reading.ts';
import { type ReplayableRow, replayableKinds, replayOf } from './replay.ts';
import { instant, ofSite, page, time } from './schemas.ts';
import { type RecordedResource, SiteRecord } from './site-record.ts';
import { visibleSiteIds } from './visible-sites.ts';

export const listMessagesInput = z.strictObject({
	...ofSite,
	surface: z.enum(deliverySurfaces).optional(),
	kind: z.enum(deliveryKinds).optional(),
	client: z.uuid().optional(),
	outcome: z.enum(['accepted', 'refused', 'ignored', 'duplicate']).optional(),
	type: z.string().max(200).optional().describe('the beginning of the type, in any case: `ADT^A08`, `orm`'),
	control_id: z.string().max(200).optional().describe('the beginning of the control id, in any case'),
	cause: z
		.string()
		.regex(/^[0-9a-f]{32}$/)
		.optional()
		.describe('the cause of a group of failures'),
	since: time.optional(),
	until: time.optional(),
	...page(50),
});

export const searchMessagesInput = z.strictObject({
	...listMessagesInput.shape,
	patient: z
		.string()
		.max(500)
		.optional()
		.describe(
			'the beginning of an identifier of the patient, in any case; if a site is named, messages under any other identifier of that patient are found too',
		),
	patient_id: z.string().optional().describe('id of the patient in the named site'),
});

export const messageRecord = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	received_at: instant,
	committed_at: instant,
	kind: z.enum(deliveryKinds).nullable().describe('null if an earlier version logged the message during an upgrade'),
	surface: z.string(),
	client: z.string().nullable(),
	key_label: z.string().nullable().describe('label of the API key with which it came; null if it has none, or came without a key'),
	source: z.string(),
	message_type: z.string(),
	control_id: z.string(),
	outcome: z.string(),
	failure_code: z.string().nullable(),
	failure: z.string().nullable(),
	flags: z.array(z.object({ code: z.string(), text: z.string() })),
	sequence: z.int(),
	latency_ms: z.number().describe('time from receipt to commit'),
	replay_of: z.uuid().nullable(),
});
type MessageRecord = z.infer<typeof messageRecord>;

interface MessageRow extends Omit<MessageRecord, 'received_at' | 'committed_at' | 'flags' | 'sequence' | 'latency_ms'> {
	received_at: Date;
	committed_at: Date;
	flags: MessageRecord['flags'] | null;
	sequence: string;
}

export interface WholeMessageRow extends MessageRow, ReplayableRow {
	settings: Record<string, string | boolean | string[]> | null;
	changed: string[] | null;
	patient: string | null;
	other_patient: string | null;
	ack: Buffer;
}

function record(row: MessageRow): MessageRecord {
	return {
		id: row.id,
		site: row.site,
		received_at: row.received_at.toISOString(),
		committed_at: row.committed_at.toISOString(),
		kind: row.kind,
		surface: row.surface,
		client: row.client,
		key_label: row.key_label,
		source: row.source,
		message_type: row.message_type,
		control_id: row.control_id,
		outcome: row.outcome,
		failure_code: row.failure_code,
		failure: row.failure,
		flags: row.flags ?? [],
		sequence: Number(row.sequence),
		latency_ms: Math.max(0, row.committed_at.getTime() - row.received_at.getTime()),
		replay_of: row.replay_of,
	};
}

type Search = Omit<z.infer<typeof searchMessagesInput>, 'site'>;

/** Lists the log, newest first, without the content of the messages. */
export async function listLoggedMessages(context: OperationContext, input: Search): Promise<MessageRecord[]> {
	const filters = await messageFilters(context, input);
	if (filters === undefined) return [];
	const { statement, values } = searchStatement(filters);
	return (await context.database.search<MessageRow>(statement, values, context.limits.readMsMax)).map(record);
}

/** The filters as the statements take them; undefined if nothing can match. */
export async function messageFilters(context: OperationContext, input: Search): Promise<MessageFilters | undefined> {
	const siteIds = await visibleSiteIds(context);
	const { visibleSites } = context;
	const messageTypes = input.type === undefined ? undefined : await typesAlike(context, siteIds, input.type);
	const controlIds = input.control_id === undefined ? undefined : await controlsAlike(context, siteIds, input.control_id);
	const patients = await patientsOf(context, siteIds, input);
	if (messageTypes?.length === 0 || controlIds?.length === 0 || patients?.length === 0) return undefined;
	return {
		sites: visibleSites === 'all' ? undefined : visibleSites,
		kind: input.kind,
		surface: input.surface,
		clientId: input.client,
		outcome: input.outcome,
		messageTypes,
		controlIds,
		cause: input.cause,
		patients,
		sinceMs: input.since === undefined ? undefined : Date.parse(input.since),
		untilMs: input.until === undefined ? undefined : Date.parse(input.until),
		before: input.before,
		limit: input.limit,
	};
}

/**
 * Returns the identifiers to search for: those that begin with the text. In a single site they include the other identifiers of these patients,
 * and those of merged patients.
 */
async function patientsOf(
	context: OperationContext,
	siteIds: readonly string[] | null,
	{ patient: text, patient_id: id }: Search,
): Promise<string[] | undefined> {
	const field = 'patient';
	if (!text && id === undefined) return undefined;
	const siteId = siteIds?.length === 1 ? siteIds[0] : undefined;
	if (siteId === undefined && id !== undefined) throw new AdministrationError('name the site of the patient', 'form', 'site');
	const named = text
		? [
				...(await numbersAlike(context, siteIds, { kind: 'messagePatient', text, field })),
				...(await numbersAlike(context, siteIds, { kind: 'messageOtherPatient', text, field })),
			]
		: [];
	if (siteId === undefined) return [...new Set(named)];
	const numbered = text ? await patientsAlike(context, [siteId], { text, field }) : [];
	const rowIds = [...numbered.map(({ patient_id: rowId }) => rowId), ...(id === undefined ? [] : [rowIdOf(id)])];
	const rows = await context.database.rows<{ value: string }>(patientValues, [siteId, [...new Set(rowIds)]]);
	return [...new Set([...named, ...rows.map(({ value }) => value)])];
}

export const wholeMessage = messageRecord.extend({
	settings: z
		.record(z.string(), z.union([z.string(), z.boolean(), z.array(z.string())]))
		.nullable()
		.describe('the settings by which it was read; null if none applied, or if an earlier version logged it'),
	changed: z.array(z.string()).describe('resource versions that the message wrote, such as Patient/<id>/_history/2'),
	message: z.array(z.string()).describe('the segments as received, decoded as UTF-8 or otherwise as Latin-1'),
	ack: z.array(z.string()),
});

/** Reads the complete log entry of a message. */
export async function messageRow(context: OperationContext, id: string): Promise<WholeMessageRow> {
	const [row] = isUuid(id) ? await context.database.rows<WholeMessageRow>(showMessage, [id]) : [];
	if (row === undefined) throw new AdministrationError(`there is no message '${id}'`, 'not-found');
	return row;
}

function lines(bytes: Buffer): string[] {
	const text = new TextDecoder('utf-8').decode(bytes);
	const readable = text.includes('�') ? bytes.toString('latin1') : text;
	return readable
		.replaceAll('\u001c', '\r')
		.split(/\r\n|\r|\n/)
		.filter((line) => line !== '');
}

export async function showLoggedMessage(
	context: OperationContext,
	id: string,
	found?: WholeMessageRow,
): Promise<z.infer<typeof wholeMessage>> {
	const row = found ?? (await messageRow(context, id));
	await noteRead(context, row);
	return wholeOf(row);
}

export function noteRead(context: OperationContext, { id, site_id: siteId }: WholeMessageRow): Promise<void> {
	return note(context, { action: 'message.read', subject: id, siteId });
}

function wholeOf(row: WholeMessageRow): z.infer<typeof wholeMessage> {
	return { ...record(row), settings: row.settings, changed: row.changed ?? [], message: lines(row.bytes), ack: lines(row.ack) };
}

export const messageReading = wholeMessage.extend({
	client_id: z.uuid().nullable().describe('the integration client; null if an API key or the service itself sent the message'),
	replayable: z.boolean(),
	overtaken: overtaken.nullable().describe('what a replay would set back; null when nothing came after the message'),
	replays: z
		.array(z.strictObject({ id: z.uuid(), outcome: z.string(), received_at: instant }))
		.describe('replays of the message, and duplicates of it'),
	patients: z
		.array(z.strictObject({ id: z.string(), name: z.string() }))
		.describe('the patients that the message is about; if it changed nothing, the patients with the identifier that it names'),
	reading,
	ack_reading: reading,
});

/** Returns the patients whose data a message wrote. If it wrote nothing, returns those with the identifier that it names. */
async function patientsBehind(record: SiteRecord, changed: readonly string[], byNumber: readonly string[]): Promise<RecordedResource[]> {
	const named = changed.map((version) => /^(\w+)\/([^/]+)\/_history\/\d+$/.exec(version)).filter((match) => match !== null);
	const ids = named.flatMap(([, type, id]) => (type === 'Patient' && id !== undefined ? [id] : []));
	const [, type, id] = named[0] ?? [];
	if (ids.length === 0 && type !== undefined && id !== undefined) {
		const written = await record.one(type as ResourceType, id);
		const subject = written && referencedId(written.resource['subject'] ?? written.resource['patient'], 'Patient');
		if (subject) ids.push(subject);
	}
	return record.byRowId('Patient', ids.length > 0 ? ids.map(rowIdOf) : byNumber);
}

/** The character set that a setting gave to the message; undefined when MSH-18 said it. */
function charsetOf(settings: WholeMessageRow['settings']): string | undefined {
	const charset = settings?.['charset'];
	return typeof charset === 'string' ? charset : undefined;
}

/** Shows a message by its parts, for people to read. The audit trail records that it was viewed. */
export async function readLoggedMessage(
	context: OperationContext,
	id: string,
	found?: WholeMessageRow,
): Promise<z.infer<typeof messageReading>> {
	const row = found ?? (await messageRow(context, id));
	await noteRead(context, row);
	const values = [row.patient, row.other_patient].filter((value) => value !== null);
	const related = await context.database.rows<{ kind: string; id: string; outcome: string; at: Date }>(relatedMessages, [
		row.site_id,
		id,
		values,
	]);
	const byNumber = related.filter(({ kind }) => kind === 'patient').map((found) => found.id);
	const replayable = row.bytes.length > 0 && (await replayableKinds()).has(row.kind);
	const patients = await patientsBehind(new SiteRecord(context, row.site_id), row.changed ?? [], byNumber);
	return {
		...wholeOf(row),
		client_id: row.client_id === nilId ? null : row.client_id,
		replayable,
		overtaken: replayable ? await overtakenBy(context, row) : null,
		replays: related
			.filter(({ kind }) => kind === 'replay')
			.map(({ id: replay, outcome, at }) => ({ id: replay, outcome, received_at: at.toISOString() })),
		patients: patients.map((patient) => ({ id: patient.id, name: personName(patient.resource['name']) })),
		reading: readMessage(row.bytes, context.limits, charsetOf(row.settings)),
		ack_reading: readMessage(row.ack, context.limits),
	};
}

export const replayRecord = z.strictObject({ id: z.uuid(), replay_of: z.uuid(), outcome: z.string(), failure: z.string().nullable() });
type ReplayRecord = z.infer<typeof replayRecord>;

/**
 * Replays a logged message with the current policy of its client. The replay is a new message in the log. An accepted message after which
 * something newer came is replayed only on request, because that sets the record back.
 */
export async function replayMessage(
	context: OperationContext,
	id: string,
	{ found, acceptOlder = false, acceptMismatch = false }: { found?: WholeMessageRow; acceptOlder?: boolean; acceptMismatch?: boolean } = {},
): Promise<ReplayRecord> {
	const row = found ?? (await messageRow(context, id));
	if (row.bytes.length === 0) throw new AdministrationError(`the message '${id}' is a duplicate; replay '${row.replay_of}'`);
	const later = acceptOlder ? null : await overtakenBy(context, row);
	if (later !== null) {
		throw new AdministrationError(
			`${overtakenText(later)}; a replay would set that back. Replay it with accept_older if this is meant`,
			'conflict',
			'accept_older',
		);
	}
	const reply = await context.deliver(await replayOf(row, context.nowMs(), acceptMismatch));
	const { id: replay, outcome } = reply;
	await note(context, {
		action: 'messages.replay',
		subject: id,
		siteId: row.site_id,
		after: { replay, outcome, ...(acceptOlder ? { accept_older: true } : {}), ...(acceptMismatch ? { accept_mismatch: true } : {}) },
	});
	return { id: replay, replay_of: id, outcome, failure: reply.failure?.diagnostics ?? null };
}

/** One call replays these; a replay of a cause takes as many as REPLAY_MESSAGES_MAX. */
const replayedMax = 1000;

/** Replays the newest thousand refused messages of the visible sites, oldest first, as far as they can be replayed. */
export async function replayRefused(context: OperationContext): Promise<ReplayRecord[]> {
	const refused = await listLoggedMessages(context, { outcome: 'refused', limit: replayedMax });
	const replayable = await replayableKinds();
	const records: ReplayRecord[] = [];
	for (const { id } of refused.filter(({ kind }) => replayable.has(kind)).reverse()) records.push(await replayMessage(context, id));
	return records;
}

import { z } from 'zod';
import { isUuid, newId } from '#core/id.ts';
import type { Delivery, Reply } from '#record/delivery.ts';
import { readRows } from '#storage/administrative-reader.ts';
import { Site } from '#storage/entities/index.ts';
import { listMessages, listUnmatched, showMessage } from '#storage/statements/administrative/read-messages.ts';
import { type AdministrationContext, AdministrationError } from './context.ts';

export interface MessageContext extends AdministrationContext {
	databaseUrl: string;
	/** Carries out deliveries by the ordinary write path, in order. */
	deliver(deliveries: readonly Delivery[]): Promise<Reply[]>;
}

export const listMessagesInput = z.strictObject({
	site: z.string().optional(),
	outcome: z.enum(['accepted', 'refused', 'ignored', 'duplicate']).optional(),
	type: z.string().optional(),
	control_id: z.string().optional(),
	since: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
	until: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
	before: z.uuid().optional(),
	limit: z.coerce.number().int().min(1).max(1000).default(50),
});

export interface MessageRecord {
	id: string;
	site: string;
	received_at: string;
	committed_at: string;
	surface: string;
	client: string | null;
	source: string;
	message_type: string;
	control_id: string;
	outcome: string;
	failure_code: string | null;
	failure: string | null;
	flags: { code: string; text: string }[];
	sequence: number;
}

interface MessageRow extends Omit<MessageRecord, 'received_at' | 'committed_at' | 'flags' | 'sequence'> {
	received_at: Date;
	committed_at: Date;
	flags: MessageRecord['flags'] | null;
	sequence: string;
}

interface WholeMessageRow extends MessageRow {
	site_id: string;
	default_authority: string | null;
	update_creates: boolean;
	check_references: boolean;
	client_id: string;
	changed: string[] | null;
	replay_of: string | null;
	bytes: Buffer;
	ack: Buffer;
	also_events: string[] | null;
	ignore_events: string[] | null;
	ack_mode: string | null;
}

function record(row: MessageRow): MessageRecord {
	return {
		id: row.id,
		site: row.site,
		received_at: row.received_at.toISOString(),
		committed_at: row.committed_at.toISOString(),
		surface: row.surface,
		client: row.client,
		source: row.source,
		message_type: row.message_type,
		control_id: row.control_id,
		outcome: row.outcome,
		failure_code: row.failure_code,
		failure: row.failure,
		flags: row.flags ?? [],
		sequence: Number(row.sequence),
	};
}

/** The log, newest first, without the messages themselves. */
export async function listLoggedMessages(context: MessageContext, input: z.infer<typeof listMessagesInput>): Promise<MessageRecord[]> {
	const site = input.site === undefined ? null : await context.em.fork().findOne(Site, { slug: input.site });
	if (input.site !== undefined && site === null) throw new AdministrationError(`there is no site '${input.site}'`);
	const values = [site?.id, input.outcome, input.type, input.control_id, input.since, input.until, input.before].map(
		(value) => value ?? null,
	);
	return (await readRows<MessageRow>(context.databaseUrl, listMessages, [...values, input.limit])).map(record);
}

export interface WholeMessage extends MessageRecord {
	/** Resource versions that the message wrote: `Patient/<id>/_history/2`. */
	changed: string[];
	replay_of: string | null;
	/** Segments as they were received, in UTF-8 or else Latin-1. */
	message: string[];
	ack: string[];
}

async function wholeRow(context: MessageContext, id: string): Promise<WholeMessageRow> {
	const [row] = isUuid(id) ? await readRows<WholeMessageRow>(context.databaseUrl, showMessage, [id]) : [];
	if (row === undefined) throw new AdministrationError(`there is no message '${id}'`);
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

export async function showLoggedMessage(context: MessageContext, id: string): Promise<WholeMessage> {
	const row = await wholeRow(context, id);
	return { ...record(row), changed: row.changed ?? [], replay_of: row.replay_of, message: lines(row.bytes), ack: lines(row.ack) };
}

export interface ReplayRecord {
	id: string;
	replay_of: string;
	outcome: string;
	failure: string | null;
}

/** Takes logged messages again, by the policy that their clients have now; each becomes a new message of the log. */
export async function replayMessages(context: MessageContext, ids: readonly string[]): Promise<ReplayRecord[]> {
	const records: ReplayRecord[] = [];
	for (const id of ids) {
		const row = await wholeRow(context, id);
		if (row.bytes.length === 0) throw new AdministrationError(`the message '${id}' is a duplicate; replay '${row.replay_of}'`);
		const [reply] = await context.deliver([replayOf(row, context.nowMs())]);
		if (reply === undefined) throw new Error('a replay was not answered');
		records.push({ id: reply.id, replay_of: id, outcome: reply.outcome, failure: reply.failure?.diagnostics ?? null });
	}
	return records;
}

/** What an HL7 v3 delivery is logged as (hl7v3/interpret); no MSH-9 has these. */
const hl7v3Types = /^(?:HL7v3|CDA(?: .*)?|[A-Z]{4}_[A-Z]{2}\d{6}[A-Z]{2}\d{2})$/;

type LoggedKind = Pick<MessageRecord, 'surface' | 'message_type'>;

const isFhir = ({ message_type: type }: LoggedKind) => /^(POST|PUT|PATCH) /.test(type);
const isMpps = ({ surface, message_type: type }: LoggedKind) => type.startsWith('MPPS') && surface !== 'mllp' && surface !== 'hl7-http';
const isHl7v3 = ({ surface, message_type: type }: LoggedKind) => surface !== 'mllp' && hl7v3Types.test(type);
/** A replay was of HL7 v2 when it is none of the others. */
const isHl7v2 = ({ surface }: LoggedKind) => ['mllp', 'hl7-http', 'replay'].includes(surface);

/** What is logged of images and of people's decisions tells why they were refused, and is no message to take again. */
export function isReplayable(logged: LoggedKind): boolean {
	return isFhir(logged) || isMpps(logged) || isHl7v3(logged) || isHl7v2(logged);
}

function replayOf(row: WholeMessageRow, nowMs: number): Delivery {
	const replay = {
		id: newId(nowMs),
		siteId: row.site_id,
		clientId: row.client_id,
		surface: 'replay' as const,
		source: row.source,
		receivedAtMs: nowMs,
		bytes: row.bytes,
		replayOf: row.id,
	};
	const { message_type: type } = row;
	if (isFhir(row)) {
		return { ...replay, kind: 'fhir', policy: { updateCreates: row.update_creates, checkReferences: row.check_references } };
	}
	if (isMpps(row)) {
		const operation = type === 'MPPS N-CREATE' ? 'create' : type === 'MPPS N-SET' ? 'set' : 'report';
		return { ...replay, kind: 'mpps', operation };
	}
	if (isHl7v3(row)) return { ...replay, kind: 'hl7v3', defaultAuthority: row.default_authority ?? undefined };
	if (!isHl7v2(row)) {
		throw new AdministrationError(
			`the message '${row.id}' is of type ${type}, which is not replayed; it has to be sent or asked for again`,
		);
	}
	const policy = {
		also: row.also_events ?? [],
		ignore: row.ignore_events ?? [],
		enhancedAck: row.ack_mode === 'enhanced',
		defaultAuthority: row.default_authority ?? undefined,
	};
	return { ...replay, kind: 'hl7v2', policy };
}

export interface UnmatchedRecord {
	id: string;
	received_at: string;
	surface: string;
	source: string;
	reason: string;
	message_type: string;
	control_id: string;
}

export async function listUnmatchedMessages(
	context: MessageContext,
	before: string | undefined,
	limit: number,
): Promise<UnmatchedRecord[]> {
	const rows = await readRows<Omit<UnmatchedRecord, 'received_at'> & { received_at: Date }>(context.databaseUrl, listUnmatched, [
		before ?? null,
		limit,
	]);
	return rows.map((row) => ({ ...row, received_at: row.received_at.toISOString() }));
}

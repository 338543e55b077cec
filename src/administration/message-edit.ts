import { z } from 'zod';
import { Failure } from '#core/failure.ts';
import { Message } from '#hl7v2/message.ts';
import { handlingOf, insertEdit } from '#storage/statements/administrative/failures.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { linesThatDiffer, shownLine } from './line-difference.ts';
import { messageRow, noteRead, replayRecord, type WholeMessageRow } from './messages.ts';
import { replayableKinds, replayOf } from './replay.ts';

export const messageContent = z.strictObject({
	id: z.uuid(),
	text: z.string().describe('the message as a text; of a FHIR request, its body'),
	editable: z.boolean().describe('it can be edited and sent again: its text stands for exactly these bytes, and its kind can be replayed'),
	base64: z.string().describe('the bytes as they were received'),
});

export const resendInput = z.strictObject({
	id: z.string(),
	content: z.string().min(1).describe('the whole message as it should have been, in the form in which `messages content` shows it'),
});
export const resentMessage = replayRecord;

export const messageComparison = z.strictObject({
	id: z.uuid(),
	original: z.uuid(),
	actor: z.string(),
	lines: z.array(shownLine).describe('the lines that differ, with those around them'),
});

/** The text of a message, and the way back to bytes. */
interface Editable {
	text: string;
	/** Returns undefined for a text that the character set of the message does not have. */
	bytesOf(text: string): Buffer | undefined;
}

function editableOf({ kind, bytes, settings }: WholeMessageRow, segmentsMax: number): Editable {
	if (kind === 'hl7v2') return hl7v2Text(bytes, settings?.['charset'], segmentsMax);
	const start = kind === 'fhir' ? bytes.indexOf('\r\n\r\n') + 4 : 0;
	return { text: bytes.toString('utf8', start), bytesOf: (text) => Buffer.concat([bytes.subarray(0, start), Buffer.from(text, 'utf8')]) };
}

/** A segment ends with CR (HL7 v2.5.1 §2.5.1), whatever ends the lines of a text. */
function hl7v2Text(bytes: Buffer, charset: unknown, segmentsMax: number): Editable {
	const { decode, encode } = charsetOf(bytes, typeof charset === 'string' ? charset : undefined, segmentsMax);
	return {
		text: decode(bytes.toString('latin1')).replaceAll(/\r\n|\r/g, '\n'),
		bytesOf(text) {
			const segments = text.replaceAll(/\r\n|\n/g, '\r');
			const encoded = encode(segments);
			return decode(encoded) === segments ? Buffer.from(encoded, 'latin1') : undefined;
		},
	};
}

const utf8 = {
	decode: (text: string) => Buffer.from(text, 'latin1').toString('utf8'),
	encode: (text: string) => Buffer.from(text, 'utf8').toString('latin1'),
};

function charsetOf(bytes: Buffer, charset: string | undefined, segmentsMax: number): Pick<Message['charset'], 'decode' | 'encode'> {
	try {
		return Message.parse(bytes, { segmentsMax, charset }).charset;
	} catch (error) {
		if (error instanceof Failure) return utf8;
		throw error;
	}
}

/** An HL7 v2 message may come with other line ends than it will have. */
function isSame(left: Buffer, right: Buffer, kind: WholeMessageRow['kind']): boolean {
	if (left.equals(right)) return true;
	const normal = (bytes: Buffer) => bytes.toString('latin1').replaceAll(/\r\n|\n/g, '\r');
	return kind === 'hl7v2' && normal(left) === normal(right);
}

export async function showContent(context: OperationContext, row: WholeMessageRow): Promise<z.output<typeof messageContent>> {
	await noteRead(context, row);
	const { text, bytesOf } = editableOf(row, context.limits.segmentsMax);
	const back = bytesOf(text);
	const isExact = row.bytes.length > 0 && back !== undefined && isSame(back, row.bytes, row.kind);
	const editable = isExact && (await replayableKinds()).has(row.kind);
	return { id: row.id, text, editable, base64: row.bytes.toString('base64') };
}

/**
 * Sends an edited message to its site. It is a new message that names the one that it was made of, which stays as it was received. Who edited it is
 * recorded before it is sent.
 */
export async function resendMessage(
	context: OperationContext,
	content: string,
	row: WholeMessageRow,
): Promise<z.output<typeof resentMessage>> {
	if (row.outcome === 'accepted') throw new AdministrationError('the message was accepted; what it wrote is corrected by its sender');
	const { text, bytesOf } = editableOf(row, context.limits.segmentsMax);
	const exact = bytesOf(text);
	if (row.bytes.length === 0 || exact === undefined || !isSame(exact, row.bytes, row.kind)) {
		throw new AdministrationError('the text of this message does not stand for exactly its bytes, so it cannot be edited here');
	}
	const bytes = bytesOf(content);
	if (bytes === undefined) {
		throw new AdministrationError('content: the character set of the message does not have all of these characters', 'form', 'content');
	}
	if (isSame(bytes, row.bytes, row.kind))
		throw new AdministrationError('content: nothing was changed; replay the message', 'form', 'content');
	const delivery = { ...(await replayOf(row, context.nowMs())), bytes };
	await context.database.rows(insertEdit, [row.site_id, delivery.id, row.id, context.actor.name]);
	await note(context, { action: 'messages.edit', subject: row.id, siteId: row.site_id, after: { message: delivery.id } });
	const { id, outcome, failure } = await context.deliver(delivery);
	return { id, replay_of: row.id, outcome, failure: failure?.diagnostics ?? null };
}

/** Compares an edited message with the one that it was made of. */
export async function compareMessage(context: OperationContext, row: WholeMessageRow): Promise<z.output<typeof messageComparison>> {
	const [edit] = await context.database.rows<{ original_id: string | null; edited_by: string | null }>(handlingOf, [row.site_id, row.id]);
	if (!edit?.original_id || !edit.edited_by) throw new AdministrationError('the message is not an edit of another one');
	const original = await messageRow(context, edit.original_id);
	await noteRead(context, row);
	const { segmentsMax } = context.limits;
	const lines = linesThatDiffer(editableOf(original, segmentsMax).text, editableOf(row, segmentsMax).text);
	return { id: row.id, original: original.id, actor: edit.edited_by, lines };
}

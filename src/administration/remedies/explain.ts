import { z } from 'zod';
import { readSettings, type Settings } from '#record/settings/settings.ts';
import { handlingOf, placeInCause } from '#storage/statements/administrative/failures.ts';
import { AdministrationError, type OperationContext } from '../context.ts';
import type { WholeMessageRow } from '../messages.ts';
import { replayableKinds } from '../replay.ts';
import { instant } from '../schemas.ts';
import { explain, isFailureCode, standardOf } from './explanations.ts';
import { locationOf, placeName } from './fault.ts';
import { type Mendable, type RemedyName, remediesFor, remedyNames, remedyOf, type Subject, subjectOf } from './table.ts';

const location = z.strictObject({
	segment: z.string().optional(),
	sequence: z.number().int().optional(),
	field: z.number().int().optional(),
	repetition: z.number().int().optional(),
	component: z.number().int().optional(),
	expression: z.string().optional().describe('FHIRPath of the element'),
});

export const remedyRecord = z.strictObject({
	remedy: z.enum(remedyNames),
	title: z.string(),
	effect: z.string(),
	asks: z.string().nullable().describe('the value that a person has to say; null if none'),
	of: z.enum(['site', 'client', 'key']).nullable().describe('whose setting it changes; null if it is done on another screen'),
	subject: z.string().nullable().describe('the slug of the site, or the id of the client or key'),
	href: z.string().nullable().describe('the screen of the console where it is done'),
});

export const messageExplanation = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	fault: z
		.strictObject({
			code: z.string(),
			wrong: z.string().describe('what is wrong, in one sentence, without the content of the message'),
			asks: z.string().describe('what the standard asks for'),
			section: z.string().describe('the standard and its section'),
			place: z.string().nullable().describe('the field at fault, with its name in the standard'),
			location: location.nullable(),
		})
		.nullable()
		.describe('null if the message was not refused'),
	remedies: z.array(remedyRecord).describe('what can be done, the likeliest first'),
	cause: z
		.strictObject({
			id: z.string(),
			open: z.boolean().describe('the message waits: nobody has replayed it, sent it again with success, or set it aside'),
			previous: z.uuid().nullable().describe('the next newer message that waits for the same cause'),
			next: z.uuid().nullable().describe('the next older one'),
		})
		.nullable(),
	set_aside: z.strictObject({ reason: z.string(), actor: z.string(), at: instant }).nullable(),
	edit: z.strictObject({ original: z.uuid(), actor: z.string(), at: instant }).nullable().describe('the message is an edit of another one'),
	replayable: z.boolean(),
});
type MessageExplanation = z.output<typeof messageExplanation>;

export interface Cause {
	id: string;
	is_open: boolean;
	previous: string | null;
	next: string | null;
}

/** Returns the cause of a refused message, with its neighbours; undefined for any other. */
export async function causeOfMessage({ database, limits }: OperationContext, row: WholeMessageRow): Promise<Cause | undefined> {
	if (row.outcome !== 'refused') return undefined;
	const [cause] = await database.search<Cause>(placeInCause, [row.site_id, row.id, limits.failuresScannedMax], limits.readMsMax);
	return cause;
}

async function causeOfOriginal({ database, limits }: OperationContext, row: WholeMessageRow): Promise<Cause | undefined> {
	if (row.replay_of === null) return undefined;
	const values = [row.site_id, row.replay_of, limits.failuresScannedMax];
	const [cause] = await database.search<Cause>(placeInCause, values, limits.readMsMax);
	return cause && { ...cause, is_open: false };
}

export function mendable(row: WholeMessageRow): Mendable {
	return {
		id: row.id,
		site: row.site,
		clientId: row.client_id,
		source: row.source,
		kind: row.kind,
		messageType: row.message_type,
		outcome: row.outcome,
		code: row.outcome === 'refused' ? row.failure_code : null,
		text: row.failure ?? '',
		flags: (row.flags ?? []).map(({ code }) => code),
		location: row.outcome === 'refused' ? locationOf(row) : undefined,
		settings: readSettings(row.sender_settings),
		bytes: row.bytes,
	};
}

/** Says what is wrong with a message, what its standard asks for, and what can be done. */
export async function explainMessage(context: OperationContext, row: WholeMessageRow): Promise<MessageExplanation> {
	const message = mendable(row);
	const [stated, handling, replayable] = await Promise.all([
		causeOfMessage(context, row),
		handlingOfMessage(context, row),
		replayableKinds(),
	]);
	// The replay of a message that waited leads on to those that still wait.
	const cause = stated ?? (await causeOfOriginal(context, row));
	return {
		id: row.id,
		site: row.site,
		fault: faultOf(message),
		remedies: remediesFor(message).map((name) => described(message, name)),
		cause: cause === undefined ? null : { id: cause.id, open: cause.is_open, previous: cause.previous, next: cause.next },
		...handling,
		replayable: row.bytes.length > 0 && replayable.has(row.kind),
	};
}

function faultOf({ code, kind, location: at }: Mendable): MessageExplanation['fault'] {
	if (code === null) return null;
	const known = isFailureCode(code) ? code : 'internal';
	return { code, ...explain(known, standardOf(kind), at), place: at === undefined ? null : placeName(at), location: at ?? null };
}

interface HandlingRow {
	reason: string | null;
	set_aside_by: string | null;
	set_aside_at: Date | null;
	original_id: string | null;
	edited_by: string | null;
	edited_at: Date | null;
}

async function handlingOfMessage({ database }: OperationContext, { site_id: siteId, id }: WholeMessageRow) {
	const [row] = await database.rows<HandlingRow>(handlingOf, [siteId, id]);
	const { reason, set_aside_by: by, set_aside_at: at, original_id: original, edited_by: editor, edited_at: editedAt } = row ?? {};
	return {
		set_aside: reason && by && at ? { reason, actor: by, at: at.toISOString() } : null,
		edit: original && editor && editedAt ? { original, actor: editor, at: editedAt.toISOString() } : null,
	};
}

function described(message: Mendable, name: RemedyName): z.output<typeof remedyRecord> {
	const remedy = remedyOf(name);
	const common = { remedy: name, title: remedy.title(message), effect: remedy.effect };
	if (remedy.kind === 'place') return { ...common, asks: null, of: null, subject: null, href: remedy.href(message) };
	const { of, id } = subjectOf(message, remedy.settings(message, 'UTC') ?? {});
	return { ...common, asks: remedy.asks ?? null, of, subject: id, href: null };
}

/** The settings that a remedy changes, and whose they are. */
export interface Change {
	subject: Subject;
	settings: Settings;
}

/** @throws AdministrationError when the remedy does not fit the message, is done elsewhere, or needs another value */
export function changeOf(message: Mendable, name: RemedyName, value = ''): Change {
	const remedy = remedyOf(name);
	if (!remedy.fits(message)) throw new AdministrationError(`the remedy '${name}' does not fit this message`, 'refused', 'remedy');
	if (remedy.kind === 'place')
		throw new AdministrationError(`the remedy '${name}' is done elsewhere: ${remedy.effect}`, 'refused', 'remedy');
	const settings = remedy.settings(message, value);
	if (settings === undefined) throw new AdministrationError(`value: ${remedy.asks ?? 'it'} is needed`, 'form', 'value');
	return { subject: subjectOf(message, settings), settings };
}

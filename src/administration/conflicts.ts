import { z } from 'zod';
import { Failure } from '#core/failure.ts';
import { newId, nilId } from '#core/id.ts';
import type { Delivery } from '#record/delivery.ts';
import type { ConflictDecision, DecisionAnswer, InstanceAttributes, StoredInstance } from '#record/instance.ts';
import { readRows } from '#storage/administrative-reader.ts';
import { quarantineKey } from '#storage/objects/object-key.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import { listConflicts as listStatement, showConflict as showStatement } from '#storage/statements/administrative/read-conflicts.ts';
import { readAttributes } from '#storage/stored-attributes.ts';
import { AdministrationError } from './context.ts';
import type { MessageContext } from './messages.ts';
import { siteBySlug } from './sites.ts';

export interface ConflictContext extends MessageContext {
	objects: ObjectStore;
	/** DICOM_HEADER_BYTES_MAX */
	headerBytesMax: number;
}

export const listConflictsInput = z.strictObject({
	site: z.string().optional(),
	/** The settled ones as well. */
	all: z.boolean().default(false),
	before: z.uuid().optional(),
	limit: z.coerce.number().int().min(1).max(1000).default(50),
});
export const settleConflictInput = z.strictObject({ id: z.uuid(), keep: z.enum(['stored', 'received']) });

export interface ConflictRecord {
	id: string;
	site: string;
	sop_instance_uid: string;
	/** Of the object that is kept aside. */
	study_uid: string;
	bytes: number;
	calling_ae: string;
	source: string;
	received_at: string;
	settled_at: string | null;
	/** `stored`, `received`: a person kept that one. `replaced`, `superseded`: was the instance before. */
	settlement: string | null;
	settled_by: string | null;
}

type Row<T> = { [K in keyof T]: K extends 'received_at' ? Date : K extends 'settled_at' ? Date | null : T[K] };

interface WholeRow extends Row<ConflictRecord> {
	site_id: string;
	default_authority: string | null;
	digest: string;
	object_key: string;
	stored_digest: string;
	stored_bytes: number;
	stored_object_key: string;
	stored_calling_ae: string;
	stored_source: string;
	stored_at: Date;
}

/** While an instance is being answered, its object may still be on the way into quarantine. */
const settlingMs = 300_000;

function record({ id, site, sop_instance_uid, study_uid, bytes, calling_ae, source, ...row }: Row<ConflictRecord>): ConflictRecord {
	return {
		...{ id, site, sop_instance_uid, study_uid, bytes, calling_ae, source },
		received_at: row.received_at.toISOString(),
		settled_at: row.settled_at?.toISOString() ?? null,
		settlement: row.settlement,
		settled_by: row.settled_by,
	};
}

/** Other content under known UIDs: what waits for a person, newest first. */
export async function listConflicts(context: ConflictContext, input: z.infer<typeof listConflictsInput>): Promise<ConflictRecord[]> {
	const siteId = input.site === undefined ? null : (await siteBySlug(context.em.fork(), input.site)).id;
	const rows = await readRows<Row<ConflictRecord>>(context.databaseUrl, listStatement, [
		siteId,
		input.all,
		input.before ?? null,
		input.limit,
	]);
	return rows.map(record);
}

async function wholeRow({ databaseUrl }: ConflictContext, id: string): Promise<WholeRow> {
	const [row] = z.uuid().safeParse(id).success ? await readRows<WholeRow>(databaseUrl, showStatement, [id]) : [];
	if (row === undefined) throw new AdministrationError(`there is no conflict '${id}'`);
	return row;
}

/** Where the object of a conflict lies. */
async function placeOf({ objects }: ConflictContext, key: string): Promise<string> {
	for (const place of [quarantineKey(key), key]) if ((await objects.size(place)) !== undefined) return place;
	throw new AdministrationError('the object of the conflict is not in the object store');
}

export interface ConflictSide {
	digest: string;
	bytes: number;
	calling_ae: string;
	source: string;
	at: string;
	/** What the data set says; null where the object cannot be read. */
	attributes: InstanceAttributes | null;
}

export interface WholeConflict extends ConflictRecord {
	/** What the index holds under the UID. */
	stored: ConflictSide;
	/** What is kept aside. */
	received: ConflictSide;
	/** Of the attributes; none where only what they do not show differs, such as the pixels. */
	differences: { attribute: string; stored: unknown; received: unknown }[];
}

/** A conflict with what both objects say of themselves. */
export async function showConflict(context: ConflictContext, id: string): Promise<WholeConflict> {
	const row = await wholeRow(context, id);
	const stored = await attributesOf(context, row.stored_object_key);
	const received = await attributesOf(context, row.object_key);
	return {
		...record(row),
		stored: {
			...{ digest: row.stored_digest, bytes: row.stored_bytes, calling_ae: row.stored_calling_ae, source: row.stored_source },
			at: row.stored_at.toISOString(),
			attributes: stored,
		},
		received: {
			...{ digest: row.digest, bytes: row.bytes, calling_ae: row.calling_ae, source: row.source },
			at: row.received_at.toISOString(),
			attributes: received,
		},
		differences: stored && received ? differencesOf(stored, received) : [],
	};
}

/** An object that is lost or damaged is no reason not to show the conflict. */
async function attributesOf(context: ConflictContext, key: string): Promise<InstanceAttributes | null> {
	try {
		return await readAttributes(context.objects, await placeOf(context, key), context);
	} catch (error) {
		if (error instanceof AdministrationError || (error instanceof Failure && error.code !== 'unavailable')) return null;
		throw error;
	}
}

function differencesOf(stored: object, received: object, path = ''): WholeConflict['differences'] {
	const names = new Set([...Object.keys(stored), ...Object.keys(received)]);
	return [...names].flatMap((name) => {
		const [left, right] = [stored, received].map((side) => (side as Record<string, unknown>)[name]);
		if (isRecord(left) && isRecord(right)) return differencesOf(left, right, `${path}${name}.`);
		if (JSON.stringify(left) === JSON.stringify(right)) return [];
		return [{ attribute: path + name, stored: left ?? null, received: right ?? null }];
	});
}

function isRecord(value: unknown): value is object {
	return typeof value === 'object' && value !== null;
}

export interface SettledRecord extends ConflictRecord {
	/** False: what was the instance before still lies where it was; `doctor --objects --repair` puts it aside. */
	put_aside: boolean;
}

/**
 * Settles a conflict. `received`: what was kept aside becomes the instance, and what was the instance is kept aside; so may a settled
 * one be decided anew. The object is moved to its key before the index names it, and the other away only when the index has
 * forgotten it: whatever ends in between, each object lies where the index finds it.
 * @throws AdministrationError when that cannot be done; nothing is changed then
 */
export async function settleConflict(context: ConflictContext, input: z.infer<typeof settleConflictInput>): Promise<SettledRecord> {
	const row = await wholeRow(context, input.id);
	if (input.keep === 'stored' && row.settled_at !== null) throw new AdministrationError('the conflict is settled');
	const received = input.keep === 'received' ? await fetched(context, row) : undefined;
	const superseded = await decided(context, row, { conflictId: row.id, by: context.actor, received });
	const settled = record(await wholeRow(context, row.id));
	if (superseded === undefined) return { ...settled, put_aside: true };
	try {
		await context.objects.move(superseded, quarantineKey(superseded));
		return { ...settled, put_aside: true };
	} catch (error) {
		if (error instanceof Failure) return { ...settled, put_aside: false };
		throw error;
	}
}

/** The object of a conflict, brought to the key under which the index may name it. */
async function fetched(context: ConflictContext, row: WholeRow): Promise<StoredInstance> {
	const { digest, bytes, object_key: objectKey, calling_ae: callingAe, source } = row;
	if (row.stored_object_key === objectKey) throw new AdministrationError('what was received is the instance already');
	const place = await placeOf(context, objectKey);
	const changedMs = (row.settled_at ?? row.received_at).getTime();
	if (place === objectKey && context.nowMs() - changedMs < settlingMs)
		throw new AdministrationError('the object is still being put aside; try again in some minutes');
	const attributes = await readAttributes(context.objects, place, context);
	if (place !== objectKey) await context.objects.move(place, objectKey);
	return { attributes, digest, bytes, objectKey, callingAe, source };
}

/** By the site's turn, as everything that is written; answers the key of what was the instance before. */
async function decided(context: ConflictContext, row: WholeRow, decision: ConflictDecision): Promise<string | undefined> {
	const receivedAtMs = context.nowMs();
	const delivery: Delivery = {
		id: newId(receivedAtMs),
		kind: 'conflict',
		siteId: row.site_id,
		clientId: nilId,
		surface: 'dimse',
		source: row.source,
		receivedAtMs,
		bytes: Buffer.from(JSON.stringify(decision)),
		defaultAuthority: row.default_authority ?? undefined,
	};
	const [reply] = await context.deliver([delivery]);
	const { failure, superseded } = JSON.parse(Buffer.from(reply?.acks[0] ?? []).toString('utf8')) as DecisionAnswer;
	if (failure) throw new AdministrationError(failure.diagnostics);
	return superseded;
}

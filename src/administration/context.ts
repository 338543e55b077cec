import { newId, nilId } from '#core/id.ts';
import type { Role } from '#core/role.ts';
import type { FhirLimits } from '#fhir/limits.ts';
import type { Hl7v2Limits } from '#hl7v2/limits.ts';
import type { XmlLimits } from '#hl7v3/limits.ts';
import type { Delivery, ReplyTo } from '#record/delivery.ts';
import type { ConnectionPool } from '#storage/connection-pool.ts';
import { type EntityManager, runInTransaction } from '#storage/entities/index.ts';
import type { StorageLimits } from '#storage/limits.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import type { Reader } from '#storage/reader.ts';
import { advanceAccessVersion, insertAuditEvent } from '#storage/statements/administrative/read-access.ts';
import type { Echo } from './echo.ts';
import type { AdministrationLimits } from './limits.ts';

/** Who administers. */
export interface Actor {
	/** `cli:root`, or the e-mail of who is signed in. */
	name: string;
	role: Role;
	/** Slugs; `all` for an administrator and for an auditor of all sites. */
	sites: 'all' | readonly string[];
}

/** Who administers, from where, and by what. */
export interface AdministrationContext {
	em: EntityManager;
	actor: Actor;
	/** The address that the call came from; empty on the command line. */
	source: string;
	/** Slugs of the sites that a list shows: the one that was asked for, or those of the actor. `perform` sets it. */
	visibleSites: 'all' | readonly string[];
	nowMs(): number;
	/** Resolves when what was committed is in force in every process of this node, or one of them does not confirm it in time. Never rejects. */
	accessChanged(): Promise<void>;
	/** ALLOW_ANY_SOURCE. */
	allowAnySource: boolean;
}

/** What the operations need of the service; a surface makes one a call. */
export interface OperationContext extends AdministrationContext {
	/** For what is looked up and noted; the unit of work is on the same connections. */
	database: ConnectionPool;
	/** Carries out a delivery by the ordinary write path. */
	deliver<Sent extends Delivery>(delivery: Sent): Promise<ReplyTo<Sent>>;
	objects: ObjectStore;
	/** DICOM_HEADER_BYTES_MAX */
	headerBytesMax: number;
	/** C-ECHO of a remote AE. */
	echo(target: { title: string; host: string; port: number; tls: boolean }, callingAe: string): Promise<Echo>;
	limits: AdministrationLimits & FhirLimits & Hl7v2Limits & StorageLimits & XmlLimits;
	/** For what is read as the FHIR surface reads it. */
	reader: Reader;
	/** Replays of many messages, which outlive the call; undefined where nothing does. */
	replayRuns: ReplayStarter | undefined;
}

/** A replay of many messages of one site. */
export interface NewRun {
	siteId: string;
	/** What the messages have in common. */
	cause: object;
	/** In the order in which they are taken. */
	messageIds: readonly string[];
}

export interface ReplayStarter {
	/** @throws AdministrationError while another one of the site is under way */
	start(context: OperationContext, run: NewRun): Promise<string>;
}

/** For who administers the whole network from within: the command line. */
export function wholeNetwork(name: string): Pick<AdministrationContext, 'actor' | 'source' | 'visibleSites'> {
	return { actor: { name, role: 'administrator', sites: 'all' }, source: '', visibleSites: 'all' };
}

/**
 * Why something is not done. `form`: the input is not of the operation's form. `forbidden`: not by this actor. `not-found`: there is none,
 * or none that the actor may know of. `conflict`: the name is taken. `refused`: not as things are.
 */
export type Fault = 'form' | 'forbidden' | 'not-found' | 'conflict' | 'refused';

/** Nothing was changed; the text says what is at fault and why. */
export class AdministrationError extends Error {
	override readonly name = 'AdministrationError';
	readonly fault: Fault;
	/** The member of the input that is at fault, where one is. */
	readonly field: string | undefined;

	constructor(message: string, fault: Fault = 'refused', field?: string) {
		super(message);
		this.fault = fault;
		this.field = field;
	}
}

/** What the audit trail keeps of a change: of what is changed, only the members that differ. */
export interface AuditedChange {
	action: string;
	subject: string;
	siteId: string | null;
	/** Not of what is new. */
	before?: object;
	/** Not of what is removed. */
	after?: object;
}

/**
 * Carries out a change, its audit event and the advance of the access version in one transaction, so that every node
 * learns of it and nothing is changed unseen. On this node it is in force when the call returns.
 */
export async function change<T>(context: AdministrationContext, work: (em: EntityManager) => Promise<[T, AuditedChange]>): Promise<T> {
	const changed = await context.em.fork().transactional(async (em) => {
		const [result, audited] = await work(em);
		await em.flush();
		await runInTransaction(em, advanceAccessVersion, []);
		await runInTransaction(em, insertAuditEvent, auditValues(context, audited));
		return result;
	});
	await context.accessChanged();
	return changed;
}

/** Notes what was done by another way than `change`. */
export async function note(context: OperationContext, audited: AuditedChange): Promise<void> {
	await context.database.run(insertAuditEvent, auditValues(context, audited));
}

function auditValues(context: AdministrationContext, audited: AuditedChange): unknown[] {
	const { action, subject, siteId } = audited;
	const at = new Date(context.nowMs()).toISOString();
	const detail = JSON.stringify(detailOf(audited));
	return [newId(), at, siteId ?? nilId, context.actor.name, action, subject, context.source || null, detail];
}

function detailOf({ before, after }: AuditedChange): object {
	if (before === undefined || after === undefined) return { ...(before && { before }), ...(after && { after }) };
	return { before: differing(before, after), after: differing(after, before) };
}

function differing(side: object, other: object): object {
	const others = new Map(Object.entries(other));
	return Object.fromEntries(Object.entries(side).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(others.get(name))));
}

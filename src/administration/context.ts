import type { AccessLimits } from '#access/limits.ts';
import { Passwords } from '#access/password.ts';
import type { AlertLimits } from '#alerts/limits.ts';
import type { NotificationMeans } from '#alerts/means.ts';
import { newId, nilId } from '#core/id.ts';
import type { Role } from '#core/role.ts';
import type { TargetPolicy } from '#core/target-policy.ts';
import type { FhirLimits } from '#fhir/limits.ts';
import type { Hl7v2Limits } from '#hl7v2/limits.ts';
import type { XmlLimits } from '#hl7v3/limits.ts';
import type { Delivery, ReplyTo } from '#record/delivery.ts';
import type { Renderer } from '#rendering/renderer.ts';
import type { RetentionLimits } from '#retention/limits.ts';
import type { ConnectionPool } from '#storage/connection-pool.ts';
import { type EntityManager, rowsInTransaction, runInTransaction } from '#storage/entities/index.ts';
import type { StorageLimits } from '#storage/limits.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import type { Reader } from '#storage/reader.ts';
import { advanceAccessVersion, insertAuditEvent } from '#storage/statements/administrative/read-access.ts';
import { readMoving } from '#storage/statements/administrative/sites.ts';
import type { Echo } from './echo.ts';
import type { InstanceSender } from './instance-sender.ts';
import type { AdministrationLimits } from './limits.ts';
import type { RederivationTask } from './rederivation-task.ts';

/** The person or process that carries out an operation. */
export interface Actor {
	/** `cli:root`, or the e-mail address of the signed-in user. */
	name: string;
	role: Role;
	/** Slugs, or `all` for an administrator and for an auditor of all sites. */
	sites: 'all' | readonly string[];
}

/** Gives each call a unit of work of its own. Those of a transaction that several changes share are part of it. */
export type Entities = Pick<EntityManager, 'fork'>;

/** The actor of an operation, its origin, and its access to the database. */
export interface AdministrationContext {
	em: Entities;
	actor: Actor;
	/** The IP address of the caller; empty on the command line. */
	source: string;
	/** Slugs of the sites that a list shows: the requested site, or all sites of the actor. `perform` sets it. */
	visibleSites: 'all' | readonly string[];
	nowMs(): number;
	/** Resolves when what was committed is in force in every process of this node, or one of them does not confirm it in time. Never rejects. */
	accessChanged(): Promise<void>;
	/** ALLOW_ANY_SOURCE. */
	allowAnySource: boolean;
	/** ALLOWED_TARGETS. */
	targets: TargetPolicy;
	passwords: Passwords;
}

/** Everything that operations need from the service. A surface creates one for each call. */
export interface OperationContext extends AdministrationContext {
	/** Runs look-ups and audit events. The unit of work uses the same connections. */
	database: ConnectionPool;
	/** Carries out a delivery through the ordinary write path. */
	deliver<Sent extends Delivery>(delivery: Sent): Promise<ReplyTo<Sent>>;
	objects: ObjectStore;
	/** DICOM_HEADER_BYTES_MAX */
	headerBytesMax: number;
	/** C-ECHO of a remote AE. */
	echo(target: { title: string; host: string; port: number; tls: boolean }, callingAe: string): Promise<Echo>;
	/** C-STORE of instances to a remote AE. */
	send: InstanceSender;
	/** Tells people of alerts. */
	notifications: NotificationMeans;
	limits: AdministrationLimits &
		Pick<AccessLimits, 'auditKeepDays' | 'sessionIdleMsMax' | 'sessionMsMax'> &
		AlertLimits &
		FhirLimits &
		Hl7v2Limits &
		RetentionLimits &
		StorageLimits &
		XmlLimits;
	/** Reads resources as the FHIR surface does. */
	reader: Reader;
	/** Renders images. Undefined on the command line, which shows none. */
	renderer: Pick<Renderer, 'open' | 'frame'> | undefined;
	/** Starts replays that outlive the call. Undefined on the command line, where nothing does. */
	replayRuns: ReplayStarter | undefined;
}

/** A run of one site in the background. */
export type NewRun = NewReplay | NewRederivation;

/** A replay of several messages. */
interface NewReplay {
	kind: 'replay';
	siteId: string;
	/** The failure that the messages have in common. */
	cause: object;
	/** The messages are replayed in this order. */
	messageIds: readonly string[];
}

/** The local times of stored messages are read by another zone. */
interface NewRederivation {
	kind: 'rederivation';
	siteId: string;
	task: RederivationTask;
}

export interface ReplayStarter {
	/** @throws AdministrationError while another run of the site is under way */
	start(context: OperationContext, run: NewRun): Promise<string>;
}

/** `cancelled` is recorded already by whoever cancelled it. */
export type RunEnd = 'done' | 'cancelled' | 'interrupted';

/** A run may ask this of the node that carries it out. */
export interface RunControl {
	context: OperationContext;
	siteId: string;
	id: string;
	/** Counts the nodes that have carried it out; this one is the last, or must stop. */
	attempt: number;
	isEnding(): boolean;
	/** Waits; not at all for a time that is over. Returns false if the node ends in the meantime. */
	pause(ms: number): Promise<boolean>;
	/** Tries a step again while the service cannot store. Returns undefined if the node ends first. */
	persist<T>(step: () => Promise<T>): Promise<T | undefined>;
}

export type RunWork = (control: RunControl) => Promise<RunEnd>;

/** The actor of the command line, which administers all sites. */
export function wholeNetwork(name: string): Pick<AdministrationContext, 'actor' | 'source' | 'visibleSites' | 'passwords'> {
	return { actor: { name, role: 'administrator', sites: 'all' }, source: '', visibleSites: 'all', passwords: new Passwords() };
}

/**
 * Why an operation was refused. `form`: the input is invalid. `forbidden`: the actor lacks permission. `not-found`: the object does not
 * exist, or the actor has no access to it. `conflict`: the name is taken. `refused`: the current state does not allow it.
 */
export type Fault = 'form' | 'forbidden' | 'not-found' | 'conflict' | 'refused';

/** An operation was refused and nothing was changed. The text says what is wrong and why. */
export class AdministrationError extends Error {
	override readonly name = 'AdministrationError';
	readonly fault: Fault;
	/** The member of the input that is wrong, if the fault lies in one. */
	readonly field: string | undefined;

	constructor(message: string, fault: Fault = 'refused', field?: string) {
		super(message);
		this.fault = fault;
		this.field = field;
	}
}

/** A change as the audit trail records it. Only the members that changed are kept. */
export interface AuditedChange {
	action: string;
	subject: string;
	siteId: string | null;
	/** Absent if the object is new. */
	before?: object;
	/** Absent if the object is removed. */
	after?: object;
	/** Row ids of the patients, and Study Instance UIDs, that were looked at or changed. */
	patients?: readonly (string | null)[];
	studies?: readonly string[];
}

/**
 * Writes a change, its audit event and the next access version in one transaction. Every node then learns of the change, and no
 * change goes unrecorded. On this node it is in force when the call returns.
 */
export async function change<T>(context: AdministrationContext, work: (em: EntityManager) => Promise<[T, AuditedChange]>): Promise<T> {
	const changed = await context.em.fork().transactional(async (em) => {
		const [result, audited] = await work(em);
		await em.flush();
		await runInTransaction(em, advanceAccessVersion, []);
		await refuseMoving(em, audited.siteId);
		await runInTransaction(em, insertAuditEvent, auditValues(context, audited));
		return result;
	});
	await context.accessChanged();
	return changed;
}

/** Looks behind the lock of the access version, so a change is either part of the last round of a move or it is refused. */
async function refuseMoving(em: EntityManager, siteId: string | null): Promise<void> {
	if (siteId === null) return;
	const [row] = await rowsInTransaction<{ slug: string; left: boolean; arriving: boolean; peer: string }>(em, readMoving, [siteId]);
	if (row === undefined) return;
	const { slug, left, arriving, peer } = row;
	const why = left
		? `was moved to the database ${peer}`
		: arriving
			? `is being copied from the database ${peer}`
			: 'is being moved; try again later';
	throw new AdministrationError(`nothing was changed: the site '${slug}' ${why}`, 'conflict');
}

/** Records an audit event for an action that `change` did not carry out. */
export async function note(context: OperationContext, audited: AuditedChange): Promise<void> {
	await context.database.run(insertAuditEvent, auditValues(context, audited));
}

/** The values of `insertAuditEvent`. */
export function auditValues(context: AdministrationContext, audited: AuditedChange): unknown[] {
	const { action, subject, siteId, patients = [], studies = [] } = audited;
	const at = new Date(context.nowMs()).toISOString();
	const detail = JSON.stringify(detailOf(audited));
	const known = patients.filter((id) => id !== null);
	const named = [known, studies].map((ids) => (ids.length === 0 ? null : [...new Set(ids)]));
	return [newId(), at, siteId ?? nilId, context.actor.name, action, subject, context.source || null, detail, ...named];
}

function detailOf({ before, after }: AuditedChange): object {
	if (before === undefined || after === undefined) return { ...(before && { before }), ...(after && { after }) };
	return { before: differing(before, after), after: differing(after, before) };
}

function differing(side: object, other: object): object {
	const others = new Map(Object.entries(other));
	return Object.fromEntries(Object.entries(side).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(others.get(name))));
}

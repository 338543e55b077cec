import { newId } from '#core/id.ts';
import type { MoveState } from '#core/move-states.ts';
import type { BulkConnection } from '../bulk-connection.ts';
import { textSettings } from '../cut/tables.ts';
import { stateOf } from '../sqlstate.ts';

/** A site that is to move, as one of the databases has it. */
export interface MovingSite {
	id: string;
	slug: string;
	name: string;
	active: boolean;
	state: MoveState | undefined;
	/** The other database; undefined when the site has never begun to move. */
	peer: string | undefined;
}

/** A statement waits so long for a lock; then the move ends, and may be repeated. */
const lockWait = '60s';
/** PostgreSQL may notice a little late that the connection of an earlier move has ended. */
const otherMoveWait = '3s';
const lockNotAvailable = '55P03';
/** A site that nobody keeps closed opens again after this time. */
export const leaseSeconds = 60;

const siteText = 'select s.id, s.slug, s.name, s.active, s.move_state, s.move_peer from site s';

export async function readSite(connection: BulkConnection, by: 'id' | 'slug', value: string): Promise<MovingSite | undefined> {
	const [row] = await connection.cells(`${siteText} where s.${by}::text = $1`, [value]);
	return row && siteOf(row);
}

function siteOf([id, slug, name, active, state, peer]: readonly unknown[]): MovingSite {
	const known = state === null ? undefined : (String(state) as MoveState);
	return {
		...{ id: String(id), slug: String(slug), name: String(name), active: active === 't', state: known },
		peer: typeof peer === 'string' ? peer : undefined,
	};
}

/** Carries work out in a transaction. @throws Error when PostgreSQL does not commit it */
export async function inTransaction<T>(connection: BulkConnection, work: () => Promise<T>): Promise<T> {
	await connection.control('begin');
	try {
		await connection.execute(...textSettings, `set local lock_timeout = '${lockWait}'`);
		const result = await work();
		if ((await connection.control('commit')) !== 'COMMIT') throw new Error('PostgreSQL did not commit a step of the move');
		return result;
	} catch (error) {
		// A connection that is lost has rolled back.
		await connection.control('rollback').catch(() => undefined);
		throw error;
	}
}

/** An event of a move. */
export interface MoveEvent {
	site: MovingSite;
	action: string;
	actor: string;
	detail: Record<string, string | number>;
}

/** Notes a step in the audit trail; nodes read their access rights again. */
async function noted(connection: BulkConnection, { site, action, actor, detail }: MoveEvent): Promise<void> {
	await connection.execute('update access_version set version = version + 1');
	await connection.cells(
		`insert into audit_event (id, recorded_at, site_id, actor, action, subject, detail) values ($1, clock_timestamp(), $2, $3, $4, $5, $6::jsonb)`,
		[newId(), site.id, actor, action, site.slug, JSON.stringify(detail)],
	);
}

/** Nobody else moves the site while the transaction of this connection lasts. Returns false if somebody does. */
export async function lockMove(connection: BulkConnection, slug: string): Promise<boolean> {
	await connection.control('begin');
	await connection.execute(...textSettings, `set local lock_timeout = '${otherMoveWait}'`);
	try {
		await connection.cells(`select pg_advisory_xact_lock(hashtextextended('tributary site move ' || $1, 0))`, [slug]);
		return true;
	} catch (error) {
		if (stateOf(error) === lockNotAvailable) return false;
		throw error;
	}
}

export function beginLeaving(source: BulkConnection, event: MoveEvent, peer: string): Promise<void> {
	return inTransaction(source, async () => {
		await source.cells(`update site set move_state = 'leaving', move_peer = $2, moved_at = now() where id = $1`, [event.site.id, peer]);
		await noted(source, event);
	});
}

/** Makes the site in the other database, where it is not served yet. It is there already when a move is repeated. */
export function beginArriving(target: BulkConnection, event: MoveEvent, peer: string): Promise<void> {
	const { id, slug, name } = event.site;
	return inTransaction(target, async () => {
		const made = await target.cells(
			`insert into site (id, slug, name, active, move_state, move_peer, moved_at) values ($1, $2, $3, false, 'arriving', $4, now())
			on conflict (id) do nothing returning id`,
			[id, slug, name, peer],
		);
		if (made.length > 0) await noted(target, event);
	});
}

const leaseText = `clock_timestamp() + interval '${leaseSeconds} seconds'`;

/** From now on every node lets the senders of the site wait, as soon as it has asked for its access rights. */
export function closeDoors(source: BulkConnection, { id }: MovingSite): Promise<void> {
	return inTransaction(source, async () => {
		await source.cells(`update site set closed_until = ${leaseText} where id = $1`, [id]);
	});
}

/** The turn of a site: the numbers of what was written before it was closed. */
export interface LastTurn {
	sequence: string;
	authorityVersion: string;
}

/** Waits for the writer that has the turn of the site. None comes behind it. */
export function closeTurn(source: BulkConnection, { id }: MovingSite): Promise<LastTurn> {
	return inTransaction(source, async () => {
		const [row] = await source.cells(
			`insert into site_turn as t (site_id, closed_until) values ($1, ${leaseText})
			on conflict (site_id) do update set closed_until = excluded.closed_until
			returning t.sequence, t.authority_version`,
			[id],
		);
		return { sequence: String(row?.[0]), authorityVersion: String(row?.[1]) };
	});
}

/** Keeps the site closed. @throws Error when it has opened in the meantime, so that something may have been written */
export function renew(source: BulkConnection, { id }: MovingSite): Promise<void> {
	return inTransaction(source, async () => {
		await source.cells(`update site set closed_until = ${leaseText} where id = $1 and closed_until > clock_timestamp()`, [id]);
		const kept = await source.cells(
			`update site_turn set closed_until = case when closed_until > clock_timestamp() then ${leaseText} end
			where site_id = $1 and closed_until is not null returning closed_until is not null`,
			[id],
		);
		if (kept[0]?.[0] === 'f') throw new Error('the site could not be kept closed');
	});
}

/** The source gives the site up. @throws Error when it was not closed all the time */
export function leave(source: BulkConnection, event: MoveEvent, peer: string): Promise<void> {
	const { id } = event.site;
	return inTransaction(source, async () => {
		const closed = await source.cells(
			`update site_turn set closed_until = 'infinity' where site_id = $1 and closed_until > clock_timestamp() returning 1`,
			[id],
		);
		if (closed.length === 0) throw new Error('the site could not be kept closed until everything was compared');
		await source.cells(
			`update site set closed_until = 'infinity', move_state = 'left', move_peer = $2, moved_at = clock_timestamp() where id = $1`,
			[id, peer],
		);
		await noted(source, event);
	});
}

/** The site goes on in its database: `leaving`, or as if it had never moved. */
export function reopen(source: BulkConnection, event: MoveEvent, state: 'leaving' | 'abandoned'): Promise<void> {
	const { id } = event.site;
	return inTransaction(source, async () => {
		await source.cells('update site_turn set closed_until = null where site_id = $1', [id]);
		const further = state === 'leaving' ? `move_state = 'leaving'` : 'move_state = null, move_peer = null, moved_at = null';
		await source.cells(`update site set closed_until = null, ${further} where id = $1`, [id]);
		await noted(source, event);
	});
}

/** The other database serves the site. Its numbers go on behind those that were given. @throws Error when it is not arriving */
export function arrive(target: BulkConnection, event: MoveEvent, { sequence, authorityVersion }: LastTurn): Promise<void> {
	const { id, active } = event.site;
	return inTransaction(target, async () => {
		await target.cells(
			`insert into site_turn (site_id, sequence, authority_version) values ($1, $2, $3)
			on conflict (site_id) do update set sequence = excluded.sequence, authority_version = excluded.authority_version, closed_until = null`,
			[id, sequence, authorityVersion],
		);
		const arrived = await target.cells(
			`update site set active = $2, move_state = null, move_peer = null, moved_at = null, closed_until = null
			where id = $1 and move_state = 'arriving' returning 1`,
			[id, active],
		);
		if (arrived.length === 0) throw new Error('the other database has no such site that arrives');
		await noted(target, event);
	});
}

/** Tells whether the site is not served by the target yet. Waits for the end of a transaction that changes it. */
export function isArriving(target: BulkConnection, { id }: MovingSite): Promise<boolean> {
	return inTransaction(target, async () => {
		const [row] = await target.cells('select s.move_state from site s where s.id = $1 for update', [id]);
		return row?.[0] === 'arriving';
	});
}

/** Notes that what was copied is removed. The caller has begun a transaction. */
export const noteRemoved = noted;

import { setTimeout as pause } from 'node:timers/promises';
import type { Side } from '#storage/moving/moved-tables.ts';
import { runningWork } from '#storage/moving/refusals.ts';
import { carryRound, type Round } from '#storage/moving/round.ts';
import {
	arrive,
	beginArriving,
	beginLeaving,
	closeDoors,
	closeTurn,
	isArriving,
	type LastTurn,
	leaseSeconds,
	leave,
	type MoveEvent,
	type MovingSite,
	renew,
	reopen,
} from '#storage/moving/site-state.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import { AdministrationError } from '../context.ts';
import { moveObjects, type MoveReport as ObjectsReport } from '../move-objects.ts';
import { type Connections, type Databases, movingSite, withConnections } from './connections.ts';
import { type MovePlan, objectSizes, planOf, sizesOf, type TableSize } from './plan.ts';

export interface MoveSiteOptions {
	databases: Databases;
	slug: string;
	/** They say where each database is, without passwords. */
	peers: { source: string; target: string };
	/** The store of the site, and that of the target; the latter is undefined when it is not named. */
	stores: { from: ObjectStore; to: ObjectStore | undefined };
	/** The e-mail address of an account of the target that gets the keys of people who have none there. */
	owner: string | undefined;
	actor: string;
	/** Tells people how far it has come. */
	say(line: string): void;
}

export interface MovedSite {
	site: string;
	from: string;
	to: string;
	rounds: number;
	tables: number;
	rows: number;
	/** Rows that the last round sent, while the senders waited. */
	rows_of_last_round: number;
	objects: number;
	/** The time for which nothing was taken from the senders. */
	closed_seconds: number;
	next: string;
}

export interface MovePreview {
	site: string;
	from: string;
	to: string;
	rows: number;
	bytes: number;
	objects: number;
	object_bytes: number;
	tables: TableSize[];
	refused: string[];
}

/** With so few groups of rows to copy, or when a round did not bring half as few as the one before, the next is the last. */
const fewChanged = 1000;
const roundsMax = 20;
/** Every node asks for its access rights twice a second. */
const inForceMs = 2000;
const renewMs = (leaseSeconds * 1000) / 6;

/** Tells what a move would copy, and what is in its way. It changes nothing. */
export function previewMove(options: MoveSiteOptions): Promise<MovePreview> {
	const { databases, slug, peers, stores, owner } = options;
	return withConnections(databases, slug, async (connections) => {
		const site = await movingSite(connections.reading, slug);
		const plan = await planOf(connections, site, { owner, hasStore: stores.to !== undefined, peer: peers.target });
		const tables = await sizesOf(connections, site, plan);
		const { objects, bytes } = await objectSizes(connections, site);
		const sum = (of: 'rows' | 'bytes') => tables.reduce((total, table) => total + table[of], 0);
		const found = { rows: sum('rows'), bytes: sum('bytes'), objects, object_bytes: bytes, tables, refused: plan.refused };
		return { site: slug, from: peers.source, to: peers.target, ...found };
	});
}

/**
 * Moves a site to another database while it receives: rounds that copy what differs, then the switch, for which its senders wait. Until the target
 * serves the site it goes on here when anything fails; repeated, the move goes on where it was.
 * @throws AdministrationError that says what is in the way
 */
export function moveSite(options: MoveSiteOptions): Promise<MovedSite> {
	return withConnections(options.databases, options.slug, async (connections) => {
		const site = await movingSite(connections.reading, options.slug);
		const { stores, owner, peers } = options;
		const plan = await planOf(connections, site, { owner, hasStore: stores.to !== undefined, peer: peers.target });
		if (plan.refused.length > 0) throw new AdministrationError(`the site is not moved: ${plan.refused.join('; ')}`, 'conflict');
		return new Move(options, connections, site, plan).carryOut();
	});
}

class Move {
	readonly #options: MoveSiteOptions;
	readonly #connections: Connections;
	readonly #site: MovingSite;
	readonly #plan: MovePlan;
	readonly #known = new Set<string>();

	constructor(options: MoveSiteOptions, connections: Connections, site: MovingSite, plan: MovePlan) {
		this.#options = options;
		this.#connections = connections;
		this.#site = site;
		this.#plan = plan;
	}

	async carryOut(): Promise<MovedSite> {
		const { acting, target } = this.#connections;
		const { peers } = this.#options;
		let rounds = 0;
		// One that had left already was ended before the target served it.
		if (this.#site.state !== 'left') {
			await beginArriving(target, this.#event('site.arrive.begin', { from: peers.source }), peers.source);
			await beginLeaving(acting, this.#event('site.leave.begin', { to: peers.target }), peers.target);
			rounds = await this.#catchUp();
		}
		const began = performance.now();
		const last = await this.#switch();
		const { objects } = await this.#copyObjects();
		return {
			...{ site: this.#site.slug, from: peers.source, to: peers.target, rounds: rounds + 1, tables: this.#plan.tables.length },
			...{ rows: last.rows, rows_of_last_round: last.sent, objects, closed_seconds: Math.round(performance.now() - began) / 1000 },
			next: 'the target serves the site: lead its senders there; what they send here is answered "later"',
		};
	}

	#event(action: string, detail: MoveEvent['detail']): MoveEvent {
		return { site: this.#site, actor: this.#options.actor, action, detail };
	}

	/** @returns the number of rounds */
	async #catchUp(): Promise<number> {
		let before = Number.POSITIVE_INFINITY;
		for (let rounds = 1; ; rounds++) {
			const { changed } = await this.#round(false);
			await this.#copyObjects();
			if (changed <= fewChanged || changed > before / 2 || rounds === roundsMax) return rounds;
			before = changed;
		}
	}

	async #round(isLast: boolean): Promise<Round> {
		const { reading, target } = this.#connections;
		const { tables, people } = this.#plan;
		const source: Side = { connection: reading, people };
		const other: Side = { connection: target, people: undefined };
		let done = 0;
		let saidMs = performance.now();
		const told = (table: string) => {
			done += 1;
			if (performance.now() - saidMs < 5000) return;
			saidMs = performance.now();
			this.#options.say(`table ${done} of ${tables.length}: ${table}`);
		};
		const round = await carryRound(source, other, { tables, siteId: this.#site.id, isLast, told });
		this.#options.say(`${isLast ? 'last round' : 'round'}: ${round.rows} rows compared, ${round.sent} sent, ${round.seconds} s`);
		return round;
	}

	/** @throws Error when an object is missing, or its content is not what its row states */
	async #copyObjects(): Promise<Pick<ObjectsReport, 'objects'>> {
		const { databases, stores, say } = this.#options;
		if (stores.to === undefined) return { objects: 0 };
		const copying = { from: stores.from, to: stores.to, known: this.#known, siteId: this.#site.id, onProgress: () => undefined };
		const report = await moveObjects(databases.source.people, copying);
		if (report.copied > 0) say(`${report.objects} objects: ${report.copied} copied`);
		if (report.missing + report.damaged > 0)
			throw new Error(`${report.missing} objects of the site are missing and ${report.damaged} damaged: see objects check`);
		return report;
	}

	/** The senders wait from here on. */
	async #switch(): Promise<Round> {
		const { acting, keeping } = this.#connections;
		const hadLeft = this.#site.state === 'left';
		this.#options.say('switch: the senders wait');
		let isOpen: Error | undefined;
		let renewing: Promise<void> = Promise.resolve();
		const timer = setInterval(() => {
			renewing = renewing
				.then(() => renew(keeping, this.#site))
				.catch((error: unknown) => {
					isOpen ??= error instanceof Error ? error : new Error(String(error));
				});
		}, renewMs);
		try {
			if (!hadLeft) await closeDoors(acting, this.#site);
			if (!hadLeft) await pause(inForceMs);
			const turn = await closeTurn(acting, this.#site);
			const running = hadLeft ? [] : await runningWork(acting, this.#site.id);
			if (running.length > 0) throw new AdministrationError(running.join('; '), 'conflict');
			const last = await this.#round(true);
			await this.#copyObjects();
			clearInterval(timer);
			await renewing;
			if (isOpen !== undefined) throw isOpen;
			await leave(acting, this.#event('site.leave', { to: this.#options.peers.target, rows: last.rows }), this.#options.peers.target);
			await this.#arrive(turn, last);
			// Every node of the target has the site when this ends.
			await pause(inForceMs);
			return last;
		} catch (error) {
			clearInterval(timer);
			await renewing;
			throw await this.#goneOn(error);
		}
	}

	async #arrive(turn: LastTurn, { rows }: Round): Promise<void> {
		const { target } = this.#connections;
		await arrive(target, this.#event('site.arrive', { from: this.#options.peers.source, rows }), turn);
	}

	/** The site goes on here, if the target certainly does not serve it. @returns what is told */
	async #goneOn(cause: unknown): Promise<Error> {
		const { databases, peers, slug } = this.#options;
		const why = cause instanceof Error ? cause.message : String(cause);
		const opened = await Promise.all([databases.source.bulk('move'), databases.target.bulk('move')]).catch(() => undefined);
		const unsure = `repeat the command: nothing is taken for the site '${slug}' until it is known whether ${peers.target} serves it`;
		if (opened === undefined) return new Error(`${why}; ${unsure}`, { cause });
		const [source, target] = opened;
		try {
			if (!(await isArriving(target, this.#site))) return new Error(`${why}; ${unsure}`, { cause });
			await reopen(source, this.#event('site.leave.fail', { to: peers.target }), 'leaving');
			return new AdministrationError(`${why}; the site goes on here, and the move may be repeated`, 'conflict');
		} catch {
			return new Error(`${why}; ${unsure}`, { cause });
		} finally {
			await Promise.all(opened.map((connection) => connection.close()));
		}
	}
}

import type pg from 'pg';
import type { Clock } from '#core/clock.ts';
import type { Beginning, Sampling } from '#core/exposition.ts';
import type { Log } from '#core/log.ts';
import { Silence } from '#core/silence.ts';
import { type Stoppable, systemTimers, type Timers } from '#core/timers.ts';
import type { ConnectionPool } from '#storage/connection-pool.ts';
import { noDefinitions } from '#storage/site-definitions.ts';
import { noteKeyUse } from '#storage/statements/administrative/read-access.ts';
import { AddressHolders } from './address-holders.ts';
import { parseApiKey, secretMatches } from './api-key.ts';
import { AssociationIndex } from './association-index.ts';
import { ClientIndex } from './client-index.ts';
import type {
	AccessDirectory,
	AssociationDirectory,
	AssociationMatch,
	ConnectionDirectory,
	ConnectionOwner,
	DefinitionDirectory,
	KeyGrant,
	RemoteAe,
	RemoteAeDirectory,
	SenderMatch,
	SiteLimits,
	Unavailable,
} from './directory.ts';
import { endsSoon, hasEnded } from './key-life.ts';
import type { AccessMetrics } from './metrics.ts';
import { readSnapshot, readVersion, remoteAeKey, type Snapshot } from './snapshot.ts';
import type { TokenIssuer } from './tokens/issuer.ts';

export interface DirectoryOptions {
	/** A connection of its own, so that no other work delays it. */
	database: ConnectionPool;
	allowAnySource: boolean;
	/** ACCESS_STALE_MS_MAX: known callers stay known for this long while the database does not answer. */
	staleMsMax: number;
	log: Log;
	metrics: AccessMetrics & Sampling & Beginning;
	clock: Clock;
	timers?: Timers;
}

/** A change takes effect on other nodes within a second: this interval plus the time to read the snapshot. */
const pollMs = 500;
/**
 * If no poll has succeeded for this long, for example because the database hangs, another node may have added a caller who is unknown
 * here. A poll that fails says so at once. A busy process that polls a little late still answers that a wrong key is wrong.
 */
const certainMsMax = 10_000;
/** A database that does not answer a poll for so long stands still: known within two seconds, with the time between polls. */
const silentMsMax = 1200;
/** How late the time of last use of a key is written; writing it more often would only cost statements. */
const keyUseMs = 5000;
const nobody: Snapshot = {
	version: '',
	keys: new Map(),
	clients: [],
	listed: [],
	dicomSites: [],
	dicomClients: [],
	remoteAes: new Map(),
	slugs: [],
	siteLimits: new Map(),
	issuers: [],
	definitionVersions: new Map(),
	movedSites: new Map(),
	crossOrigins: new Set(),
};
const noClients = new ClientIndex([]);
const noHolders = new AddressHolders([]);
const noAssociations = new AssociationIndex([], [], false);
const unavailable = { kind: 'unavailable' } as const;

/** @throws Error if the database cannot be read at the start */
export async function openDirectory(options: DirectoryOptions): Promise<DatabaseDirectory> {
	const directory = new DatabaseDirectory(options);
	await directory.open();
	return directory;
}

export class DatabaseDirectory
	implements AccessDirectory, ConnectionDirectory, AssociationDirectory, RemoteAeDirectory, DefinitionDirectory
{
	readonly #options: DirectoryOptions;
	#snapshot: Snapshot = nobody;
	#mllpClients = noClients;
	#holders = noHolders;
	#associations = noAssociations;
	#polledAtMs = 0;
	#failing = false;
	/** It tells for how long the database has not answered the poll under way. */
	readonly #silence: Silence;
	readonly #timers: Timers;
	/** True once the log has said that nobody is known any more. */
	#expired = false;
	#timer: Stoppable | undefined;
	/** Settles with the poll under way. */
	#polling: Promise<void> = Promise.resolve();
	/** The poll behind it, when somebody waits for it. */
	#next: Promise<void> | undefined;
	#closed = false;
	readonly #keyUses = new Map<string, number>();
	#keyUsesWrittenMs = 0;

	constructor(options: DirectoryOptions) {
		this.#options = options;
		this.#timers = options.timers ?? systemTimers;
		this.#silence = new Silence(undefined, this.#timers);
		options.metrics.beforeCollect(() => {
			options.metrics.accessSnapshotAge.set(this.#ageMs / 1000);
			options.metrics.keysExpiring.set(this.#keysExpiring());
		});
	}

	async open(): Promise<void> {
		await this.refresh();
		this.#schedule();
	}

	/** Resolves when what was committed before the call is in force here. Rejects when the database cannot be asked. */
	refresh(): Promise<void> {
		// A poll under way may have read before the commit; the next has not begun, and so does for all who ask meanwhile.
		this.#next ??= this.#polling.then(() => {
			this.#next = undefined;
			const poll = this.#closed ? Promise.reject(new Error('the access directory is closed')) : this.#poll();
			this.#polling = poll.then(
				() => this.#recovered(),
				(error) => this.#failed(error),
			);
			return poll;
		});
		return this.#next;
	}

	grantOfKey(header: string | undefined, before?: KeyGrant): KeyGrant | Unavailable | undefined {
		// Every change of access makes new grants.
		if (before !== undefined && this.#known().keys.get(before.keyId)?.grant === before) return before;
		const parts = parseApiKey(header);
		const held = parts && this.#known().keys.get(parts.id);
		const nowMs = this.#options.clock.nowMs();
		const isRight = secretMatches(parts?.secret ?? '', held?.digest);
		if (!isRight || !held || hasEnded(held.life, nowMs)) return this.certain ? undefined : 'unavailable';
		this.#keyUses.set(held.grant.keyId, nowMs);
		return held.grant;
	}

	#keysExpiring(): number {
		const nowMs = this.#options.clock.nowMs();
		let count = 0;
		for (const { life } of this.#snapshot.keys.values()) if (endsSoon(life, nowMs)) count++;
		return count;
	}

	/** The issuers whose access tokens are taken. */
	get issuers(): readonly TokenIssuer[] {
		return this.#known().issuers;
	}

	mayConnect(_protocol: 'hl7-mllp', address: string): boolean | Unavailable {
		const clients = this.#holds ? this.#mllpClients : noClients;
		return clients.mayConnect(address) || (this.certain ? false : 'unavailable');
	}

	matchSender(_protocol: 'hl7-mllp', address: string, application: string, facility: string): SenderMatch {
		const match = (this.#holds ? this.#mllpClients : noClients).match(address, application, facility);
		if (match.kind === 'match' && this.#snapshot.movedSites.has(match.grant.siteId)) return unavailable;
		return match.kind === 'match' || this.certain ? match : unavailable;
	}

	ownerAt(_protocol: 'hl7-mllp', address: string): ConnectionOwner {
		return (this.#holds ? this.#mllpClients : noClients).ownerAt(address);
	}

	siteAt(address: string): string | undefined {
		return (this.#holds ? this.#holders : noHolders).siteAt(address);
	}

	matchAssociation(calledAe: string, callingAe: string, address: string): AssociationMatch {
		const match = (this.#holds ? this.#associations : noAssociations).match(calledAe, callingAe, address);
		if (match.kind === 'accepted' && this.#snapshot.movedSites.has(match.siteId)) return unavailable;
		return match.kind === 'accepted' || this.certain ? match : unavailable;
	}

	remoteAe(siteId: string, title: string): RemoteAe | Unavailable | undefined {
		return this.#known().remoteAes.get(remoteAeKey(siteId, title)) ?? (this.certain ? undefined : 'unavailable');
	}

	/** Limits stay in force while the database does not answer. */
	limitsOf(siteId: string): SiteLimits | undefined {
		return this.#snapshot.siteLimits.get(siteId);
	}

	/** Definitions stay in force while the database does not answer. */
	definitionsVersionOf(siteId: string): string {
		return this.#snapshot.definitionVersions.get(siteId) ?? noDefinitions;
	}

	/** Returns the origins whose web pages may call, of all sites together. */
	crossOrigins(): ReadonlySet<string> {
		return this.#snapshot.crossOrigins;
	}

	/** True if the database answered the last poll and does not let the next one wait: it notices a database that stands still. */
	get answering(): boolean {
		return !this.#failing && this.#silence.ms < silentMsMax;
	}

	/** True if the database answered a moment ago. An unknown caller is then certainly unknown. */
	get certain(): boolean {
		return !this.#failing && this.#ageMs < certainMsMax;
	}

	get #ageMs(): number {
		return this.#options.clock.nowMs() - this.#polledAtMs;
	}

	/** True while known callers stay known. */
	get #holds(): boolean {
		return this.#ageMs < this.#options.staleMsMax;
	}

	#known(): Snapshot {
		return this.#holds ? this.#snapshot : nobody;
	}

	#schedule(): void {
		if (this.#closed) return;
		this.#timer = this.#timers.about(pollMs, () => {
			const again = () => this.#schedule();
			this.refresh().then(again, again);
		});
	}

	#recovered(): void {
		if (this.#failing) this.#options.log.info('access directory is current again');
		this.#failing = false;
		this.#expired = false;
	}

	#failed(error: unknown): void {
		if (!this.#failing) this.#options.log.warn({ err: error }, 'access directory cannot be refreshed');
		this.#failing = true;
		if (!this.#holds && !this.#expired) {
			this.#expired = true;
			this.#options.log.error('the database has been away for too long: every caller is answered that the service is unavailable');
		}
	}

	async #poll(): Promise<void> {
		this.#silence.begin();
		try {
			await this.#options.database.use((client) => this.#pollBy(client));
		} finally {
			this.#silence.end();
		}
	}

	async #pollBy(client: pg.ClientBase): Promise<void> {
		const startedMs = this.#options.clock.nowMs();
		const version = await readVersion(client);
		// It answers; what there is to read may be much.
		this.#silence.end();
		if (version !== this.#snapshot.version) {
			const { allowAnySource } = this.#options;
			this.#snapshot = await readSnapshot(client, allowAnySource);
			for (const slug of this.#snapshot.slugs) this.#options.metrics.begin({ site: slug });
			this.#associations = new AssociationIndex(this.#snapshot.dicomSites, this.#snapshot.dicomClients, allowAnySource);
			this.#mllpClients = new ClientIndex(this.#snapshot.clients.filter(({ protocols }) => protocols.includes('hl7-mllp')));
			this.#holders = new AddressHolders(this.#snapshot.listed);
		}
		this.#polledAtMs = startedMs;
		if (startedMs - this.#keyUsesWrittenMs >= keyUseMs) await this.#writeKeyUses(client, startedMs);
	}

	async #writeKeyUses(client: pg.ClientBase, nowMs: number): Promise<void> {
		this.#keyUsesWrittenMs = nowMs;
		if (this.#keyUses.size === 0) return;
		const uses = [...this.#keyUses];
		this.#keyUses.clear();
		const times = uses.map(([, usedAtMs]) => new Date(usedAtMs).toISOString());
		await client.query({ name: noteKeyUse.name, text: noteKeyUse.text, values: [uses.map(([id]) => id), times] });
	}

	async close(): Promise<void> {
		this.#closed = true;
		this.#timer?.stop();
		this.#silence.end();
		await this.#next?.catch(() => undefined);
		await this.#polling;
		await this.#options.database
			.use((client) => this.#writeKeyUses(client, this.#options.clock.nowMs()))
			.catch((error) => this.#options.log.warn({ err: error }, 'the last uses of keys could not be noted'));
	}
}

import pg from 'pg';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { Metrics } from '#core/metrics.ts';
import { noteKeyUse } from '#storage/statements/administrative/read-access.ts';
import { parseApiKey, secretMatches } from './api-key.ts';
import { AssociationIndex } from './association-index.ts';
import { ClientIndex } from './client-index.ts';
import type {
	AccessDirectory,
	AssociationDirectory,
	AssociationMatch,
	KeyGrant,
	RemoteAe,
	RemoteAeDirectory,
	SenderMatch,
	SiteLimits,
} from './directory.ts';
import { readSnapshot, readVersion, remoteAeKey, type Snapshot } from './snapshot.ts';

export interface DirectoryOptions {
	databaseUrl: string;
	allowAnySource: boolean;
	log: Log;
	metrics: Metrics;
	clock: Clock;
}

/** A change takes effect within a second on every node: this, and the reading of the snapshot. */
const pollMs = 300;
/** Without a successful poll for this long nobody is let in: a revocation might have been missed. */
const staleMsMax = 30_000;
const keyUseMs = 5000;
const nobody: Snapshot = {
	version: '',
	keys: new Map(),
	clients: [],
	dicomSites: [],
	dicomClients: [],
	remoteAes: new Map(),
	siteLimits: new Map(),
};
const noClients = new ClientIndex([]);
const noAssociations = new AssociationIndex([], [], false);

/** @throws Error when the database cannot be read at the start */
export async function openDirectory(options: DirectoryOptions): Promise<DatabaseDirectory> {
	const directory = new DatabaseDirectory(options);
	await directory.open();
	return directory;
}

export class DatabaseDirectory implements AccessDirectory, AssociationDirectory, RemoteAeDirectory {
	readonly #options: DirectoryOptions;
	#client: pg.Client | undefined;
	#snapshot: Snapshot = nobody;
	#mllpClients = noClients;
	#associations = noAssociations;
	#polledAtMs = 0;
	#failing = false;
	#timer: NodeJS.Timeout | undefined;
	#polling: Promise<void> | undefined;
	#closed = false;
	readonly #keyUses = new Map<string, number>();
	#keyUsesWrittenMs = 0;

	constructor(options: DirectoryOptions) {
		this.#options = options;
		options.metrics.beforeCollect(() => options.metrics.accessSnapshotAge.set((options.clock.nowMs() - this.#polledAtMs) / 1000));
	}

	async open(): Promise<void> {
		await this.#poll();
		this.#schedule();
	}

	grantOfKey(header: string | undefined): KeyGrant | undefined {
		const parts = parseApiKey(header);
		const held = parts && this.#current().keys.get(parts.id);
		if (!secretMatches(parts?.secret ?? '', held?.digest) || !held) return undefined;
		this.#keyUses.set(held.grant.keyId, this.#options.clock.nowMs());
		return held.grant;
	}

	mayConnect(_protocol: 'hl7-mllp', address: string): boolean {
		return this.#currentMllp().mayConnect(address);
	}

	matchSender(_protocol: 'hl7-mllp', address: string, application: string, facility: string): SenderMatch {
		return this.#currentMllp().match(address, application, facility);
	}

	matchAssociation(calledAe: string, callingAe: string, address: string): AssociationMatch {
		return (this.fresh ? this.#associations : noAssociations).match(calledAe, callingAe, address);
	}

	remoteAe(siteId: string, title: string): RemoteAe | undefined {
		return this.#current().remoteAes.get(remoteAeKey(siteId, title));
	}

	/** Also while the database cannot be asked: a limit that was set holds. */
	limitsOf(siteId: string): SiteLimits | undefined {
		return this.#snapshot.siteLimits.get(siteId);
	}

	/** The assigning authority of a site that has an AE title, for identifiers that name none. */
	defaultAuthority(siteId: string): string | undefined {
		return this.#snapshot.dicomSites.find((site) => site.siteId === siteId)?.defaultAuthority;
	}

	get fresh(): boolean {
		return this.#options.clock.nowMs() - this.#polledAtMs < staleMsMax;
	}

	/** Whether the database answered the last poll. */
	get reachable(): boolean {
		return this.fresh && !this.#failing;
	}

	#current(): Snapshot {
		return this.fresh ? this.#snapshot : nobody;
	}

	#currentMllp(): ClientIndex {
		return this.fresh ? this.#mllpClients : noClients;
	}

	#schedule(): void {
		if (this.#closed) return;
		this.#timer = setTimeout(() => {
			this.#polling = this.#poll().then(
				() => this.#recovered(),
				(error) => this.#failed(error),
			);
			void this.#polling.finally(() => this.#schedule());
		}, pollMs);
		this.#timer.unref();
	}

	#recovered(): void {
		if (this.#failing) this.#options.log.info('access directory is current again');
		this.#failing = false;
	}

	#failed(error: unknown): void {
		if (!this.#failing) this.#options.log.warn({ err: error }, 'access directory cannot be refreshed');
		this.#failing = true;
		this.#client?.end().catch(() => undefined);
		this.#client = undefined;
	}

	async #poll(): Promise<void> {
		const client = await this.#connected();
		const startedMs = this.#options.clock.nowMs();
		const version = await readVersion(client);
		if (version !== this.#snapshot.version) {
			const { allowAnySource } = this.#options;
			this.#snapshot = await readSnapshot(client, allowAnySource);
			this.#associations = new AssociationIndex(this.#snapshot.dicomSites, this.#snapshot.dicomClients, allowAnySource);
			this.#mllpClients = new ClientIndex(this.#snapshot.clients.filter(({ protocols }) => protocols.includes('hl7-mllp')));
		}
		this.#polledAtMs = startedMs;
		if (startedMs - this.#keyUsesWrittenMs >= keyUseMs) await this.#writeKeyUses(client, startedMs);
	}

	async #writeKeyUses(client: pg.Client, nowMs: number): Promise<void> {
		this.#keyUsesWrittenMs = nowMs;
		if (this.#keyUses.size === 0) return;
		const uses = [...this.#keyUses];
		this.#keyUses.clear();
		const times = uses.map(([, usedAtMs]) => new Date(usedAtMs).toISOString());
		await client.query({ name: noteKeyUse.name, text: noteKeyUse.text, values: [uses.map(([id]) => id), times] });
	}

	async #connected(): Promise<pg.Client> {
		if (this.#client) return this.#client;
		const client = new pg.Client({
			connectionString: this.#options.databaseUrl,
			application_name: 'tributary access',
			connectionTimeoutMillis: 5000,
			query_timeout: 10_000,
			keepAlive: true,
		});
		client.on('error', () => {
			if (this.#client === client) this.#client = undefined;
		});
		await client.connect();
		this.#client = client;
		return client;
	}

	async close(): Promise<void> {
		this.#closed = true;
		clearTimeout(this.#timer);
		await this.#polling;
		const client = this.#client;
		this.#client = undefined;
		if (client === undefined) return;
		await this.#writeKeyUses(client, this.#options.clock.nowMs()).catch((error) =>
			this.#options.log.warn({ err: error }, 'the last uses of keys could not be noted'),
		);
		await client.end().catch(() => undefined);
	}
}

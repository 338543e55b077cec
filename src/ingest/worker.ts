import { systemClock } from '#core/clock.ts';
import { Failure } from '#core/failure.ts';
import { createLog, type Log } from '#core/log.ts';
import { RepeatedTrouble } from '#core/repeated.ts';
import { hostTimeZone } from '#core/time-zone.ts';
import { bundledLibrary } from '#fhir/profiles/bundled-source.ts';
import type { Library } from '#fhir/profiles/library.ts';
import { siteLibrary } from '#fhir/profiles/site-library.ts';
import { tableShapes } from '#fhir/resources/index.ts';
import { type BatchNotes, noNotes } from '#record/batch-notes.ts';
import type { Delivery, Placing } from '#record/delivery.ts';
import type { StoredInstance } from '#record/instance.ts';
import type { DeliveryLimits } from '#record/limits.ts';
import { AuthorityCache } from '#storage/authorities.ts';
import type { Connection } from '#storage/connection.ts';
import { WorkerDatabase } from '#storage/database.ts';
import { Foresight } from '#storage/foresight.ts';
import { foreseenImaging } from '#storage/holdings/imaging.ts';
import type { StorageLimits } from '#storage/limits.ts';
import { FileStore } from '#storage/objects/file-store.ts';
import type { PlacedObject } from '#storage/objects/object-store.ts';
import { segmentSettings } from '#storage/objects/open.ts';
import { Placements } from '#storage/objects/placements.ts';
import { noAnswer, TimeLimit } from '#storage/objects/time-limit.ts';
import { ReadSet } from '#storage/read-set.ts';
import { SiteDefinitions } from '#storage/site-definitions.ts';
import { WriteSet } from '#storage/write-set.ts';
import { Batch, type BatchOptions, type BatchResult } from './batch.ts';
import type { InterpretContext } from './kinds/definition.ts';
import { interpretDelivery } from './kinds/index.ts';
import type { IngestLimits } from './limits.ts';

export interface IngestSettings {
	databaseUrl: string;
	limits: IngestLimits &
		DeliveryLimits &
		Pick<StorageLimits, 'writeMsMax' | 'objectStoreMsMax' | 'segmentBytes' | 'segmentedObjectBytesMax' | 'compactTextMin'>;
	logLevel: string;
	/** The folder of the object store, if it stores files. */
	objectsFolder: string | undefined;
	/** The process start that writes; each thread has segments of its own. */
	writer: string;
	/** The memory in which the process tells of objects that it writes while they are indexed. */
	placements?: SharedArrayBuffer;
}

/** A batch among those of its lane. */
export interface BatchOrder {
	/** Tells the batches of a thread apart. */
	number: number;
	/** The batch before it, which may not have ended: nothing of this one is carried out unless all of that was. */
	follows: number | undefined;
	/** Other sites send to the thread, so the work on the batch is divided into slices. */
	inSlices?: boolean;
}

type WayOfWork = Required<Pick<BatchOptions, 'notes' | 'inSlices'>>;

/** The last batch of a lane, and whether all of it was carried out once it has ended. */
interface LastBatch {
	number: number;
	isWhole: Promise<boolean>;
}

/** The state of a worker thread: a connection for each lane, with its prepared statements. */
export class Ingest {
	readonly #settings: IngestSettings;
	readonly #database: WorkerDatabase;
	readonly #lanes = new Map<number, Connection>();
	readonly #last = new Map<number, LastBatch>();
	readonly #readSet = new ReadSet(tableShapes);
	readonly #writeSet: WriteSet;
	readonly #authorities = new AuthorityCache();
	readonly #foresight = new Foresight(foreseenImaging);
	readonly #definitions: SiteDefinitions<Library>;
	readonly #log: Log;
	readonly #notTaken: RepeatedTrouble;
	readonly #notRead: RepeatedTrouble;
	readonly #interpretContext: InterpretContext;
	readonly #placements: Placements | undefined;
	readonly #storeLimit: TimeLimit;
	#objects: FileStore | undefined;

	constructor(settings: IngestSettings, objects?: FileStore) {
		this.#settings = settings;
		this.#objects = objects;
		this.#placements = settings.placements && new Placements(settings.placements);
		this.#writeSet = new WriteSet(tableShapes, settings.limits.compactTextMin);
		this.#database = new WorkerDatabase(settings.databaseUrl, settings.limits);
		this.#log = createLog(settings.logLevel);
		this.#notTaken = new RepeatedTrouble(this.#log, 'the database does not take batches');
		this.#notRead = new RepeatedTrouble(this.#log, 'the profiles of a site cannot be read');
		this.#storeLimit = new TimeLimit(settings.limits.objectStoreMsMax, () => this.#log.error('the object store does not take an object'));
		this.#definitions = new SiteDefinitions((siteId, contents) =>
			siteLibrary(contents, (err) => this.#log.error({ err, siteId }, 'a loaded definition cannot be read')),
		);
		this.#interpretContext = {
			limits: settings.limits,
			clock: systemClock,
			log: this.#log,
			hostTimeZone: hostTimeZone(),
			libraryOf: (siteId) => this.#definitions.of(siteId) ?? bundledLibrary(),
			placeObject: (instance, object) => this.#placeObject(instance, object),
			isDurable: (placing) => this.#isDurable(placing),
		};
	}

	/** Processes one batch, when the one before it has ended; undefined when the database does not accept it. */
	process(lane: number, deliveries: readonly Delivery[]): Promise<BatchResult | undefined> {
		return this.#carryOut(lane, deliveries, { notes: noNotes, inSlices: false }, (batch) => batch.process(deliveries));
	}

	/** Processes one batch of many; undefined as above, `behind` when not all of the batch that it follows was carried out. */
	processInOrder(
		lane: number,
		deliveries: readonly Delivery[],
		{ number, follows, inSlices = false }: BatchOrder,
		notes: BatchNotes,
	): Promise<BatchResult | 'behind' | undefined> {
		const result =
			follows === undefined
				? this.#carryOut(lane, deliveries, { notes, inSlices }, (batch) => batch.process(deliveries))
				: this.#carryOutBehind(lane, deliveries, { notes, inSlices }, this.#wasWhole(lane, follows));
		const isWhole = result.then(
			(ended) => ended !== undefined && ended !== 'behind' && !ended.replies.includes(undefined),
			() => false,
		);
		this.#last.set(lane, { number, isWhole });
		return result;
	}

	/** Resolves when a batch has ended, true if all of it was carried out. Of any but the last of the lane that is not known. */
	#wasWhole(lane: number, number: number): Promise<boolean> {
		const last = this.#last.get(lane);
		return last?.number === number ? last.isWhole : Promise.resolve(false);
	}

	async #carryOutBehind(lane: number, deliveries: readonly Delivery[], way: WayOfWork, before: Promise<boolean>) {
		// Profiles are read by the connection that the batch before has until it has ended.
		if (versionsOf(deliveries).size > 0 && !(await before)) return 'behind';
		return this.#carryOut(lane, deliveries, way, (batch) => batch.processBehind(deliveries, before));
	}

	async #carryOut<Result>(
		lane: number,
		deliveries: readonly Delivery[],
		way: WayOfWork,
		process: (batch: Batch) => Promise<Result>,
	): Promise<Result | undefined> {
		const connection = this.#connection(lane);
		if (!(await this.#readDefinitions(connection, versionsOf(deliveries)))) return undefined;
		const batch = new Batch({
			connection,
			readSet: this.#readSet,
			writeSet: this.#writeSet,
			authorities: this.#authorities,
			foresight: this.#foresight,
			interpret: (delivery) => interpretDelivery(delivery, this.#interpretContext),
			clock: systemClock,
			log: this.#log,
			...way,
			patienceMs: this.#settings.limits.unavailableMsMax,
		});
		try {
			const result = await process(batch);
			if (result !== 'behind') this.#notTaken.over();
			return result;
		} catch (error) {
			if (!(error instanceof Failure) || error.code !== 'unavailable') throw error;
			this.#notTaken.happened(error, { lane });
			return undefined;
		}
	}

	/** Reads the profiles that sites have loaded since the last batch. Returns false when the database does not answer. */
	async #readDefinitions(connection: Connection, versions: ReadonlyMap<string, string>): Promise<boolean> {
		if (versions.size === 0) return true;
		try {
			await connection.open();
			for (const [siteId, version] of versions) await this.#definitions.prepare(connection, siteId, version);
			this.#notRead.over();
			return true;
		} catch (error) {
			await connection.recover('connection');
			this.#notRead.happened(error);
			return false;
		}
	}

	#placeObject(instance: StoredInstance, bytes: Uint8Array): PlacedObject {
		const { objectsFolder, limits, writer } = this.#settings;
		if (objectsFolder === undefined) throw new Error('an object was carried to a worker that has no store of files');
		this.#objects ??= new FileStore(objectsFolder, segmentSettings(limits, writer, this.#log));
		const { attributes, objectKey, digest, headBytes = 0, callingAe, source } = instance;
		const about = { sopInstanceUid: attributes.sopInstanceUid, callingAe, source };
		if (this.#storeLimit.isHanging) return { key: objectKey, durable: Promise.reject(noAnswer()) };
		const store = this.#objects;
		const { key, durable } = store.place(objectKey, { about, bytes, headBytes, digest });
		return { key, durable: this.#storeLimit.of('publish', durable, () => store.remove(key)) };
	}

	#isDurable(placing: Placing): Promise<boolean> {
		if (this.#placements === undefined) throw new Error('an object is placed where nobody is told of it');
		return this.#placements.isDurable(placing);
	}

	#connection(lane: number): Connection {
		let connection = this.#lanes.get(lane);
		if (connection === undefined) {
			connection = this.#database.lane();
			this.#lanes.set(lane, connection);
		}
		return connection;
	}

	/** Closes the connections. The store that it was given is closed by its owner, who does not wait for a disk that hangs. */
	close(): Promise<void> {
		return this.#database.close();
	}
}

/** Returns the version of the profiles by which each site's FHIR writes are validated. */
function versionsOf(deliveries: readonly Delivery[]): Map<string, string> {
	const versions = new Map<string, string>();
	for (const delivery of deliveries) {
		if (delivery.kind === 'fhir' && delivery.definitions !== undefined) versions.set(delivery.siteId, delivery.definitions);
	}
	return versions;
}

import { createHash } from 'node:crypto';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import { isAeTitle } from '#dicom/ae-title.ts';
import { part10Head } from '#dicom/part10.ts';
import { DataSetScanner, type ScanLimits } from '#dicom/scanner.ts';
import { encodingOf } from '#dicom/transfer-syntax.ts';
import type { DecidedOutcome, IndexAnswer, IndexOutcome, InstanceAttributes, StoredInstance } from '#record/instance.ts';
import { settingOf } from '#record/settings/settings.ts';
import { newObjectKey, quarantineKey } from '#storage/objects/object-key.ts';
import type { ObjectStore, ObjectWriter } from '#storage/objects/object-store.ts';
import type { Placements } from '#storage/objects/placements.ts';
import {
	type AnnouncedInstance,
	announcedFault,
	contradiction,
	type Refusal,
	type RefusalReason,
	refusalOf,
} from './announced-instance.ts';
import type { IndexInstance, IndexRequest } from './index-instance.ts';
import type { ImagingLimits } from './limits.ts';
import { InflatedWholeness, isContinued } from './wholeness.ts';

/**
 * The answer of the intake. Surfaces render it in the words of their protocol. The attributes name the study under which the instance is filed, which
 * is not always the one that its data set states.
 */
export type IntakeResult =
	/** It is the instance from now on. `hasReplaced` means that it replaced other content under its UID, which is kept aside. */
	| { kind: 'stored'; attributes: InstanceAttributes; hasReplaced: boolean }
	/** The same content was stored before. */
	| { kind: 'duplicate'; attributes: InstanceAttributes }
	/** Other content is stored under its UID. This content is kept aside until a person decides. */
	| { kind: 'quarantined'; attributes: InstanceAttributes }
	/** It names another patient than its study has. It is kept aside until a person decides. */
	| { kind: 'aside'; attributes: InstanceAttributes }
	/** It names another patient than its study has. It is stored under the Study Instance UID of its attributes, which it does not state. */
	| { kind: 'split'; attributes: InstanceAttributes }
	/** Nothing is kept. `text` is for people and contains no patient data; `attributes` are present when the data set could be read. */
	| { kind: 'refused'; reason: RefusalReason; text: string; attributes: InstanceAttributes | undefined };

/** The reception of one instance. Either `finish` or `abandon` ends it. */
export interface InstanceReception {
	/**
	 * Takes a piece of the data set, without file meta information, and does not keep the chunk. If it returns a promise, read no more
	 * before that
	 * resolves. It never throws, and the promise never rejects; errors are in the result of `finish`.
	 */
	write(chunk: Uint8Array): Promise<void> | undefined;
	/** Ends a complete data set. Never rejects. */
	finish(): Promise<IntakeResult>;
	/** Drops the data set when the sender died or gave up. Nothing is kept. Never rejects. */
	abandon(): Promise<void>;
}

/** DIMSE and STOW-RS hand in instances here. */
export interface InstanceEntry {
	begin(announced: AnnouncedInstance): InstanceReception;
}

/**
 * A data set up to `carriedObjectBytesMax` goes to the index together with its object, which is stored there. Longer ones go to the store
 * as they
 * arrive.
 */
export type IntakeLimits = Pick<ImagingLimits, 'carriedObjectBytesMax' | 'dimseObjectBytesMax'>;

export interface IntakeOptions {
	objects: ObjectStore;
	index: IndexInstance;
	limits: ScanLimits & IntakeLimits;
	/** Tells those who write the rows which objects are durable. Without it an object is durable before the index is asked. */
	placements?: Placements;
	log: Log;
}

const notStored: Refusal = { reason: 'not-now', text: 'the instance could not be stored; send it again' };

/**
 * Takes in instances. The bytes go to the object store as they arrive, and the header is read meanwhile. The index is asked when the object
 * is
 * published under a key of its own. A small object is published by the worker that writes the row, before its commit. So a row never names
 * a
 * missing file. A crash leaves either a temporary file, which the next start removes, or an object without a row, which `sweepObjects`
 * finds.
 */
export class InstanceIntake implements InstanceEntry {
	readonly #options: IntakeOptions;

	constructor(options: IntakeOptions) {
		this.#options = options;
	}

	begin(announced: AnnouncedInstance): InstanceReception {
		return new Reception(this.#options, announced);
	}
}

/** Finds out what the index asks for before it decides. */
async function examine(
	objects: ObjectStore,
	key: string,
	answer: Extract<IndexOutcome, { kind: 'undecided' | 'foreign' }>,
): Promise<Pick<StoredInstance, 'compared' | 'isForeign'>> {
	if (answer.kind === 'foreign') return { isForeign: true };
	return { compared: { objectKey: answer.held, isBeginning: await isContinued(objects, key, answer.held) } };
}

class Reception implements InstanceReception {
	readonly #options: IntakeOptions;
	readonly #announced: AnnouncedInstance;
	readonly #scanner: DataSetScanner;
	/** Undefined while the data set is short enough to be sent to the index. */
	#writer: ObjectWriter | undefined;
	#carried: Uint8Array[] = [];
	#carriedBytes = 0;
	#isScanning = true;
	/** Present when the data set is deflated. The scanner walks through any other. */
	readonly #inflated: InflatedWholeness | undefined;
	#attributes: InstanceAttributes | undefined;
	#refusal: Refusal | undefined;
	#ended: Promise<void> | undefined;
	#isFinishing = false;
	/** Present when the index was asked while the object was still being written. Resolves when it is durable. */
	#durable: Promise<void> | undefined;

	constructor(options: IntakeOptions, announced: AnnouncedInstance) {
		this.#options = options;
		this.#announced = announced;
		this.#scanner = new DataSetScanner(announced.transferSyntaxUid, options.limits, settingOf(announced.settings, 'uids'));
		this.#refusal = announcedFault(announced);
		if (!this.#refusal && encodingOf(announced.transferSyntaxUid).deflated)
			this.#inflated = new InflatedWholeness(announced.transferSyntaxUid, options.limits.dimseObjectBytesMax);
		if (!this.#refusal && options.limits.carriedObjectBytesMax === 0) this.#writer = options.objects.begin(this.#head());
	}

	/** Log lines about the instance have these members. */
	get #about(): object {
		const { siteId, trace } = this.#announced;
		return { site: siteId, ...trace };
	}

	#head(): Buffer {
		const { affectedSopClassUid: sopClassUid, affectedSopInstanceUid: sopInstanceUid, transferSyntaxUid, callingAe } = this.#announced;
		const sourceAe = isAeTitle(callingAe) ? { sourceAe: callingAe } : {};
		return part10Head({ sopClassUid, sopInstanceUid, transferSyntaxUid, ...sourceAe });
	}

	write(chunk: Uint8Array): Promise<void> | undefined {
		if (this.#refusal || this.#ended || this.#isFinishing) return undefined;
		if (!this.#scanner.feed(chunk) && this.#isScanning) this.#conclude();
		if (this.#refusal) return undefined;
		const held = this.#writer ? this.#writer.write(chunk) : this.#carry(chunk);
		const inflating = this.#inflated?.write(chunk);
		return held && inflating ? Promise.all([held, inflating]).then(() => undefined) : (held ?? inflating);
	}

	#carry(chunk: Uint8Array): Promise<void> | undefined {
		const { objects, limits } = this.#options;
		this.#carriedBytes += chunk.length;
		if (this.#carriedBytes <= limits.carriedObjectBytesMax) {
			this.#carried.push(Buffer.from(chunk));
			return undefined;
		}
		const writer = objects.begin(this.#head());
		this.#writer = writer;
		let held: Promise<void> | undefined;
		for (const piece of [...this.#carried.splice(0), chunk]) held = writer.write(piece) ?? held;
		return held;
	}

	/** Concludes the header: it was read, or there is no more of it. */
	#conclude(): void {
		this.#isScanning = false;
		const result = this.#scanner.end();
		if ('attributes' in result) {
			this.#attributes = result.attributes;
			this.#refusal = contradiction(this.#announced, result.attributes);
		} else this.#refusal = refusalOf(result.fault);
		// A refused instance takes no more memory, however much of it is still to come.
		if (this.#refusal) void this.#drop();
	}

	/** Judges the end of the data set: its last element ends where its length says. */
	async #checkEnd(): Promise<void> {
		const fault = (await this.#inflated?.finish()) ?? this.#scanner.cut();
		if (fault) this.#refusal ??= refusalOf(fault);
	}

	#drop(): Promise<void> {
		this.#carried = [];
		this.#inflated?.abandon();
		this.#ended ??= this.#writer?.abandon() ?? Promise.resolve();
		return this.#ended;
	}

	async abandon(): Promise<void> {
		// An instance that is being indexed continues, whether or not the sender still listens.
		if (!this.#isFinishing) await this.#drop();
	}

	async finish(): Promise<IntakeResult> {
		if (this.#isFinishing) throw new Error('the instance is finished');
		this.#isFinishing = true;
		if (!this.#refusal && this.#isScanning) this.#conclude();
		if (!this.#refusal && !this.#ended) await this.#checkEnd();
		if (this.#refusal || this.#ended || !this.#attributes) {
			await this.#drop();
			return this.#failed(this.#refusal ?? notStored);
		}
		try {
			return await (this.#writer ? this.#store(this.#writer, this.#attributes) : this.#carryAll(this.#attributes));
		} catch (error) {
			const isFull = error instanceof Failure && error.code === 'unavailable';
			this.#options.log[isFull ? 'warn' : 'error']({ err: error, ...this.#about }, 'an instance could not be stored');
			return this.#failed(isFull ? { reason: 'not-now', text: error.diagnostics } : notStored);
		}
	}

	#failed(refusal: Refusal): IntakeResult {
		return { kind: 'refused', ...refusal, attributes: this.#attributes };
	}

	async #store(writer: ObjectWriter, attributes: InstanceAttributes): Promise<IntakeResult> {
		const { siteId, callingAe, source } = this.#announced;
		const { bytes, digest } = await writer.finish();
		const known = { attributes, digest, bytes, callingAe, source };
		const about = { sopInstanceUid: attributes.sopInstanceUid, callingAe, source };
		const key = newObjectKey({ siteId, ...attributes });
		const placed = this.#options.placements && writer.place?.(key, about);
		return placed
			? this.#indexPlaced({ ...known, objectKey: placed.key }, placed.durable)
			: this.#index({ ...known, objectKey: await writer.publish(key, about) });
	}

	/** The index prepares the row while the object is being written, and commits it afterwards. On a slow disk it is asked afterwards. */
	async #indexPlaced(instance: StoredInstance, durable: Promise<void>): Promise<IntakeResult> {
		const { placements } = this.#options;
		const placing = placements?.begin(durable, performance.now());
		if (placing === undefined) {
			await durable;
			return this.#index(instance);
		}
		this.#durable = durable;
		try {
			return await this.#index(instance, { placing });
		} finally {
			const end = () => placements?.end(placing);
			durable.then(end, end);
		}
	}

	#carryAll(attributes: InstanceAttributes): Promise<IntakeResult> {
		this.#options.objects.expectAnswer();
		const { siteId, callingAe, source } = this.#announced;
		const hash = createHash('sha256');
		for (const piece of this.#carried) hash.update(piece);
		const head = this.#head();
		const object = [head, ...this.#carried.splice(0)];
		const bytes = object.reduce((sum, piece) => sum + piece.length, 0);
		const objectKey = newObjectKey({ siteId, ...attributes });
		const digest = hash.digest('hex');
		return this.#index({ attributes, digest, bytes, objectKey, headBytes: head.length, callingAe, source }, { object });
	}

	/** `first` goes to the index with the instance when it is asked for the first time. */
	async #index(instance: StoredInstance, first: Pick<IndexRequest, 'object' | 'placing'> = {}): Promise<IntakeResult> {
		const { siteId, surface, clientId, settings, trace } = this.#announced;
		const { index, objects } = this.#options;
		const given = { siteId, surface, clientId, settings, ...(trace && { trace }) };
		let answer: IndexAnswer;
		let placed = instance;
		try {
			answer = await index({ ...given, instance, ...first });
			placed = { ...instance, objectKey: answer.placed ?? instance.objectKey };
			let examined = placed;
			while (answer.kind === 'undecided' || answer.kind === 'foreign') {
				examined = { ...examined, ...(await examine(objects, placed.objectKey, answer)) };
				answer = await index({ ...given, instance: examined });
			}
		} catch (error) {
			return this.#notIndexed(placed.objectKey, error);
		}
		if (answer.kind === 'unplaced') {
			await this.#durable;
			return this.#index(instance);
		}
		return answer.kind === 'failed' ? this.#refused(placed.objectKey, answer.failure) : this.#tidied(placed, answer);
	}

	/** Certainly no row was written. */
	async #refused(key: string, { code, diagnostics }: Pick<Failure, 'code' | 'diagnostics'>): Promise<IntakeResult> {
		await this.#durable?.catch(() => undefined);
		await this.#tidy(() => this.#options.objects.remove(key));
		const isTransient = code === 'unavailable' || code === 'too-many-requests';
		return this.#failed({ reason: isTransient ? 'not-now' : 'not-understood', text: diagnostics });
	}

	/** Keeps the object after an error that leaves open whether the row was committed. Without a row the sweep finds it. */
	async #notIndexed(key: string, error: unknown): Promise<IntakeResult> {
		if (error instanceof Failure && error.code !== 'unavailable') return this.#refused(key, error);
		this.#options.log.warn({ err: error, ...this.#about, object: key }, 'an instance may not be indexed');
		return this.#failed(notStored);
	}

	/** Moves the object as the index decided. */
	async #tidied({ objectKey: key, attributes: stated }: StoredInstance, outcome: DecidedOutcome): Promise<IntakeResult> {
		const { objects } = this.#options;
		const attributes = 'studyUid' in outcome && outcome.studyUid !== undefined ? { ...stated, studyUid: outcome.studyUid } : stated;
		switch (outcome.kind) {
			case 'stored':
				return { kind: 'stored', attributes, hasReplaced: false };
			case 'replaced':
				await this.#tidy(() => objects.move(outcome.superseded, quarantineKey(outcome.superseded)));
				return { kind: 'stored', attributes, hasReplaced: true };
			case 'duplicate':
				await this.#tidy(() => objects.remove(key));
				return { kind: 'duplicate', attributes };
			case 'quarantined':
			case 'aside':
				await this.#tidy(() => (outcome.isHeld ? objects.remove(key) : objects.move(key, quarantineKey(key))));
				return { kind: outcome.kind, attributes };
			case 'split':
				return { kind: 'split', attributes };
			case 'refused':
				await this.#tidy(() => objects.remove(key));
				return this.#failed({ reason: 'other-content', text: 'other content is stored under this UID' });
		}
	}

	/**
	 * Moves an object without failing: the index has decided, so the answer no longer depends on this. After an error the object stays where
	 * it is, and
	 * safe.
	 */
	async #tidy(move: () => Promise<unknown>): Promise<void> {
		try {
			await move();
		} catch (error) {
			this.#options.log.warn({ err: error, ...this.#about }, 'an object could not be moved or removed');
		}
	}
}

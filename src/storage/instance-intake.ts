import { createHash } from 'node:crypto';
import { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import { isAeTitle } from '#dicom/ae-title.ts';
import type { DataSetFault } from '#dicom/fault.ts';
import { part10Head } from '#dicom/part10.ts';
import { DataSetScanner, type ScanLimits } from '#dicom/scanner.ts';
import type { IndexAnswer, IndexOutcome, InstanceAttributes, StoredInstance } from '#record/instance.ts';
import { isUid } from '#record/uid.ts';
import { newObjectKey, quarantineKey } from './objects/object-key.ts';
import type { ObjectStore, ObjectWriter } from './objects/object-store.ts';

/** What the request says of an instance before its data set arrives: C-STORE-RQ and presentation context, or the file meta of STOW-RS. */
export interface AnnouncedInstance {
	siteId: string;
	/** Empty: STOW-RS. */
	callingAe: string;
	/** Address, or the public id of an API key. */
	source: string;
	affectedSopClassUid: string;
	affectedSopInstanceUid: string;
	transferSyntaxUid: string;
	/** The study that the instance has to belong to. */
	studyUid?: string;
}

export interface IntakeResult {
	/**
	 * DIMSE status (PS3.4 B.2.3): 0x0000; 0xB007 other content under a known UID, kept aside; 0xA700 out of resources; 0xA900 data
	 * set and command differ; 0xC000 cannot understand; 0xC111 other content under a known UID, refused by the site's policy.
	 */
	status: number;
	/** For Error Comment (0000,0902): at most 64 characters of ASCII, without a patient's data. */
	comment: string | undefined;
	/** `failed`: nothing is kept. */
	outcome: IndexOutcome['kind'] | 'failed';
	/** What the data set says of itself, where it could be read. */
	attributes: InstanceAttributes | undefined;
}

/** One instance on its way in. Either `finish` or `abandon` ends it. */
export interface InstanceReception {
	/**
	 * A piece of the data set, without file meta information. The chunk is not kept. A promise means: read no more before it resolves. Never rejects and never throws; what went wrong is the status of `finish`.
	 */
	write(chunk: Uint8Array): Promise<void> | undefined;
	/** The whole data set was written. Never rejects. */
	finish(): Promise<IntakeResult>;
	/** The sender died or gave up: nothing is kept. Never rejects. */
	abandon(): Promise<void>;
}

/**
 * Puts an instance into the index of its site and resolves when that is committed. `object`: the pieces of the object, which does not lie
 * in the store yet and has to be durable there before the commit.
 * @throws Failure when certainly nothing was committed (`unavailable` excepted); any other error leaves that open
 */
export type IndexInstance = (siteId: string, instance: StoredInstance, object?: readonly Uint8Array[]) => Promise<IndexAnswer>;

/** Where DIMSE and STOW-RS hand instances in. */
export interface InstanceEntry {
	begin(announced: AnnouncedInstance): InstanceReception;
}

export interface IntakeLimits {
	/** A data set up to this long goes to the index with its object, which is stored there; longer ones go to the store as they come. */
	carriedObjectBytesMax: number;
}

export interface IntakeOptions {
	objects: ObjectStore;
	index: IndexInstance;
	limits: ScanLimits & IntakeLimits;
	log: Log;
}

const status = {
	success: 0x0000,
	otherContent: 0xb0_07,
	outOfResources: 0xa7_00,
	doesNotMatch: 0xa9_00,
	cannotUnderstand: 0xc0_00,
	contentRefused: 0xc1_11,
} as const;

interface Refusal {
	status: number;
	comment: string;
}

const notAccepted: Refusal = { status: status.outOfResources, comment: 'the instance could not be stored; send it again' };

/** Error Comment is an LO: 64 characters, no backslash; and ASCII, whatever character set the sender knows. */
function commentOf(text: string): string {
	return text.replace(/[^\x20-\x5b\x5d-\x7e]/g, '?').slice(0, 64);
}

function refusalOf({ kind, text }: DataSetFault): Refusal {
	return { status: kind === 'missing' ? status.doesNotMatch : status.cannotUnderstand, comment: commentOf(text) };
}

/** What is wrong with the request before a byte of the data set is read. */
function announcedFault({ affectedSopClassUid, affectedSopInstanceUid, transferSyntaxUid }: AnnouncedInstance): Refusal | undefined {
	const wrong = [
		[affectedSopClassUid, 'Affected SOP Class UID'],
		[affectedSopInstanceUid, 'Affected SOP Instance UID'],
		[transferSyntaxUid, 'Transfer Syntax UID'],
	].find(([uid = '']) => !isUid(uid));
	return wrong && { status: status.cannotUnderstand, comment: `${wrong[1]} is not a UID` };
}

/** Where data set and request contradict each other. */
function contradiction(announced: AnnouncedInstance, attributes: InstanceAttributes): Refusal | undefined {
	const comment =
		attributes.sopClassUid !== announced.affectedSopClassUid
			? 'SOP Class UID of data set and request differ'
			: attributes.sopInstanceUid !== announced.affectedSopInstanceUid
				? 'SOP Instance UID of data set and request differ'
				: announced.studyUid !== undefined && attributes.studyUid !== announced.studyUid
					? 'Study Instance UID of data set and request differ'
					: undefined;
	return comment === undefined ? undefined : { status: status.doesNotMatch, comment };
}

/**
 * Takes instances in: the bytes go to the object store as they come, the header is read on the way, and the index is asked when
 * the object is published under a key of its own; a small object is published by who writes the row, before its commit. So a row never names a file that is not there, and a crash leaves either a
 * temporary file, which the next start removes, or an object without a row, which `sweepObjects` finds.
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

class Reception implements InstanceReception {
	readonly #options: IntakeOptions;
	readonly #announced: AnnouncedInstance;
	readonly #scanner: DataSetScanner;
	/** Undefined while the data set is short enough to be carried to the index. */
	#writer: ObjectWriter | undefined;
	#carried: Uint8Array[] = [];
	#carriedBytes = 0;
	#isScanning = true;
	#attributes: InstanceAttributes | undefined;
	#refusal: Refusal | undefined;
	#ended: Promise<void> | undefined;
	#isFinishing = false;

	constructor(options: IntakeOptions, announced: AnnouncedInstance) {
		this.#options = options;
		this.#announced = announced;
		this.#scanner = new DataSetScanner(announced.transferSyntaxUid, options.limits);
		this.#refusal = announcedFault(announced);
		if (!this.#refusal && options.limits.carriedObjectBytesMax === 0) this.#writer = options.objects.begin(this.#head());
	}

	#head(): Buffer {
		const { affectedSopClassUid: sopClassUid, affectedSopInstanceUid: sopInstanceUid, transferSyntaxUid, callingAe } = this.#announced;
		const sourceAe = isAeTitle(callingAe) ? { sourceAe: callingAe } : {};
		return part10Head({ sopClassUid, sopInstanceUid, transferSyntaxUid, ...sourceAe });
	}

	write(chunk: Uint8Array): Promise<void> | undefined {
		if (this.#refusal || this.#ended || this.#isFinishing) return undefined;
		if (this.#isScanning && !this.#scanner.feed(chunk)) this.#conclude();
		if (this.#refusal) return undefined;
		return this.#writer ? this.#writer.write(chunk) : this.#carry(chunk);
	}

	#carry(chunk: Uint8Array): Promise<void> | undefined {
		const { objects, limits } = this.#options;
		this.#carried.push(Buffer.from(chunk));
		this.#carriedBytes += chunk.length;
		if (this.#carriedBytes <= limits.carriedObjectBytesMax) return undefined;
		const writer = objects.begin(this.#head());
		this.#writer = writer;
		let held: Promise<void> | undefined;
		for (const piece of this.#carried.splice(0)) held = writer.write(piece) ?? held;
		return held;
	}

	/** The header is read, or there is no more of it. */
	#conclude(): void {
		this.#isScanning = false;
		const result = this.#scanner.end();
		if ('attributes' in result) {
			this.#attributes = result.attributes;
			this.#refusal = contradiction(this.#announced, result.attributes);
		} else this.#refusal = refusalOf(result.fault);
		// What is refused takes no more room, however much of it is still to come.
		if (this.#refusal) void this.#drop();
	}

	#drop(): Promise<void> {
		this.#carried = [];
		this.#ended ??= this.#writer?.abandon() ?? Promise.resolve();
		return this.#ended;
	}

	async abandon(): Promise<void> {
		// What is being indexed goes on: whether the sender still listens changes nothing.
		if (!this.#isFinishing) await this.#drop();
	}

	async finish(): Promise<IntakeResult> {
		if (this.#isFinishing) throw new Error('the instance is finished');
		this.#isFinishing = true;
		if (!this.#refusal && this.#isScanning) this.#conclude();
		if (this.#refusal || this.#ended || !this.#attributes) {
			await this.#drop();
			return this.#failed(this.#refusal ?? notAccepted);
		}
		try {
			return await (this.#writer ? this.#store(this.#writer, this.#attributes) : this.#carryAll(this.#attributes));
		} catch (error) {
			const isFull = error instanceof Failure && error.code === 'unavailable';
			this.#options.log[isFull ? 'warn' : 'error']({ err: error, site: this.#announced.siteId }, 'an instance could not be stored');
			return this.#failed(isFull ? { status: status.outOfResources, comment: commentOf(error.diagnostics) } : notAccepted);
		}
	}

	#failed(refusal: Refusal): IntakeResult {
		return { ...refusal, outcome: 'failed', attributes: this.#attributes };
	}

	async #store(writer: ObjectWriter, attributes: InstanceAttributes): Promise<IntakeResult> {
		const { siteId, callingAe, source } = this.#announced;
		const { bytes, digest } = await writer.finish();
		const objectKey = newObjectKey({ siteId, ...attributes });
		await writer.publish(objectKey);
		return this.#index({ attributes, digest, bytes, objectKey, callingAe, source });
	}

	#carryAll(attributes: InstanceAttributes): Promise<IntakeResult> {
		const { siteId, callingAe, source } = this.#announced;
		const hash = createHash('sha256');
		for (const piece of this.#carried) hash.update(piece);
		const object = [this.#head(), ...this.#carried.splice(0)];
		const bytes = object.reduce((sum, piece) => sum + piece.length, 0);
		const objectKey = newObjectKey({ siteId, ...attributes });
		return this.#index({ attributes, digest: hash.digest('hex'), bytes, objectKey, callingAe, source }, object);
	}

	async #index(instance: StoredInstance, object?: readonly Uint8Array[]): Promise<IntakeResult> {
		let answer: IndexAnswer;
		try {
			answer = await this.#options.index(this.#announced.siteId, instance, object);
		} catch (error) {
			return this.#notIndexed(instance.objectKey, error);
		}
		return answer.kind === 'failed' ? this.#refused(instance.objectKey, answer.failure) : this.#settle(instance.objectKey, answer);
	}

	/** There is certainly no row. */
	async #refused(key: string, { code, diagnostics }: Pick<Failure, 'code' | 'diagnostics'>): Promise<IntakeResult> {
		await this.#tidy(() => this.#options.objects.remove(key));
		const isTransient = code === 'unavailable' || code === 'too-many-requests';
		return this.#failed({ status: isTransient ? status.outOfResources : status.cannotUnderstand, comment: commentOf(diagnostics) });
	}

	/** After an error that leaves open whether the row was committed the object stays: without a row the sweep finds it. */
	async #notIndexed(key: string, error: unknown): Promise<IntakeResult> {
		if (error instanceof Failure && error.code !== 'unavailable') return this.#refused(key, error);
		this.#options.log.warn({ err: error, site: this.#announced.siteId, object: key }, 'an instance may not be indexed');
		return this.#failed(notAccepted);
	}

	async #settle(key: string, outcome: IndexOutcome): Promise<IntakeResult> {
		const { objects } = this.#options;
		const result = (code: number, comment?: string) => ({ status: code, comment, outcome: outcome.kind, attributes: this.#attributes });
		switch (outcome.kind) {
			case 'stored':
				return result(status.success);
			case 'replaced':
				await this.#tidy(() => objects.move(outcome.superseded, quarantineKey(outcome.superseded)));
				return result(status.success);
			case 'duplicate':
				await this.#tidy(() => objects.remove(key));
				return result(status.success);
			case 'quarantined':
				await this.#tidy(() => (outcome.isHeld ? objects.remove(key) : objects.move(key, quarantineKey(key))));
				return result(status.otherContent, 'other content is stored under this UID; kept aside');
			case 'refused':
				await this.#tidy(() => objects.remove(key));
				return result(status.contentRefused, 'other content is stored under this UID');
		}
	}

	/** The index has decided, so the answer no longer depends on this; the object stays where it is, and safe. */
	async #tidy(move: () => Promise<unknown>): Promise<void> {
		try {
			await move();
		} catch (error) {
			this.#options.log.warn({ err: error, site: this.#announced.siteId }, 'an object could not be moved or removed');
		}
	}
}

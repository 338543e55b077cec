import { nilId } from '#core/id.ts';
import { DataSetError } from '#dicom/fault.ts';
import { FileMetaReader } from '#dicom/part10.ts';
import { SopIdentityReader } from '#dicom/sop-identity.ts';
import { type Settings, settingOf } from '#record/settings/settings.ts';
import type { TraceIds } from '#record/trace-ids.ts';
import { isUid } from '#record/uid.ts';
import type { InstanceEntry, InstanceReception } from './intake.ts';
import { failedPart, failureReasons, type PartResult, partResult, reasonOfFault } from './store-reasons.ts';

export interface PartOptions {
	intake: InstanceEntry;
	siteId: string;
	settings: Settings;
	/** Public id of the API key, or who is signed in. */
	source: string;
	/** The study to which every part must belong. */
	studyUid: string | undefined;
	/** Set when the request is traced. */
	trace?: TraceIds | undefined;
	/** The largest size of a whole part. */
	bytesMax: number;
}

/** Bytes buffered until the file meta information is complete, and then until the SOP Instance UID is known. */
const headBytesMax = 1024 * 1024;

/**
 * Receives one part: a DICOM file (PS3.10 §7). The data set identifies the instance. Only the transfer syntax is taken from the file
 * meta information, because the rest is written anew and the two differ in some files.
 */
export class PartReception {
	readonly #options: PartOptions;
	readonly #head = new FileMetaReader(headBytesMax);
	#identity: { reader: SopIdentityReader; transferSyntaxUid: string; waiting: Buffer[]; bytes: number } | undefined;
	#reception: InstanceReception | undefined;
	#named: { sopClassUid: string; sopInstanceUid: string } | undefined;
	#refused: number | undefined;
	#bytes = 0;

	constructor(options: PartOptions) {
		this.#options = options;
	}

	/** Takes over the chunk. If it returns a promise, read no more before that resolves. It never throws, and the promise never rejects. */
	write(chunk: Buffer): Promise<void> | undefined {
		if (this.#refused !== undefined) return undefined;
		this.#bytes += chunk.length;
		if (this.#bytes > this.#options.bytesMax) return this.#refuse(failureReasons.outOfResources);
		if (this.#reception) return this.#reception.write(chunk);
		try {
			if (this.#identity) return this.#identify(chunk, false);
			return this.#head.feed(chunk) ? undefined : this.#openDataSet(false);
		} catch (error) {
			return this.#refuseFaulty(error);
		}
	}

	/** Ends a complete part. Rejects only on a bug. */
	async finish(): Promise<PartResult> {
		try {
			if (this.#refused === undefined && !this.#reception) {
				if (!this.#identity) await this.#openDataSet(true);
				if (!this.#reception && this.#refused === undefined) await this.#identify(Buffer.alloc(0), true);
			}
		} catch (error) {
			await this.#refuseFaulty(error);
		}
		if (this.#refused !== undefined || !this.#reception || !this.#named) {
			return failedPart(this.#refused ?? failureReasons.cannotUnderstand, this.#named);
		}
		return partResult(await this.#reception.finish(), this.#named);
	}

	/** Drops the part when the sender died or gave up. Nothing of it is kept. Never rejects. */
	async abandon(): Promise<void> {
		this.#refused ??= failureReasons.cannotUnderstand;
		this.#identity = undefined;
		await this.#reception?.abandon();
	}

	/** Refuses the part and frees the memory that it holds. */
	#refuse(status: number): Promise<void> | undefined {
		this.#refused = status;
		this.#identity = undefined;
		return this.#reception?.abandon();
	}

	#refuseFaulty(error: unknown): Promise<void> | undefined {
		if (!(error instanceof DataSetError)) throw error;
		return this.#refuse(reasonOfFault(error.fault));
	}

	#openDataSet(isAll: boolean): Promise<void> | undefined {
		const { meta, rest } = this.#head.end();
		const { transferSyntaxUid } = meta;
		if (transferSyntaxUid === undefined || !isUid(transferSyntaxUid)) return this.#refuse(failureReasons.cannotUnderstand);
		const reader = new SopIdentityReader(transferSyntaxUid, headBytesMax, settingOf(this.#options.settings, 'uids'));
		this.#identity = { reader, transferSyntaxUid, waiting: [], bytes: 0 };
		return this.#identify(rest, isAll);
	}

	#identify(chunk: Buffer, isAll: boolean): Promise<void> | undefined {
		const identity = this.#identity;
		if (!identity) return undefined;
		identity.waiting.push(chunk);
		identity.bytes += chunk.length;
		if (identity.reader.feed(chunk) && !isAll && identity.bytes <= headBytesMax) return undefined;
		const named = identity.reader.end();
		this.#identity = undefined;
		if ('fault' in named) return this.#refuse(reasonOfFault(named.fault));
		this.#named = named;
		const { intake, siteId, settings, source, studyUid } = this.#options;
		this.#reception = intake.begin({
			siteId,
			surface: 'dicomweb',
			clientId: nilId,
			settings,
			callingAe: '',
			source,
			affectedSopClassUid: named.sopClassUid,
			affectedSopInstanceUid: named.sopInstanceUid,
			transferSyntaxUid: identity.transferSyntaxUid,
			...(studyUid === undefined ? {} : { studyUid }),
			...(this.#options.trace && { trace: this.#options.trace }),
		});
		let held: Promise<void> | undefined;
		for (const bytes of identity.waiting) held = this.#reception.write(bytes) ?? held;
		return held;
	}
}

import { DataSetError } from '#dicom/fault.ts';
import { FileMetaReader } from '#dicom/part10.ts';
import { SopIdentityReader } from '#dicom/sop-identity.ts';
import type { InstanceEntry, InstanceReception } from '#imaging/intake.ts';
import { isUid } from '#record/uid.ts';
import { failedPart, failureReasons, type PartResult, partResult, reasonOfFault } from './store-reasons.ts';

export interface PartOptions {
	intake: InstanceEntry;
	siteId: string;
	/** Public id of the API key. */
	source: string;
	/** The study that every part has to belong to. */
	studyUid: string | undefined;
	/** Of the whole part. */
	bytesMax: number;
}

/** Bytes that are kept until the file meta information, and after it until the SOP Instance UID, has come. */
const headBytesMax = 1024 * 1024;

/**
 * One part on its way in: a DICOM file (PS3.10 §7). What the instance is, its data set says; of the file meta information only the
 * transfer syntax counts, since the rest is written anew, and files are met in which the two differ.
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

	/** The chunk is taken over. A promise means: read no more before it resolves. Never rejects and never throws. */
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

	/** The part is whole. Never rejects but for a bug. */
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

	/** The sender died or gave up: nothing is kept of the part. Never rejects. */
	async abandon(): Promise<void> {
		this.#refused ??= failureReasons.cannotUnderstand;
		this.#identity = undefined;
		await this.#reception?.abandon();
	}

	/** What is refused takes no more room. */
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
		const reader = new SopIdentityReader(transferSyntaxUid, headBytesMax);
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
		const { intake, siteId, source, studyUid } = this.#options;
		this.#reception = intake.begin({
			siteId,
			surface: 'dicomweb',
			callingAe: '',
			source,
			affectedSopClassUid: named.sopClassUid,
			affectedSopInstanceUid: named.sopInstanceUid,
			transferSyntaxUid: identity.transferSyntaxUid,
			...(studyUid === undefined ? {} : { studyUid }),
		});
		let held: Promise<void> | undefined;
		for (const bytes of identity.waiting) held = this.#reception.write(bytes) ?? held;
		return held;
	}
}

import { nilId } from '#core/id.ts';
import { transferSyntaxes } from '#dicom/transfer-syntax.ts';
import type { InstanceReception } from '#imaging/intake.ts';
import { settingOf } from '#record/settings/settings.ts';
import { isUid } from '#record/uid.ts';
import { type DimseResponse, statuses } from './command-set.ts';
import type { DimseContext } from './context.ts';
import { answerAtOnce, type DimseRequest, type Reception, type ServiceClass } from './service.ts';
import { isPrivateClass, isStorageClass } from './storage-classes.ts';
import { storeResponse } from './store-response.ts';

/** Smaller pieces are gathered first, so that a sender of single bytes costs no more memory than any other. */
const pieceBytesMin = 4096;
/** A buffer size. */
const gatheredBytes = 16_384;

/** Receives a C-STORE: the data set goes to the intake while it arrives. */
class StoreReception implements Reception {
	readonly #reception: InstanceReception;
	readonly #bytesMax: number;
	#bytes = 0;
	#gathering: Buffer | undefined;
	#gathered = 0;
	#abandoned: Promise<void> | undefined;

	constructor(reception: InstanceReception, bytesMax: number) {
		this.#reception = reception;
		this.#bytesMax = bytesMax;
	}

	write(chunk: Buffer): Promise<void> | undefined {
		this.#bytes += chunk.length;
		if (this.#bytes > this.#bytesMax) {
			this.#gathered = 0;
			return this.abandon();
		}
		if (chunk.length < pieceBytesMin && this.#gathered + chunk.length <= gatheredBytes) return this.#gather(chunk);
		// The chunk is no longer valid when the bytes before it are written.
		const flushed = this.#flush();
		const held = chunk.length < pieceBytesMin ? this.#gather(chunk) : this.#reception.write(chunk);
		return held ?? flushed;
	}

	#gather(chunk: Buffer): undefined {
		this.#gathering ??= Buffer.allocUnsafe(gatheredBytes);
		chunk.copy(this.#gathering, this.#gathered);
		this.#gathered += chunk.length;
	}

	#flush(): Promise<void> | undefined {
		if (this.#gathering === undefined || this.#gathered === 0) return undefined;
		const bytes = this.#gathering.subarray(0, this.#gathered);
		this.#gathered = 0;
		return this.#reception.write(bytes);
	}

	async finish(): Promise<DimseResponse> {
		if (this.#abandoned !== undefined) {
			await this.#abandoned;
			return { status: statuses.outOfResources, comment: 'the data set is longer than this service stores' };
		}
		await this.#flush();
		return storeResponse(await this.#reception.finish());
	}

	abandon(): Promise<void> {
		this.#abandoned ??= this.#reception.abandon();
		return this.#abandoned;
	}
}

function beginStore({ intake, limits }: DimseContext, request: DimseRequest): Reception {
	const { command, abstractSyntax, transferSyntax, grant, callingAe, address, trace } = request;
	const { sopClassUid, sopInstanceUid } = command;
	if (sopClassUid !== abstractSyntax)
		return answerAtOnce({ status: statuses.sopClassNotSupported, comment: 'not of this presentation context' });
	if (sopInstanceUid === undefined || !isUid(sopInstanceUid, settingOf(grant.settings, 'uids'))) {
		return answerAtOnce({ status: statuses.invalidSopInstance });
	}
	if (!command.hasDataSet) return answerAtOnce({ status: statuses.cannotUnderstand, comment: 'no data set' });
	if (settingOf(grant.settings, 'paused'))
		return answerAtOnce({ status: statuses.outOfResources, comment: 'this sender is paused, send again later' });
	const reception = intake.begin({
		siteId: grant.siteId,
		surface: 'dimse',
		clientId: grant.clientId ?? nilId,
		settings: grant.settings,
		callingAe,
		source: address,
		affectedSopClassUid: sopClassUid,
		affectedSopInstanceUid: sopInstanceUid,
		transferSyntaxUid: transferSyntax,
		...(trace && { trace }),
	});
	return new StoreReception(reception, limits.dimseObjectBytesMax);
}

/** Serves C-STORE. The data set is stored as it arrives, so any transfer syntax works; the first known one of those proposed is chosen. */
export function storage(context: DimseContext): ServiceClass {
	return {
		includes: (uid) => isStorageClass(uid) || (context.storesUnknownSopClasses && isPrivateClass(uid)),
		chooseTransferSyntax: (proposed) => proposed.find((uid) => transferSyntaxes.has(uid)) ?? proposed[0],
		operations: new Map([['C-STORE', (request) => beginStore(context, request)]]),
		sendsBack: true,
	};
}

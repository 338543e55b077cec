import { once } from 'node:events';
import { createConnection } from 'node:net';
import { setSite } from '#administration/sites.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { associateRequest, commandSet, data, echo, Peer, releaseRequest, statusOf, textOf, value } from '#test/surfaces/dimse/peer.ts';
import { ctStorage, sampleDataSet } from './data-set.ts';
import { eventually } from './eventually.ts';
import type { TestService } from './service.ts';

/** An instance as it is sent: what the command says, and the bytes of the data set. */
export interface SentInstance {
	sopClassUid: string;
	sopInstanceUid: string;
	transferSyntaxUid: string;
	dataSet: Buffer;
}

export interface Caller {
	called: string;
	calling?: string;
	/** SOP class and transfer syntax of each presentation context, besides Verification. */
	contexts?: readonly (readonly [string, string])[];
}

const verification = '1.2.840.10008.1.1';
const ctContexts = [[ctStorage, explicitLittleEndian]] as const;

/** A CT in explicit VR little endian. */
export function ctInstance(given: Parameters<typeof sampleDataSet>[0] & { sopInstanceUid: string }): SentInstance {
	const dataSet = sampleDataSet(given);
	return { sopClassUid: ctStorage, sopInstanceUid: given.sopInstanceUid, transferSyntaxUid: explicitLittleEndian, dataSet };
}

/** A storage SCU of single bytes on an association of its own. */
export class StorageScu {
	readonly peer: Peer;
	readonly #contexts: readonly (readonly [string, string])[];
	#messageId = 0;

	private constructor(peer: Peer, contexts: readonly (readonly [string, string])[]) {
		this.peer = peer;
		this.#contexts = contexts;
	}

	/** Rejects when the connection fails or the association is not accepted. */
	static async open(port: number, { called, calling = 'CT1', contexts = ctContexts }: Caller): Promise<StorageScu> {
		const socket = createConnection({ port, host: '127.0.0.1', noDelay: true });
		await once(socket, 'connect');
		const peer = new Peer(socket);
		const proposed = Object.fromEntries(
			[[verification, explicitLittleEndian], ...contexts].map((pair, index) => [2 * index + 1, [...pair]]),
		);
		const [answer] = await peer.ask(associateRequest({ called, calling, contexts: proposed as Record<number, [string, ...string[]]> }));
		if (answer?.type === 2) return new StorageScu(peer, contexts);
		socket.destroy();
		throw new Error(`the association was answered with PDU ${answer?.type}`);
	}

	#contextId({ sopClassUid, transferSyntaxUid }: SentInstance): number {
		const index = this.#contexts.findIndex(
			([sopClass, transferSyntax]) => sopClass === sopClassUid && transferSyntax === transferSyntaxUid,
		);
		if (index === -1) throw new Error('the instance fits no presentation context');
		return 2 * index + 3;
	}

	/** The PDUs of one C-STORE-RQ, its data set in pieces of so many bytes. */
	request(instance: SentInstance, pieceBytes = 16_000): Buffer[] {
		this.#messageId = (this.#messageId % 0xffff) + 1;
		const { sopClassUid, sopInstanceUid, dataSet } = instance;
		const id = this.#contextId(instance);
		const command = commandSet({ 2: sopClassUid, 256: 1, 272: this.#messageId, 1792: 0, 2048: 0, 4096: sopInstanceUid });
		const pdus = [data(value(id, 'command', command))];
		for (let at = 0; at === 0 || at < dataSet.length; at += pieceBytes)
			pdus.push(data(value(id, 'data', dataSet.subarray(at, at + pieceBytes), at + pieceBytes >= dataSet.length)));
		return pdus;
	}

	/** Status and Error Comment; rejects when the connection ends without an answer. */
	async store(instance: SentInstance, pieceBytes?: number): Promise<{ status: number | undefined; comment: string | undefined }> {
		this.peer.write(...this.request(instance, pieceBytes));
		const answer = await this.peer.next();
		if (answer.type !== 4) throw new Error(`the instance was answered with PDU ${answer.type}`);
		return { status: statusOf(answer), comment: textOf(answer, 0x0902) };
	}

	async echo(): Promise<number | undefined> {
		const [answer] = await this.peer.ask(data(value(1, 'command', echo())));
		return answer && statusOf(answer);
	}

	async release(): Promise<void> {
		const [answer] = await this.peer.ask(releaseRequest);
		if (answer?.type !== 6) throw new Error(`the release was answered with PDU ${answer?.type}`);
		this.peer.socket.end();
		await this.peer.closed;
	}

	[Symbol.dispose](): void {
		this.peer.socket.destroy();
	}
}

/** A site that is called by its slug in capital letters; resolves when it can be. */
export async function addImagingSite(service: TestService, slug: string): Promise<{ siteId: string; key: string; called: string }> {
	const { site, key } = await service.addSite(slug);
	const called = slug.toUpperCase();
	await setSite(service.administration, { slug, ae_title: called });
	const answers = async () => {
		try {
			using scu = await StorageScu.open(service.port('dimse'), { called });
			return (await scu.echo()) === 0;
		} catch {
			return false;
		}
	};
	await eventually(answers, 'the AE title');
	return { siteId: site.id, key, called };
}

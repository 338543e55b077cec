import { once } from 'node:events';
import { createConnection } from 'node:net';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { associateRequest, commandSet, data, echo, Peer, responseOf, statusOf, textOf, value } from '#test/surfaces/dimse/peer.ts';

const procedureStep = '1.2.840.10008.3.1.2.3.3';
const verification = '1.2.840.10008.1.1';

export interface ModalityAnswer {
	status: number | undefined;
	errorId: number | undefined;
	comment: string | undefined;
	sopInstanceUid: string | undefined;
}

/** A modality that reports its procedure steps over a raw socket. */
export class Modality implements Disposable {
	readonly #peer: Peer;
	#messageId = 0;

	private constructor(peer: Peer) {
		this.#peer = peer;
	}

	/** Rejects when the association is not accepted. */
	static async open(port: number, called: string): Promise<Modality> {
		const socket = createConnection({ port, host: '127.0.0.1', noDelay: true });
		await once(socket, 'connect');
		const peer = new Peer(socket);
		const contexts = { 1: [procedureStep, explicitLittleEndian], 3: [verification, explicitLittleEndian] } satisfies Record<
			number,
			[string, string]
		>;
		const [answer] = await peer.ask(associateRequest({ called, contexts }));
		if (answer?.type === 2) return new Modality(peer);
		socket.destroy();
		throw new Error(`the association was answered with PDU ${answer?.type}`);
	}

	async #ask(elements: Record<number, number | string>, attributes: Buffer): Promise<ModalityAnswer> {
		this.#messageId = (this.#messageId % 0xff_ff) + 1;
		const command = commandSet({ ...elements, 272: this.#messageId, 2048: 0 });
		const half = attributes.length >> 1;
		const [answer] = await this.#peer.ask(
			Buffer.concat([
				data(value(1, 'command', command), value(1, 'data', attributes.subarray(0, half), false)),
				data(value(1, 'data', attributes.subarray(half))),
			]),
		);
		if (answer?.type !== 4) throw new Error(`the report was answered with PDU ${answer?.type}`);
		const about = responseOf(answer).get(0x0120)?.readUInt16LE(0);
		if (about !== this.#messageId) throw new Error(`the answer to ${this.#messageId} is about ${about}`);
		return {
			status: statusOf(answer),
			errorId: responseOf(answer).get(0x0903)?.readUInt16LE(0),
			comment: textOf(answer, 0x0902),
			sopInstanceUid: textOf(answer, 0x1000),
		};
	}

	create(sopInstanceUid: string | undefined, attributes: Buffer): Promise<ModalityAnswer> {
		return this.#ask({ 2: procedureStep, 256: 0x0140, ...(sopInstanceUid === undefined ? {} : { 4096: sopInstanceUid }) }, attributes);
	}

	set(sopInstanceUid: string, attributes: Buffer): Promise<ModalityAnswer> {
		return this.#ask({ 3: procedureStep, 256: 0x0120, 4097: sopInstanceUid }, attributes);
	}

	async echo(): Promise<number | undefined> {
		const [answer] = await this.#peer.ask(data(value(3, 'command', echo(1))));
		return answer && statusOf(answer);
	}

	[Symbol.dispose](): void {
		this.#peer.socket.destroy();
	}
}

import { type CommandSet, commandFields, type DimseResponse, operationOf, requestSet, responseSet } from './command-set.ts';
import type { AcceptedContext, Negotiated } from './negotiation.ts';
import { contextFor } from './offered-syntaxes.ts';
import { dataTransfer } from './pdu.ts';
import type { Exchange, OutgoingInstance } from './service.ts';

/** The association as a conversation sees it. */
export interface ConversationPort {
	send(pdus: Buffer): Promise<void> | undefined;
	/** Sends A-ABORT, because a data set was begun that cannot be completed. */
	abandon(): void;
}

/** Pieces of a data set go into PDUs of at most this length, so that only a few wait for the peer. */
const pieceBytesMax = 64 * 1024;
const storeResponse = commandFields['C-STORE'] | 0x8000;

/** A request with several responses, and its sub-operations over the same association, one after the other. */
export class Conversation implements Exchange {
	readonly #port: ConversationPort;
	readonly #negotiated: Negotiated;
	readonly #contextId: number;
	readonly #request: CommandSet;
	#isCancelled = false;
	readonly #end = new AbortController();
	#messageId: number;
	#awaited: { messageId: number; answer: (status: number | undefined) => void } | undefined;

	constructor(port: ConversationPort, negotiated: Negotiated, contextId: number, request: CommandSet) {
		this.#port = port;
		this.#negotiated = negotiated;
		this.#contextId = contextId;
		this.#request = request;
		this.#messageId = request.messageId;
	}

	get ended(): AbortSignal {
		return this.#end.signal;
	}

	get #hasEnded(): boolean {
		return this.#end.signal.aborted;
	}

	get cancelled(): boolean {
		return this.#isCancelled || this.#hasEnded;
	}

	/** True when the peer must answer before this can go on. */
	get awaitsPeer(): boolean {
		return this.#awaited !== undefined;
	}

	/** Takes a command set that arrived meanwhile. Returns false when it breaks the protocol (asynchronous operations window 1). */
	take(command: CommandSet): boolean {
		if (command.hasDataSet) return false;
		if (operationOf(command.commandField) === 'C-CANCEL') {
			if (command.messageId === this.#request.messageId) this.#isCancelled = true;
			return true;
		}
		const awaited = this.#awaited;
		if (command.commandField !== storeResponse || command.messageId !== awaited?.messageId) return false;
		this.#awaited = undefined;
		awaited.answer(command.status);
		return true;
	}

	/** Ends the conversation with its association. */
	end(): void {
		this.#end.abort();
		this.#awaited?.answer(undefined);
		this.#awaited = undefined;
	}

	async respond(response: DimseResponse): Promise<void> {
		if (this.#hasEnded) return;
		const { peerPduBytesMax } = this.#negotiated;
		const command = dataTransfer(this.#contextId, 'command', responseSet(this.#request, response), peerPduBytesMax);
		const dataSet = response.dataSet && dataTransfer(this.#contextId, 'data-set', response.dataSet, peerPduBytesMax);
		await this.#port.send(dataSet ? Buffer.concat([command, dataSet]) : command);
	}

	async store(instance: OutgoingInstance): Promise<number | undefined> {
		const context = this.#contextFor(instance);
		if (context === undefined || this.#hasEnded) return undefined;
		const { pieces, close } = await instance.open(context.transferSyntax);
		try {
			return this.#hasEnded ? undefined : await this.#send(context.id, instance, pieces);
		} finally {
			await close();
		}
	}

	/** Looks among the contexts for which the requestor is SCP. */
	#contextFor({ sopClassUid, transferSyntaxUid }: OutgoingInstance): AcceptedContext | undefined {
		const own = [...this.#negotiated.contexts.values()].filter(({ abstractSyntax, role }) => abstractSyntax === sopClassUid && role.scp);
		return contextFor(transferSyntaxUid, own);
	}

	async #send(
		contextId: number,
		{ sopClassUid, sopInstanceUid }: OutgoingInstance,
		pieces: AsyncIterable<Uint8Array>,
	): Promise<number | undefined> {
		const messageId = this.#nextMessageId();
		const pduBytes = Math.min(this.#negotiated.peerPduBytesMax, pieceBytesMax);
		const answered = new Promise<number | undefined>((resolve) => {
			this.#awaited = { messageId, answer: resolve };
		});
		const command = requestSet(messageId, { operation: 'C-STORE', sopClassUid, sopInstanceUid }, true);
		await this.#port.send(dataTransfer(contextId, 'command', command, pduBytes));
		// Every fragment but the last has an even length (PS3.8 §E.1), whatever the length of the pieces.
		let held: Uint8Array = Buffer.alloc(0);
		try {
			for await (const piece of pieces) {
				if (this.#hasEnded) return undefined;
				const even = held.length & ~1;
				if (even > 0) await this.#port.send(dataTransfer(contextId, 'data-set', held.subarray(0, even), pduBytes, false));
				held = even < held.length ? Buffer.concat([held.subarray(even), piece]) : piece;
			}
		} catch (error) {
			this.#port.abandon();
			throw error;
		}
		await this.#port.send(dataTransfer(contextId, 'data-set', held, pduBytes));
		return answered;
	}

	#nextMessageId(): number {
		do this.#messageId = (this.#messageId % 0xff_ff) + 1;
		while (this.#messageId === this.#request.messageId);
		return this.#messageId;
	}
}

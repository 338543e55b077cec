import { type CommandSet, commandFields, type OutgoingRequest, requestSet } from './command-set.ts';
import { dataTransfer } from './pdu.ts';
import type { ReturnChannel } from './service.ts';

/** A longer data set would wait in memory for the peer. It cannot be divided, because a response might come in between. */
const dataSetBytesMax = 512 * 1024;

interface Port {
	send(pdus: Buffer): Promise<void> | undefined;
}

interface Awaited {
	contextId: number;
	messageId: number;
	commandField: number;
	answer: (status: number | undefined) => void;
}

/** Sends requests of this side over an association that the peer requested, one after the other (asynchronous operations window 1). */
export class ReturningRequests {
	readonly #port: Port;
	readonly #pduBytesMax: number;
	readonly #responseMsMax: number;
	readonly #isTaken: () => boolean;
	#messageId = 0;
	#awaited: Awaited | undefined;
	#last: Promise<unknown> = Promise.resolve();
	#ended = false;

	/** `isTaken` tells that this side is sending instances, whose pieces nothing else may interrupt. */
	constructor(port: Port, pduBytesMax: number, responseMsMax: number, isTaken: () => boolean) {
		this.#port = port;
		this.#pduBytesMax = pduBytesMax;
		this.#responseMsMax = responseMsMax;
		this.#isTaken = isTaken;
	}

	channel(contextId: number, transferSyntax: string): ReturnChannel {
		return {
			transferSyntax,
			request: (request, dataSet) => {
				const answered = this.#last.then(() => this.#send(contextId, request, dataSet));
				this.#last = answered;
				return answered;
			},
		};
	}

	/** Returns false when the response was not awaited, or carries a data set, which none of them does. */
	take(contextId: number, command: CommandSet): boolean {
		const awaited = this.#awaited;
		if (awaited?.contextId !== contextId || awaited.messageId !== command.messageId) return false;
		if (awaited.commandField !== command.commandField || command.hasDataSet || command.status === undefined) return false;
		awaited.answer(command.status);
		return true;
	}

	/** Ends with the association. */
	end(): void {
		this.#ended = true;
		this.#awaited?.answer(undefined);
	}

	async #send(contextId: number, request: OutgoingRequest, dataSet: Buffer): Promise<number | undefined> {
		if (this.#ended || this.#isTaken() || dataSet.length > dataSetBytesMax) return undefined;
		this.#messageId = (this.#messageId % 0xffff) + 1;
		const messageId = this.#messageId;
		const commandField = commandFields[request.operation] | 0x8000;
		const answered = new Promise<number | undefined>((resolve) => {
			const timer = setTimeout(() => resolve(undefined), this.#responseMsMax);
			const answer = (status: number | undefined) => {
				clearTimeout(timer);
				this.#awaited = undefined;
				resolve(status);
			};
			this.#awaited = { contextId, messageId, commandField, answer };
		});
		const command = dataTransfer(contextId, 'command', requestSet(messageId, request, true), this.#pduBytesMax);
		// It is written in one piece, because a response to the peer must not come in between.
		await this.#port.send(Buffer.concat([command, dataTransfer(contextId, 'data-set', dataSet, this.#pduBytesMax)]));
		return answered;
	}
}

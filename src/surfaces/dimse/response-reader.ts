import { type CommandSet, commandFields, type OutgoingRequest, readCommandSet } from './command-set.ts';
import { Gathering } from './gathering.ts';
import type { AbortReason } from './pdu.ts';
import type { Fragment } from './pdu-reader.ts';

interface Expected {
	contextId: number;
	commandField: number;
	messageId: number;
}

/** Reads the response to the one request under way. A data set in it is skipped. */
export class ResponseReader {
	readonly #gathering: Gathering;
	#expected: Expected | undefined;
	/** The status and comment of a response whose data set is still to come. */
	#read: { status: number; comment: string | undefined } | undefined;

	constructor(bytesMax: number) {
		this.#gathering = new Gathering(bytesMax);
	}

	expect(contextId: number, operation: OutgoingRequest['operation'], messageId: number): void {
		this.#expected = { contextId, commandField: commandFields[operation] | 0x8000, messageId };
	}

	/**
	 * Returns undefined when there is more to come. Returns an abort reason when this is not the expected response, or no response at all.
	 */
	take({ contextId, isCommand, isLast, bytes }: Fragment): { status: number; comment: string | undefined } | AbortReason | undefined {
		const expected = this.#expected;
		if (expected?.contextId !== contextId || isCommand !== (this.#read === undefined)) return 'unexpected-PDU-parameter';
		if (this.#read === undefined) {
			if (!this.#gathering.add(bytes)) return 'invalid-PDU-parameter-value';
			if (!isLast) return undefined;
			const command = readCommandSet(this.#gathering.take());
			if (command?.status === undefined) return 'invalid-PDU-parameter-value';
			if (!answers(command, expected)) return 'unexpected-PDU-parameter';
			this.#read = { status: command.status, comment: command.comment };
			if (command.hasDataSet) return undefined;
		} else if (!isLast) return undefined;
		const read = this.#read;
		this.#expected = undefined;
		this.#read = undefined;
		return read;
	}
}

function answers(command: CommandSet, expected: Expected): boolean {
	return command.commandField === expected.commandField && command.messageId === expected.messageId;
}

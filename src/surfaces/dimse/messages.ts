import type { AssociationGrant } from '#access/directory.ts';
import { type CommandSet, type DimseResponse, operationOf, readCommandSet, responseSet, statuses } from './command-set.ts';
import type { DimseContext } from './context.ts';
import { Gathering } from './gathering.ts';
import type { AcceptedContext, Negotiated } from './negotiation.ts';
import { type AbortReason, dataTransfer } from './pdu.ts';
import type { Fragment } from './pdu-reader.ts';
import { ReturningRequests } from './returning-requests.ts';
import { answerAtOnce, type Reception } from './service.ts';

/** Who is at the other end. */
export interface Peer {
	calledAe: string;
	callingAe: string;
	address: string;
	siteId: string;
}

/** What the messages of an association need of it. */
export interface MessagePort {
	/** Hands P-DATA-TF PDUs to the socket in one write. A promise: the peer has not taken what was sent before. */
	send(pdus: Buffer): Promise<void> | undefined;
	/** What was received breaks the protocol: A-ABORT. */
	fault(reason: AbortReason): undefined;
	/** The caller may not send any more: A-ABORT. */
	refuse(): undefined;
}

interface Message {
	context: AcceptedContext;
	command: CommandSet;
	reception: Reception;
	startedMs: number;
	finishing: boolean;
}

const measured = ['C-ECHO', 'C-STORE', 'N-CREATE', 'N-SET', 'N-ACTION'] as const;

function measuredOperation({ commandField }: CommandSet): (typeof measured)[number] | 'other' {
	const operation = operationOf(commandField);
	return measured.find((name) => name === operation) ?? 'other';
}

/** PS3.7 annex C: by the status's class. */
export function outcomeOf(status: number): 'success' | 'warning' | 'failure' {
	if (status === statuses.success) return 'success';
	return status >> 12 === 0xb || status === 0x0001 || status === 0x0107 || status === 0x0116 ? 'warning' : 'failure';
}

/** The DIMSE messages of one association, one after the other (PS3.7 §9, §10; asynchronous operations window 1). */
export class Messages {
	readonly #context: DimseContext;
	readonly #negotiated: Negotiated;
	readonly #peer: Peer;
	readonly #port: MessagePort;
	readonly #commandSet: Gathering;
	#commandContextId: number | undefined;
	readonly #returning: ReturningRequests;
	#message: Message | undefined;
	#ended = false;

	constructor(context: DimseContext, negotiated: Negotiated, peer: Peer, port: MessagePort) {
		this.#context = context;
		this.#negotiated = negotiated;
		this.#peer = peer;
		this.#port = port;
		this.#commandSet = new Gathering(context.limits.dimsePduBytesMax);
		this.#returning = new ReturningRequests(port, negotiated.peerPduBytesMax, context.limits.dimseResponseMsMax);
	}

	/** A message was begun and is not answered. */
	get underWay(): boolean {
		return this.#message !== undefined || this.#commandContextId !== undefined;
	}

	/** A promise means: read no more before it resolves. Rejects only on a fault of this program. */
	take(fragment: Fragment): Promise<void> | undefined {
		const context = this.#negotiated.contexts.get(fragment.contextId);
		if (context === undefined) return this.#port.fault('invalid-PDU-parameter-value');
		return this.#message === undefined ? this.#takeCommand(context, fragment) : this.#takeData(this.#message, fragment);
	}

	/** Nothing more comes: what is incomplete leaves nothing behind. What is complete is carried out, though nobody hears of it. */
	async end(): Promise<void> {
		const message = this.#message;
		this.#ended = true;
		this.#returning.end();
		this.#message = undefined;
		this.#commandContextId = undefined;
		if (message === undefined || message.finishing) return;
		this.#context.metrics.dimseMessages.inc({ operation: measuredOperation(message.command), outcome: 'abandoned' });
		await message.reception.abandon();
	}

	#takeCommand(context: AcceptedContext, { contextId, isCommand, isLast, bytes }: Fragment): Promise<void> | undefined {
		if (!isCommand || (this.#commandContextId ?? contextId) !== contextId) return this.#port.fault('unexpected-PDU-parameter');
		this.#commandContextId = contextId;
		if (!this.#commandSet.add(bytes)) return this.#port.fault('invalid-PDU-parameter-value');
		if (!isLast) return undefined;
		this.#commandContextId = undefined;
		const command = readCommandSet(this.#commandSet.take());
		if (command === undefined) return this.#port.fault('invalid-PDU-parameter-value');
		return this.#begin(context, command);
	}

	#begin(context: AcceptedContext, command: CommandSet): Promise<void> | undefined {
		if (command.commandField >= 0x8000)
			return this.#returning.take(context.id, command) ? undefined : this.#port.fault('unexpected-PDU-parameter');
		const { calledAe, callingAe, address, siteId } = this.#peer;
		const match = this.#context.directory.matchAssociation(calledAe, callingAe, address);
		if (match.kind !== 'accepted' || match.siteId !== siteId) return this.#port.refuse();
		// PS3.7 §9.3.2.3: not answered, and here nothing is left to cancel.
		if (operationOf(command.commandField) === 'C-CANCEL') return undefined;
		const reception = this.#receptionOf(context, command, match);
		const message = { context, command, reception, startedMs: this.#context.clock.nowMs(), finishing: false };
		this.#message = message;
		return command.hasDataSet ? undefined : this.#finish(message);
	}

	#receptionOf(context: AcceptedContext, command: CommandSet, grant: AssociationGrant): Reception {
		const { abstractSyntax, transferSyntax, serviceClass } = context;
		const operation = operationOf(command.commandField);
		const begin = operation && serviceClass.operations.get(operation);
		if (begin === undefined) {
			const isOtherClass = operation !== undefined && command.sopClassUid !== abstractSyntax;
			return answerAtOnce({ status: isOtherClass ? statuses.sopClassNotSupported : statuses.unrecognizedOperation });
		}
		const { callingAe, calledAe, address } = this.#peer;
		return begin({ command, abstractSyntax, transferSyntax, grant, callingAe, calledAe, address });
	}

	#takeData(message: Message, { contextId, isCommand, isLast, bytes }: Fragment): Promise<void> | undefined {
		if (isCommand || contextId !== message.context.id) return this.#port.fault('unexpected-PDU-parameter');
		const written = bytes.length === 0 ? undefined : message.reception.write(bytes);
		if (!isLast) return written;
		return written === undefined ? this.#finish(message) : written.then(() => this.#finish(message));
	}

	async #finish(message: Message): Promise<void> {
		if (this.#ended) return;
		message.finishing = true;
		const { command, context } = message;
		const response = await this.#responseOf(message);
		const { metrics, clock } = this.#context;
		const operation = measuredOperation(command);
		metrics.dimseMessages.inc({ operation, outcome: outcomeOf(response.status) });
		metrics.dimseSeconds.observe({ operation }, (clock.nowMs() - message.startedMs) / 1000);
		if (!this.#ended) {
			this.#message = undefined;
			await this.#port.send(dataTransfer(context.id, 'command', responseSet(command, response), this.#negotiated.peerPduBytesMax));
		}
		message.reception.answered?.(this.#returning.channel(context.id, context.transferSyntax));
	}

	async #responseOf({ reception }: Message): Promise<DimseResponse> {
		try {
			return await reception.finish();
		} catch (error) {
			this.#context.log.error({ err: error }, 'a DIMSE request failed');
			return { status: statuses.processingFailure };
		}
	}
}

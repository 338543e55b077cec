import type { AssociationGrant } from '#access/directory.ts';
import type { Trace } from '#record/tracing.ts';
import { type CommandSet, type DimseResponse, operationOf, readCommandSet, responseSet, statuses } from './command-set.ts';
import type { DimseContext } from './context.ts';
import { Conversation } from './conversation.ts';
import { Gathering } from './gathering.ts';
import type { AcceptedContext, Negotiated } from './negotiation.ts';
import { type AbortReason, dataTransfer } from './pdu.ts';
import type { Fragment } from './pdu-reader.ts';
import { ReturningRequests } from './returning-requests.ts';
import { answerAtOnce, type ConversingReception, type Reception } from './service.ts';

/** The peer of an association. */
export interface Peer {
	calledAe: string;
	callingAe: string;
	address: string;
	siteId: string;
}

/** The association as its messages see it. */
export interface MessagePort {
	/** Writes P-DATA-TF PDUs to the socket at once. A promise means that the peer has not read the earlier ones yet. */
	send(pdus: Buffer): Promise<void> | undefined;
	/** Sends A-ABORT, because the peer broke the protocol. */
	fault(reason: AbortReason): undefined;
	/** Sends A-ABORT, because the caller is not permitted to send any more. */
	refuse(): undefined;
	/** Sends A-ABORT, because a data set was begun that cannot be completed. */
	abandon(): void;
	/** Tells that a request with several responses was answered. */
	idle(): void;
}

interface Message {
	context: AcceptedContext;
	command: CommandSet;
	reception: Reception | ConversingReception;
	startedMs: number;
	finishing: boolean;
	conversation: Conversation | undefined;
	/** Set when the request is traced. */
	trace: Trace | undefined;
	site: string | undefined;
}

/** As many as the API shows of an event. */
const studiesMax = 100;

const measured = ['C-ECHO', 'C-STORE', 'C-FIND', 'C-GET', 'C-MOVE', 'N-CREATE', 'N-SET', 'N-ACTION'] as const;

function measuredOperation({ commandField }: CommandSet): (typeof measured)[number] | 'other' {
	const operation = operationOf(commandField);
	return measured.find((name) => name === operation) ?? 'other';
}

/** The response while the access rights cannot be checked: a status that makes the peer ask again. Verification succeeds as usual. */
function unavailable({ commandField }: CommandSet): DimseResponse {
	const operation = operationOf(commandField);
	if (operation === 'C-ECHO') return { status: statuses.success };
	const comment = 'the service is not available, ask again';
	if (operation === 'C-GET' || operation === 'C-MOVE') return { status: statuses.matchesNotCounted, comment };
	return { status: operation?.startsWith('N-') ? statuses.resourceLimitation : statuses.outOfResources, comment };
}

/** Returns the outcome by the class of the status (PS3.7 annex C). */
export function outcomeOf(status: number): 'success' | 'warning' | 'failure' {
	if (status === statuses.success || status === statuses.cancelled) return 'success';
	return status >> 12 === 0xb || status === 0x0001 || status === 0x0107 || status === 0x0116 ? 'warning' : 'failure';
}

/** Processes the DIMSE messages of one association, one after the other (PS3.7 §9, §10; asynchronous operations window 1). */
export class Messages {
	/** The number of requests by operation and outcome, such as `C-STORE success`. */
	readonly requests = new Map<string, number>();
	readonly studies = new Set<string>();
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
		this.#returning = new ReturningRequests(port, negotiated.peerPduBytesMax, context.limits.dimseResponseMsMax, () => this.conversing);
	}

	/** True when a message was begun and is not answered. */
	get underWay(): boolean {
		return this.#message !== undefined || this.#commandContextId !== undefined;
	}

	/** True while a request with several responses is being answered. The peer is still read meanwhile. */
	get conversing(): boolean {
		return this.#message?.conversation !== undefined;
	}

	/** True while such a request is being answered and it is this side's turn. */
	get working(): boolean {
		return this.#message?.conversation?.awaitsPeer === false;
	}

	/** If it returns a promise, read no more before that resolves. It rejects only on a fault of this program. */
	take(fragment: Fragment): Promise<void> | undefined {
		const context = this.#negotiated.contexts.get(fragment.contextId);
		if (context === undefined) return this.#port.fault('invalid-PDU-parameter-value');
		if (this.#message === undefined || this.conversing) return this.#takeCommand(context, fragment);
		return this.#takeData(this.#message, fragment);
	}

	/**
	 * Ends the messages with the association. An incomplete message leaves nothing behind. A complete one is carried out, although nobody
	 * hears the answer.
	 */
	async end(): Promise<void> {
		const message = this.#message;
		this.#ended = true;
		this.#returning.end();
		this.#message = undefined;
		this.#commandContextId = undefined;
		message?.conversation?.end();
		if (message === undefined || message.finishing) return;
		this.#count(measuredOperation(message.command), 'abandoned');
		message.trace?.end({ error: 'abandoned' });
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
		const conversation = this.#message?.conversation;
		if (conversation === undefined) return this.#begin(context, command);
		// This is an answer to a request that this side made before.
		const isAwaited = command.commandField >= 0x8000 && this.#returning.take(context.id, command);
		return isAwaited || conversation.take(command) ? undefined : this.#port.fault('unexpected-PDU-parameter');
	}

	#begin(context: AcceptedContext, command: CommandSet): Promise<void> | undefined {
		if (command.commandField >= 0x8000)
			return this.#returning.take(context.id, command) ? undefined : this.#port.fault('unexpected-PDU-parameter');
		const { calledAe, callingAe, address, siteId } = this.#peer;
		const match = this.#context.directory.matchAssociation(calledAe, callingAe, address);
		const isKnown = match.kind === 'accepted' && match.siteId === siteId;
		if (!isKnown && match.kind !== 'unavailable') return this.#port.refuse();
		// A C-CANCEL is not answered (PS3.7 §9.3.2.3), and here nothing is left to cancel.
		if (operationOf(command.commandField) === 'C-CANCEL') return undefined;
		const trace = this.#traced(command);
		const reception = isKnown ? this.#receptionOf(context, command, match, trace) : answerAtOnce(unavailable(command));
		const startedMs = this.#context.clock.nowMs();
		const site = isKnown ? match.siteSlug : undefined;
		const message: Message = { context, command, reception, startedMs, finishing: false, conversation: undefined, trace, site };
		this.#message = message;
		return command.hasDataSet ? undefined : this.#finish(message);
	}

	/** C-ECHO tells nothing of the product, and monitors send it all day. */
	#traced(command: CommandSet): Trace | undefined {
		const { tracing } = this.#context;
		const operation = tracing && measuredOperation(command);
		if (operation === undefined || operation === 'C-ECHO') return undefined;
		const attributes = { 'tributary.operation': operation };
		return tracing?.begin({ kind: 'consumer', name: operation, surface: 'dimse', startedMs: performance.now(), attributes });
	}

	#receptionOf(context: AcceptedContext, command: CommandSet, grant: AssociationGrant, trace: Trace | undefined): Message['reception'] {
		const { abstractSyntax, transferSyntax, serviceClass, role, extension } = context;
		const operation = operationOf(command.commandField);
		const begin = operation && serviceClass.operations.get(operation);
		if (begin === undefined) {
			const isOtherClass = operation !== undefined && command.sopClassUid !== abstractSyntax;
			return answerAtOnce({ status: isOtherClass ? statuses.sopClassNotSupported : statuses.unrecognizedOperation });
		}
		// The requestor chose to be SCP only.
		if (!role.scu) return answerAtOnce({ status: statuses.unrecognizedOperation });
		if (serviceClass.needs !== undefined && !grant.grants.has(serviceClass.needs)) return answerAtOnce({ status: statuses.notAuthorized });
		const { calledAe, callingAe, address } = this.#peer;
		return begin({ command, abstractSyntax, transferSyntax, grant, callingAe, calledAe, address, extension, trace: trace?.ids });
	}

	#takeData(message: Message, { contextId, isCommand, isLast, bytes }: Fragment): Promise<void> | undefined {
		if (isCommand || contextId !== message.context.id) return this.#port.fault('unexpected-PDU-parameter');
		const written = bytes.length === 0 ? undefined : message.reception.write(bytes);
		if (!isLast) return written;
		return written === undefined ? this.#finish(message) : written.then(() => this.#finish(message));
	}

	#finish(message: Message): Promise<void> | undefined {
		if (this.#ended) return undefined;
		message.finishing = true;
		const { command, context, reception } = message;
		if ('finish' in reception) return this.#answer(message, () => reception.finish());
		const conversation = new Conversation(this.#port, this.#negotiated, context.id, command);
		message.conversation = conversation;
		// The peer is still read, for its cancellation and its own answers.
		this.#answer(message, () => reception.converse(conversation)).then(
			() => this.#port.idle(),
			(error) => this.#context.log.error({ err: error, ...message.trace?.ids }, 'a DIMSE request could not be answered'),
		);
		return undefined;
	}

	#count(operation: ReturnType<typeof measuredOperation>, outcome: ReturnType<typeof outcomeOf> | 'abandoned'): void {
		this.#context.metrics.dimseMessages.inc({ operation, outcome });
		const name = `${operation} ${outcome}`;
		this.requests.set(name, (this.requests.get(name) ?? 0) + 1);
	}

	async #answer(message: Message, work: () => Promise<DimseResponse>): Promise<void> {
		const { command, context } = message;
		const response = await this.#responseOf(work, message.trace);
		const { metrics, clock } = this.#context;
		const operation = measuredOperation(command);
		this.#count(operation, outcomeOf(response.status));
		if (response.studyUid !== undefined && this.studies.size < studiesMax) this.studies.add(response.studyUid);
		metrics.dimseSeconds.observe({ operation }, (clock.nowMs() - message.startedMs) / 1000);
		if (!this.#ended) {
			this.#message = undefined;
			const { peerPduBytesMax } = this.#negotiated;
			const answer = dataTransfer(context.id, 'command', responseSet(command, response), peerPduBytesMax);
			const dataSet = response.dataSet && dataTransfer(context.id, 'data-set', response.dataSet, peerPduBytesMax);
			await this.#port.send(dataSet ? Buffer.concat([answer, dataSet]) : answer);
		}
		if (message.trace) this.#endTrace(message, response.status);
		message.reception.answered?.(this.#returning.channel(context.id, context.transferSyntax));
	}

	#endTrace({ trace, site }: Message, status: number): void {
		const code = `0x${status.toString(16).toUpperCase().padStart(4, '0')}`;
		const attributes = { 'tributary.status': code, ...(site === undefined ? {} : { 'tributary.site': site }) };
		trace?.end({ attributes, error: outcomeOf(status) === 'failure' ? code : undefined });
	}

	async #responseOf(work: () => Promise<DimseResponse>, trace: Trace | undefined): Promise<DimseResponse> {
		try {
			return await work();
		} catch (error) {
			this.#context.log.error({ err: error, ...trace?.ids }, 'a DIMSE request failed');
			return { status: statuses.processingFailure };
		}
	}
}

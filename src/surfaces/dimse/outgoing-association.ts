import type { Socket } from 'node:net';
import { type Acceptance, associateRequest, type Proposal, readAssociateAccept, type UsableContext } from './associate-proposal.ts';
import { AssociateRequestError } from './associate-request.ts';
import { AssociationError, type AssociationFailure, rejectedBy } from './association-error.ts';
import { type OutgoingRequest, requestSet } from './command-set.ts';
import type { DimseLimits } from './limits.ts';
import { outcomeOf } from './messages.ts';
import type { DimseMetrics } from './metrics.ts';
import { type AbortReason, abort, dataTransfer, releaseRequest, releaseResponse } from './pdu.ts';
import { type PduEvent, PduReader } from './pdu-reader.ts';
import type { DimseAnswer, RequestedAssociation } from './requested-association.ts';
import { ResponseReader } from './response-reader.ts';
import { type RequestorAction, type RequestorEvent, type RequestorState, requestorTransition } from './upper-layer-requestor.ts';

interface Surroundings {
	limits: DimseLimits;
	metrics: DimseMetrics;
	signal: AbortSignal | undefined;
}

/** The connection of an association that this side requests, with its state machine. */
export class OutgoingAssociation implements RequestedAssociation {
	/** Rejects with AssociationError. */
	readonly established: Promise<void>;
	readonly closed: Promise<void>;
	readonly #socket: Socket;
	readonly #proposal: Proposal;
	readonly #limits: DimseLimits;
	readonly #metrics: DimseMetrics;
	readonly #reader: PduReader;
	readonly #responses: ResponseReader;
	#settle: { resolve: () => void; reject: (error: AssociationError) => void } = { resolve: () => undefined, reject: () => undefined };
	#state: RequestorState = 'Sta1';
	#acceptance: Acceptance = { contexts: [], pduBytesMax: 0 };
	#failure: AssociationError | undefined;
	#abortReason: AbortReason = 'reason-not-specified';
	#messageId = 0;
	#sending = false;
	#awaited: { resolve: (answer: DimseAnswer) => void; reject: (error: AssociationError) => void } | undefined;
	#artim: NodeJS.Timeout | undefined;
	#patience: NodeJS.Timeout | undefined;

	constructor({ socket, ready }: { socket: Socket; ready: 'connect' | 'secureConnect' }, proposal: Proposal, surroundings: Surroundings) {
		const { limits, metrics, signal } = surroundings;
		this.#socket = socket;
		this.#proposal = proposal;
		this.#limits = limits;
		this.#metrics = metrics;
		const bytes = { dataBytesMax: limits.dimsePduBytesMax, associateBytesMax: limits.dimseAssociateBytesMax };
		this.#reader = new PduReader(bytes, 'A-ASSOCIATE-AC');
		this.#responses = new ResponseReader(limits.dimsePduBytesMax);
		this.established = new Promise((resolve, reject) => {
			this.#settle = { resolve, reject };
		});
		const cancel = () => this.#give('cancelled', 'was given up');
		signal?.addEventListener('abort', cancel, { once: true });
		this.closed = new Promise((resolve) => {
			socket.once('close', () => {
				signal?.removeEventListener('abort', cancel);
				this.#on('Transport connection closed indication');
				clearTimeout(this.#artim);
				clearTimeout(this.#patience);
				resolve();
			});
		});
		socket.once(ready, () => this.#on('Transport Conn. Confirmation (local transport service)'));
		socket.on('data', (chunk: Buffer) => this.#onData(chunk));
		socket.on('end', () => this.#on('Transport connection closed indication'));
		socket.on('error', (error: NodeJS.ErrnoException) => {
			const failure = this.#state === 'Sta4' ? 'unreachable' : 'aborted';
			this.#fail(failure, `${failure === 'unreachable' ? 'cannot be reached' : 'broke off'}: ${error.code ?? 'connection failed'}`, error);
		});
		this.#on('A-ASSOCIATE Request (local user)');
	}

	get contexts(): readonly UsableContext[] {
		return this.#acceptance.contexts;
	}

	get usable(): boolean {
		return this.#state === 'Sta6';
	}

	async send(
		context: UsableContext,
		request: OutgoingRequest,
		dataSet?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
	): Promise<DimseAnswer> {
		if (this.#sending) throw new Error('a request is under way on this association');
		if (!this.usable) throw this.#ended();
		this.#sending = true;
		clearTimeout(this.#patience);
		this.#messageId = (this.#messageId % 0xffff) + 1;
		this.#responses.expect(context.id, request.operation, this.#messageId);
		const answered = new Promise<DimseAnswer>((resolve, reject) => {
			this.#awaited = { resolve, reject };
		});
		// The answer may fail while the data set is still being sent, which then ends with the same failure.
		answered.catch(() => undefined);
		try {
			const command = requestSet(this.#messageId, request, dataSet !== undefined);
			await this.#transfer(context.id, 'command', command, true);
			if (dataSet !== undefined) await this.#sendDataSet(context.id, dataSet);
			if (this.#awaited !== undefined) this.#expectWithin(this.#limits.dimseResponseMsMax, 'did not answer');
			const answer = await answered;
			this.#metrics.dimseRequestsSent.inc({ operation: request.operation, outcome: outcomeOf(answer.status) });
			return answer;
		} catch (error) {
			this.#metrics.dimseRequestsSent.inc({ operation: request.operation, outcome: 'abandoned' });
			throw error;
		} finally {
			this.#sending = false;
			if (this.usable) this.#idle();
		}
	}

	async #sendDataSet(contextId: number, dataSet: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
		// Every fragment but the last has an even length (PS3.8 §E.1), whatever the length of the pieces.
		let held: Uint8Array = Buffer.alloc(0);
		try {
			for await (const piece of dataSet) {
				const even = held.length & ~1;
				if (even > 0) await this.#transfer(contextId, 'data-set', held.subarray(0, even), false);
				held = even < held.length ? Buffer.concat([held.subarray(even), piece]) : piece;
			}
		} catch (error) {
			this.#give('cancelled', 'was given up: the data set could not be read');
			throw error;
		}
		await this.#transfer(contextId, 'data-set', held, true);
	}

	/** Resolves when there is room for more. */
	async #transfer(contextId: number, kind: 'command' | 'data-set', bytes: Uint8Array, isLast: boolean): Promise<void> {
		if (this.#state !== 'Sta6') throw this.#ended();
		if (this.#socket.write(dataTransfer(contextId, kind, bytes, this.#acceptance.pduBytesMax, isLast))) return;
		const stalled = setTimeout(() => {
			this.#give('timeout', 'took nothing of a request');
			// The peer would not read the A-ABORT either.
			this.#socket.destroy();
		}, this.#limits.dimseStallMsMax);
		await new Promise<void>((resolve) => {
			const go = () => {
				this.#socket.off('drain', go).off('close', go);
				resolve();
			};
			this.#socket.on('drain', go).on('close', go);
		});
		clearTimeout(stalled);
	}

	release(): Promise<void> {
		if (this.#sending) this.abort();
		else this.#on('A-RELEASE Request primitive');
		return this.closed;
	}

	abort(): void {
		this.#give('cancelled', 'was given up');
	}

	get #peer(): string {
		return this.#proposal.calledAe;
	}

	#ended(): AssociationError {
		return this.#failure ?? new AssociationError('cancelled', `the association to ${this.#peer} is over`);
	}

	#onData(chunk: Buffer): void {
		this.#metrics.dimseReceivedBytes.inc(chunk.length);
		this.#reader.feed(chunk);
		for (let event = this.#reader.next(); event !== undefined; event = this.#reader.next()) this.#take(event);
	}

	#take(event: PduEvent): void {
		if (event.kind === 'associate') this.#takeAccept(event.body);
		else if (event.kind === 'invalid') this.#fault(event.reason);
		else if (event.kind === 'fragment') {
			if (this.#state !== 'Sta6') return;
			const read = this.#responses.take(event);
			if (typeof read === 'string') this.#fault(read);
			else if (read !== undefined) this.#answer(read);
		} else {
			if (event.type === 'A-ASSOCIATE-RJ' && this.#state === 'Sta5') this.#settleWith(rejectedBy(this.#peer, event.body));
			else if (event.type === 'A-ABORT') this.#fail('aborted', 'aborted the association');
			else if (event.type !== 'A-ASSOCIATE-RJ') this.#abortReason = 'unexpected-PDU';
			this.#on(`${event.type} PDU`);
		}
	}

	#answer(answer: DimseAnswer): void {
		clearTimeout(this.#patience);
		this.#awaited?.resolve(answer);
		this.#awaited = undefined;
	}

	#takeAccept(body: Buffer): void {
		if (this.#state === 'Sta5') {
			try {
				this.#acceptance = readAssociateAccept(body, this.#proposal);
			} catch (error) {
				if (!(error instanceof AssociateRequestError)) throw error;
				this.#fault('invalid-PDU-parameter-value');
				return;
			}
		}
		this.#abortReason = 'unexpected-PDU';
		this.#on('A-ASSOCIATE-AC PDU');
	}

	#fault(reason: AbortReason): void {
		this.#abortReason = reason;
		this.#on('Unrecognized or invalid PDU received');
	}

	/** Fails the association. The first failure counts: everything that waits, now or later, rejects with it. */
	#fail(failure: AssociationFailure, what: string, cause?: unknown): void {
		this.#settleWith(new AssociationError(failure, `${this.#peer} ${what}`, { cause }));
	}

	#settleWith(error: AssociationError): void {
		this.#failure ??= error;
		clearTimeout(this.#patience);
		this.#settle.reject(this.#failure);
		this.#awaited?.reject(this.#failure);
		this.#awaited = undefined;
	}

	#give(failure: AssociationFailure, what: string): void {
		if (this.#state !== 'Sta13' && this.#state !== 'Sta1') this.#fail(failure, what);
		this.#on('A-ABORT Request primitive');
	}

	#expectWithin(ms: number, what: string): void {
		clearTimeout(this.#patience);
		this.#patience = setTimeout(() => this.#give('timeout', what), ms);
	}

	#idle(): void {
		clearTimeout(this.#patience);
		this.#patience = setTimeout(() => void this.release(), this.#limits.dimseIdleMsMax);
	}

	#on(event: RequestorEvent): void {
		const step = requestorTransition(this.#state, event);
		if (step === undefined) return;
		this.#state = step.next;
		this.#actions[step.action]();
	}

	readonly #actions: Record<RequestorAction, () => void> = {
		'AE-1': () => this.#expectWithin(this.#limits.dimseConnectMsMax, 'did not accept the association in time'),
		'AE-2': () => this.#socket.write(associateRequest(this.#proposal)),
		'AE-3': () => this.#establish(),
		'AE-4': () => this.#socket.destroySoon(),
		'DT-2': () => undefined,
		'AR-1': () => {
			clearTimeout(this.#patience);
			this.#socket.write(releaseRequest);
			this.#startArtim();
		},
		'AR-2': () => {
			this.#fail('aborted', 'released the association');
			this.#on('A-RELEASE Response primitive');
		},
		'AR-3': () => this.#socket.destroySoon(),
		'AR-4': () => {
			this.#socket.write(releaseResponse);
			this.#startArtim();
		},
		'AR-5': () => this.#socket.destroySoon(),
		'AR-6': () => undefined,
		'AR-8': () => this.#on('A-RELEASE Response primitive'),
		'AR-9': () => this.#socket.write(releaseResponse),
		'AA-1': () => this.#abort('service-user'),
		'AA-2': () => this.#socket.destroy(),
		'AA-3': () => this.#socket.destroy(),
		'AA-4': () => {
			this.#fail('aborted', 'closed the connection');
			this.#socket.destroy();
		},
		'AA-6': () => undefined,
		'AA-7': () => {
			if (this.#socket.writable) this.#socket.write(abort('service-provider', this.#abortReason));
		},
		'AA-8': () => {
			this.#fail('protocol', `broke the protocol: ${this.#abortReason}`);
			this.#abort('service-provider');
		},
	};

	#establish(): void {
		if (this.contexts.length === 0) {
			this.#fail('no-context', 'accepts none of the presentation contexts');
			this.#on('A-RELEASE Request primitive');
			return;
		}
		this.#settle.resolve();
		this.#idle();
	}

	#abort(source: 'service-user' | 'service-provider'): void {
		// The A-ABORT goes out after everything written before. The peer closes the connection, or the timer does.
		this.#socket.end(abort(source, this.#abortReason));
		this.#startArtim();
	}

	/** Starts the time in which the peer must answer the release, or close the connection after an abort. */
	#startArtim(): void {
		clearTimeout(this.#artim);
		this.#artim = setTimeout(() => {
			this.#on('ARTIM timer expired');
			this.#socket.destroy();
		}, this.#limits.dimseArtimMsMax);
	}
}

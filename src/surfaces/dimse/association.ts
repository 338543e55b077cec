import type { Socket } from 'node:net';
import { readInPlace } from '../tcp/in-place.ts';
import { type Admission, type Admitted, admissionOf, noRoom, noteRejection, type Room } from './admission.ts';
import { type AssociateRequest, AssociateRequestError, readAssociateRequest } from './associate-request.ts';
import type { DimseContext, EndedAssociation, EndReason } from './context.ts';
import { Messages } from './messages.ts';
import { canBeAnswered, negotiate } from './negotiation.ts';
import { type AbortReason, abort, associateReject, type Rejection, releaseResponse } from './pdu.ts';
import { type PduEvent, PduReader } from './pdu-reader.ts';
import type { ServiceClass } from './service.ts';
import { type Action, type State, transition, type UpperLayerEvent } from './upper-layer.ts';

/**
 * Bytes of answers that the peer has not read. Above this nothing more is read from the peer. Answers are some hundred bytes, so it is no
 * setting.
 */
const unsentBytesMax = 64 * 1024;
/** Above this the peer counts as hostile. */
const floodBytesMax = 1024 * 1024;

/** The surface as an association sees it. */
export interface AssociationHost {
	services: readonly ServiceClass[];
	/** Takes room for one more established association of the site. */
	takeRoom(by: Admitted): Room | Promise<Room>;
	giveRoom(by: Pick<Admitted, 'siteId' | 'clientId'>): void;
}

/** One transport connection and the association on it (PS3.8 §9.2). It ends by itself; `closed` resolves when the socket is gone. */
export class Association {
	readonly closed: Promise<void>;
	readonly #context: DimseContext;
	readonly #host: AssociationHost;
	readonly #socket: Socket;
	readonly #address: string;
	readonly #reader: PduReader;
	#state: State = 'Sta1';
	#request: AssociateRequest | undefined;
	/** Settles when it is known whether there is room for the association. */
	#deciding: Promise<void> | undefined;
	#messages: Messages | undefined;
	/** Facts about the accepted association that are noted at its end. */
	#accepted: Pick<EndedAssociation, 'siteId' | 'clientId' | 'startedMs' | 'requests' | 'studies'> | undefined;
	#bytes = 0;
	#rejection: Rejection = 'called';
	#abortReason: AbortReason = 'reason-not-specified';
	#endReason: EndReason | undefined;
	/** True while input of the peer is being processed. Nothing more is read meanwhile. */
	#waiting = false;
	#draining = false;
	#lastActivityMs: number;
	#artim: NodeJS.Timeout | undefined;
	#watch: NodeJS.Timeout | undefined;

	constructor(socket: Socket, address: string, context: DimseContext, host: AssociationHost) {
		this.#context = context;
		this.#host = host;
		this.#socket = socket;
		this.#address = address;
		this.#reader = new PduReader({
			dataBytesMax: context.limits.dimsePduBytesMax,
			associateBytesMax: context.limits.dimseAssociateBytesMax,
		});
		this.#lastActivityMs = context.clock.nowMs();
		this.closed = new Promise((resolve) => {
			socket.once('close', () => {
				this.#onClose();
				resolve();
			});
		});
		readInPlace(socket, (chunk) => this.#onData(chunk));
		socket.on('end', () => this.#on('Transport connection closed indication'));
		socket.on('error', (error) => {
			this.#endReason ??= 'error';
			context.log.debug({ address, code: (error as NodeJS.ErrnoException).code }, 'DIMSE connection failed');
		});
		this.#on('Transport Connection Indication');
		socket.resume();
	}

	/** Reads and answers the current message and then aborts. The side that accepted an association has no other way to end it. */
	drain(): void {
		this.#draining = true;
		if (this.#messages?.underWay) return;
		this.#endReason ??= 'drained';
		this.#on('A-ABORT request primitive');
		this.#socket.destroySoon();
	}

	destroy(): void {
		this.#endReason ??= 'drained';
		this.#socket.destroy();
	}

	/** The memory of the chunk is reused for the next one. */
	#onData(chunk: Buffer): void {
		this.#lastActivityMs = this.#context.clock.nowMs();
		this.#bytes += chunk.length;
		this.#context.metrics.dimseReceivedBytes.inc(chunk.length);
		if (this.#waiting) {
			this.#reader.append(chunk);
			this.#socket.pause();
			return;
		}
		this.#reader.feed(chunk);
		this.#pump();
		this.#reader.keep();
	}

	/** A fault of this program ends only this association. */
	#pump(): void {
		try {
			this.#takeAll();
			if (this.#draining && !this.#waiting) this.drain();
		} catch (error) {
			this.#failed(error);
		}
	}

	#failed(error: unknown): void {
		this.#context.log.error({ err: error }, 'a DIMSE association failed');
		this.#endReason ??= 'error';
		this.#socket.destroy();
	}

	/** Processes one event after the other. An event that takes time holds up the next one and the socket. */
	#takeAll(): void {
		for (let event = this.#reader.next(); event !== undefined; event = this.#reader.next()) {
			const work = this.#take(event);
			if (work === undefined) continue;
			this.#setWaiting(true);
			// After a whole message the socket is read until something arrives; otherwise nobody would notice that the peer is gone.
			if (event.kind !== 'fragment' || !event.isLast) this.#socket.pause();
			work.then(
				() => this.#goOn(),
				(error) => this.#failed(error),
			);
			return;
		}
		this.#setWaiting(false);
	}

	#goOn(): void {
		this.#lastActivityMs = this.#context.clock.nowMs();
		if (this.#state === 'Sta1') return;
		// This comes before the next message, which may have arrived already.
		if (this.#draining) this.drain();
		this.#pump();
	}

	#setWaiting(waiting: boolean): void {
		if (waiting === this.#waiting) return;
		this.#waiting = waiting;
		if (waiting) this.#context.metrics.dimseAssociationsPaused.inc();
		else {
			this.#socket.resume();
			this.#context.metrics.dimseAssociationsPaused.dec();
		}
	}

	#take(event: PduEvent): Promise<void> | undefined {
		if (event.kind === 'fragment') return this.#state === 'Sta6' ? this.#messages?.take(event) : undefined;
		if (event.kind === 'associate') return this.#takeAssociateRequest(event.body);
		if (event.kind === 'invalid') this.#fault(event.reason);
		else {
			if (event.type === 'A-ABORT') this.#endReason ??= 'peer-abort';
			else this.#abortReason = 'unexpected-PDU';
			this.#on(`${event.type} PDU`);
		}
		return undefined;
	}

	#fault(reason: AbortReason): undefined {
		this.#abortReason = reason;
		this.#on('Unrecognized or invalid PDU received');
	}

	/** Returns a promise while the room for the association is asked for. */
	#takeAssociateRequest(body: Buffer): Promise<void> | undefined {
		if (this.#state === 'Sta2') {
			try {
				this.#request = readAssociateRequest(body);
			} catch (error) {
				if (!(error instanceof AssociateRequestError)) throw error;
				return this.#fault('invalid-PDU-parameter-value');
			}
			if (!canBeAnswered(this.#request)) return this.#fault('invalid-PDU-parameter-value');
		}
		this.#abortReason = 'unexpected-PDU';
		this.#on('A-ASSOCIATE-RQ PDU');
		return this.#deciding;
	}

	#on(event: UpperLayerEvent): void {
		const step = transition(this.#state, event);
		if (step === undefined) return;
		this.#state = step.next;
		this.#actions[step.action]();
	}

	readonly #actions: Record<Action, () => void> = {
		'AE-5': () => this.#startArtim(),
		'AE-6': () => {
			this.#stopArtim();
			this.#decide();
		},
		'AE-7': () => this.#watchIn(this.#context.limits.dimseStallMsMax),
		'AE-8': () => {
			this.#write(associateReject(this.#rejection));
			this.#endReason ??= 'rejected';
			this.#startArtim();
		},
		'DT-2': () => undefined,
		'AR-2': () => {
			this.#endMessages();
			this.#on('A-RELEASE response primitive');
		},
		'AR-4': () => {
			this.#endReason ??= 'released';
			this.#write(releaseResponse);
			this.#startArtim();
		},
		'AR-5': () => this.#close('closed'),
		'AA-1': () => this.#abort('service-user'),
		'AA-2': () => this.#close('artim'),
		'AA-3': () => this.#close('peer-abort'),
		'AA-4': () => this.#close('closed'),
		'AA-5': () => this.#close('closed'),
		'AA-6': () => undefined,
		'AA-7': () => this.#write(abort('service-provider', this.#abortReason)),
		'AA-8': () => this.#abort('service-provider'),
	};

	#abort(source: 'service-user' | 'service-provider'): void {
		this.#endReason ??= 'protocol';
		this.#write(abort(source, this.#abortReason));
		this.#endMessages();
		this.#startArtim();
	}

	#close(reason: EndReason): void {
		this.#endReason ??= reason;
		this.#stopArtim();
		this.#endMessages();
		this.#socket.destroy();
	}

	#endMessages(): void {
		clearTimeout(this.#watch);
		const messages = this.#messages;
		if (messages === undefined) return;
		this.#messages = undefined;
		this.#context.metrics.dimseAssociations.dec();
		if (this.#accepted !== undefined) this.#host.giveRoom(this.#accepted);
		messages.end().catch((error) => this.#context.log.error({ err: error }, 'a request could not be abandoned'));
	}

	/** Starts the time in which the peer must request an association or close the connection (PS3.8 §9.1.5). */
	#startArtim(): void {
		this.#stopArtim();
		this.#artim = setTimeout(() => this.#on('ARTIM timer expired'), this.#context.limits.dimseArtimMsMax);
	}

	#stopArtim(): void {
		clearTimeout(this.#artim);
	}

	#decide(): void {
		const request = this.#request;
		if (request === undefined) return;
		const { directory } = this.#context;
		const decision = this.#draining ? noRoom : admissionOf(request, this.#address, directory, (by) => this.#host.takeRoom(by));
		if (decision instanceof Promise) this.#deciding = decision.then((decided) => this.#settle(request, decided));
		else this.#settle(request, decision);
	}

	/** The peer may have gone while the room was asked for. */
	#settle(request: AssociateRequest, decision: Admission): void {
		const isWanted = this.#state === 'Sta3' && !this.#draining;
		if (decision.kind === 'accepted' && isWanted) {
			this.#accept(request, decision);
			return;
		}
		if (decision.kind === 'accepted') this.#host.giveRoom(decision);
		if (this.#state === 'Sta3') this.#reject(request, decision.kind === 'rejected' ? decision.rejection : 'limit');
	}

	#reject(request: AssociateRequest, rejection: Rejection): void {
		noteRejection(this.#context, this.#address, request, rejection);
		this.#rejection = rejection;
		this.#on('A-ASSOCIATE response primitive (reject)');
	}

	#accept(request: AssociateRequest, { siteId, clientId, grants }: Admitted): void {
		const { limits, metrics, clock } = this.#context;
		const { calledAe, callingAe } = request;
		const { accept, negotiated } = negotiate(request, this.#host.services, grants, limits.dimsePduBytesMax);
		metrics.dimseAssociationRequests.inc({ result: 'accepted' });
		metrics.dimseAssociations.inc();
		const peer = { calledAe, callingAe, address: this.#address, siteId };
		this.#messages = new Messages(this.#context, negotiated, peer, {
			send: (pdus) => this.#send(pdus),
			fault: (reason) => this.#fault(reason),
			refuse: () => this.#refuse(),
			abandon: () => this.#abandon(),
			idle: () => this.#idle(),
		});
		this.#accepted = { siteId, clientId, startedMs: clock.nowMs(), requests: this.#messages.requests, studies: this.#messages.studies };
		this.#write(accept);
		this.#on('A-ASSOCIATE response primitive (accept)');
	}

	#refuse(): undefined {
		this.#endReason ??= 'access';
		this.#context.metrics.accessRefusals.inc({ protocol: 'dicom', reason: 'calling' });
		this.#context.audit({ address: this.#address, reason: 'calling' });
		this.#on('A-ABORT request primitive');
	}

	/** Aborts, because a message that was partly sent cannot be completed. */
	#abandon(): void {
		this.#endReason ??= 'error';
		this.#on('A-ABORT request primitive');
	}

	/** Continues after a request with several responses was answered. */
	#idle(): void {
		this.#lastActivityMs = this.#context.clock.nowMs();
		if (this.#draining) this.drain();
	}

	#write(bytes: Buffer): void {
		if (!this.#socket.writable) return;
		this.#socket.write(bytes);
		if (this.#socket.writableLength > floodBytesMax) this.#socket.destroy();
	}

	#send(pdus: Buffer): Promise<void> | undefined {
		if (this.#state !== 'Sta6') return undefined;
		// The peer has read everything so far.
		if (this.#socket.writableLength === 0) this.#lastActivityMs = this.#context.clock.nowMs();
		this.#write(pdus);
		if (this.#socket.writableLength <= unsentBytesMax || this.#socket.destroyed) return undefined;
		return new Promise((resolve) => {
			const taken = () => {
				this.#socket.off('drain', taken).off('close', taken);
				this.#lastActivityMs = this.#context.clock.nowMs();
				resolve();
			};
			this.#socket.on('drain', taken).on('close', taken);
		});
	}

	#watchIn(ms: number): void {
		this.#watch = setTimeout(() => this.#look(), ms);
	}

	/** Checks for a peer that sends nothing, within a message or between two. Work on this side has limits of its own. */
	#look(): void {
		if (this.#state !== 'Sta6') return;
		const { dimseIdleMsMax, dimseStallMsMax } = this.#context.limits;
		const isUnsent = this.#socket.writableLength > 0;
		const isWithin = this.#reader.withinPdu || this.#messages?.underWay === true || isUnsent;
		const allowedMs = isWithin ? dimseStallMsMax : dimseIdleMsMax;
		const leftMs = this.#lastActivityMs + allowedMs - this.#context.clock.nowMs();
		// A message that begins in the meantime gets less time than the idle connection.
		if ((this.#waiting || this.#messages?.working === true) && !isUnsent) this.#watchIn(dimseStallMsMax);
		else if (leftMs > 0) this.#watchIn(Math.min(leftMs, dimseStallMsMax));
		else {
			this.#endReason ??= isWithin ? 'stalled' : 'idle';
			this.#on('A-ABORT request primitive');
		}
	}

	#onClose(): void {
		this.#on('Transport connection closed indication');
		this.#stopArtim();
		clearTimeout(this.#watch);
		if (this.#waiting) this.#context.metrics.dimseAssociationsPaused.dec();
		const end = this.#endReason ?? 'closed';
		this.#context.metrics.dimseAssociationEnds.inc({ reason: end });
		if (this.#accepted === undefined || this.#request === undefined) return;
		const { callingAe, calledAe } = this.#request;
		this.#context.auditAssociation({ ...this.#accepted, callingAe, calledAe, address: this.#address, bytes: this.#bytes, end });
	}
}

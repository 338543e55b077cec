import type { ClientGrant } from '#access/directory.ts';
import { Failure, type FailureCode } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import { acknowledgementId, renderAck } from '#hl7v2/ack.ts';
import { batchFlag, splitMessages } from '#hl7v2/batch.ts';
import { eventOf } from '#hl7v2/events/index.ts';
import { type MessageHead, readHead } from '#hl7v2/head.ts';
import type { Hl7v2Delivery, Reply } from '#record/delivery.ts';
import type { Flag } from '#record/flag.ts';
import { settingOf } from '#record/settings/settings.ts';
import type { Trace, TraceAttributes } from '#record/tracing.ts';
import { unmatchedFeed } from '#storage/feeds/counts.ts';
import type { EndReason, MllpContext } from './context.ts';
import type { Frame } from './frame.ts';

/** The socket as an exchange sees it. */
export interface ExchangeHost {
	/** Sends acknowledgements in the order of their messages; called once for all that are ready. */
	send(acks: readonly Uint8Array[]): void;
	/** Called when reading may have become possible or impossible. */
	progress(): void;
	/** Called when everything that can be answered is answered. Nothing more follows. */
	finished(reason: EndReason): void;
	/** Called when the service could not store for too long, or the client is paused. The connection must end without an answer. */
	abandon(reason: EndReason): void;
}

interface Entry {
	/** The id of the delivery, the same on every try. */
	id: string;
	bytes: Uint8Array;
	batchFlag: Flag | undefined;
	/** The length of a frame over the limit; `bytes` then holds its head. */
	tooLong: number | undefined;
	receivedAtMs: number;
	receivedTick: number;
	/** The time at which the site's mailbox was first asked to take the message. */
	triedAtMs: number | undefined;
	state: 'waiting' | 'delivering' | 'failed' | 'answered';
	/** Its client was paused when it was last looked at. */
	isPaused: boolean;
	acks: readonly Uint8Array[];
	/** Set when the message is traced. */
	trace: Trace | undefined;
	/** The site to which it belongs, and why it was refused here. */
	site: string | undefined;
	refusal: FailureCode | undefined;
}

/** A full or missing mailbox is asked again no sooner than this, even when it reports that it has room. */
const holdMs = 50;

/** A message of a paused client is looked at again this often. */
const pausedMs = 500;

/**
 * The messages of one connection, judged, delivered and answered in the order in which they arrived.
 * If a message cannot be stored, nothing after it is delivered until it is stored. This keeps the order.
 */
export class Exchange {
	readonly #context: MllpContext;
	readonly #address: string;
	readonly #host: ExchangeHost;
	readonly #acknowledgementSeconds: { observe(seconds: number): void };
	/** Messages in the order of receipt; the first one is answered next. */
	#entries: Entry[] = [];
	#delivering = 0;
	#failed = 0;
	#held = false;
	#ending: EndReason | undefined;
	#finished = false;
	#patience: NodeJS.Timeout | undefined;
	#holdTimer: NodeJS.Timeout | undefined;

	constructor(context: MllpContext, address: string, host: ExchangeHost) {
		this.#context = context;
		this.#address = address;
		this.#host = host;
		this.#acknowledgementSeconds = context.metrics.acknowledgementSeconds.labels({ surface: 'mllp' });
	}

	get wantsMore(): boolean {
		if (this.#held || this.#failed > 0 || this.#ending !== undefined) return false;
		return this.#entries.length < this.#context.limits.mllpConnectionMessagesMax;
	}

	get empty(): boolean {
		return this.#entries.length === 0;
	}

	/** Takes the frames that the reader found. A batch (FHS/BHS) counts as its messages. */
	take(frames: readonly Frame[]): void {
		if (this.#ending !== undefined || frames.length === 0) return;
		const receivedAtMs = this.#context.clock.nowMs();
		const receivedTick = performance.now();
		const { tracing } = this.#context;
		const start = { kind: 'consumer', name: 'HL7 v2 message', surface: 'mllp', startedMs: receivedTick } as const;
		for (const frame of frames) {
			const tooLong = frame.kind === 'too-long' ? frame.length : undefined;
			const messages = frame.kind === 'too-long' ? [frame.head] : splitMessages(frame.bytes);
			const flag = frame.kind === 'too-long' || messages[0] === frame.bytes ? undefined : batchFlag(frame.bytes);
			for (const bytes of messages) {
				const id = newId(receivedAtMs);
				this.#entries.push({
					id,
					bytes,
					batchFlag: flag,
					tooLong,
					receivedAtMs,
					receivedTick,
					triedAtMs: undefined,
					state: 'waiting',
					isPaused: false,
					acks: [],
					trace: tracing?.begin(start),
					site: undefined,
					refusal: undefined,
				});
			}
		}
		this.#pump();
	}

	/** Delivers nothing more. `finished` follows when the messages under way are answered. */
	end(reason: EndReason): void {
		if (this.#ending !== undefined) return;
		this.#ending = reason;
		this.#dropFrom('waiting', 'failed');
		this.#flush();
	}

	/** Messages after an undelivered one can no longer be answered in order; their sender sends them again. */
	#dropFrom(...states: Entry['state'][]): void {
		const first = this.#entries.findIndex(({ state }) => states.includes(state));
		if (first !== -1) this.#drop(this.#entries.splice(first));
	}

	/** Ends the traces of messages that are not answered. */
	#drop(entries: readonly Entry[]): void {
		if (this.#context.tracing === undefined) return;
		for (const { trace, site } of entries) trace?.end({ error: 'unanswered', ...(site && { attributes: { 'tributary.site': site } }) });
	}

	/** Ends the exchange, because the socket is gone. Nothing is delivered or answered from here on. */
	close(): void {
		this.#finished = true;
		this.#ending ??= 'error';
		this.#drop(this.#entries);
		this.#entries = [];
		clearTimeout(this.#patience);
		clearTimeout(this.#holdTimer);
	}

	#pump(): void {
		// The window begins at the earliest unanswered message, so a slow first message limits how many are under way after it.
		for (let index = 0; index < this.#context.limits.mllpConnectionMessagesMax; index++) {
			const entry = this.#entries[index];
			if (entry === undefined || this.#held || this.#failed > 0 || this.#ending !== undefined) break;
			if (entry.state === 'waiting') this.#judge(entry);
		}
		this.#flush();
		if (this.#entries[0]?.state === 'waiting' && !this.#held && this.#failed === 0 && this.#ending === undefined)
			setImmediate(() => this.#pump());
	}

	#judge(entry: Entry): void {
		const head = readHead(entry.bytes) ?? noHead;
		const match = this.#context.directory.matchSender('hl7-mllp', this.#address, head.application, head.facility);
		if (match.kind === 'no-address') {
			this.#context.metrics.accessRefusals.inc({ protocol: 'hl7-mllp', reason: 'address' });
			this.#context.audit({ address: this.#address, reason: 'address' });
			this.end('address');
		} else if (match.kind === 'unavailable') {
			this.#awaitDirectory(entry);
		} else if (match.kind !== 'match') {
			this.#refuseUnmatched(entry, head, match.kind);
		} else if (this.#isPaused(entry, match.grant)) {
			this.#awaitResumption(entry);
		} else if (entry.tooLong !== undefined) {
			const text = `the message has ${entry.tooLong} bytes; at most ${this.#context.limits.mllpFrameBytesMax} are allowed`;
			this.#refuse(entry, head, new Failure('value-too-long', text));
			this.#context.metrics.siteMessages.inc({ site: match.grant.siteSlug, outcome: 'refused' });
			this.#context.feeds.refused(match.grant.siteId, match.grant.clientId, this.#context.clock.nowMs());
		} else {
			this.#deliver(entry, match.grant);
		}
	}

	/** The sender cannot be determined at the moment. The message waits, as one that cannot be stored does. */
	#awaitDirectory(entry: Entry): void {
		entry.triedAtMs ??= this.#context.clock.nowMs();
		this.#startPatience();
		this.#hold();
	}

	#isPaused(entry: Entry, { settings }: ClientGrant): boolean {
		const isPaused = settingOf(settings, 'paused');
		// The time for which it was paused is none in which the service could not store.
		if (entry.isPaused && !isPaused) entry.triedAtMs = undefined;
		entry.isPaused = isPaused;
		return isPaused;
	}

	/**
	 * Nothing more is read while the client is paused, and its message stays unanswered. After UNAVAILABLE_MS_MAX the connection ends: a sender that
	 * has long gone must not keep one for each of its attempts.
	 */
	#awaitResumption(entry: Entry): void {
		entry.triedAtMs ??= this.#context.clock.nowMs();
		this.#startPatience();
		this.#hold(undefined, pausedMs);
	}

	#refused(reason: 'sender' | 'tie'): void {
		this.#context.metrics.accessRefusals.inc({ protocol: 'hl7-mllp', reason });
		this.#context.warn({ address: this.#address, reason });
	}

	#refuseUnmatched(entry: Entry, head: MessageHead, reason: 'no-sender' | 'tie'): void {
		this.#refused(reason === 'tie' ? 'tie' : 'sender');
		const { id, receivedAtMs, bytes } = entry;
		const { messageType, controlId, application, facility } = head;
		// If only one site has this address, its people look after such messages.
		const siteId = this.#context.directory.siteAt(this.#address);
		const named = { sendingApplication: application, sendingFacility: facility };
		const what = { id, receivedAtMs, reason, messageType, controlId, bytes, siteId, ...named };
		this.#context.unmatched.record({ ...what, surface: 'mllp', source: this.#address });
		this.#context.feeds.refused(siteId, unmatchedFeed, this.#context.clock.nowMs());
		const text =
			reason === 'tie'
				? 'MSH-3 and MSH-4 match integration clients of more than one site'
				: 'MSH-3 and MSH-4 match no integration client with this address';
		this.#refuse(entry, head, new Failure('sender-not-authorized', text, { location: { segment: 'MSH', sequence: 1, field: 3 } }));
	}

	#refuse(entry: Entry, head: MessageHead, failure: Failure): void {
		this.#count('refused', head.messageType, failure.code);
		entry.refusal = failure.code;
		const { bytes, id } = entry;
		this.#answer(entry, [
			renderAck({ source: bytes, code: 'AE', controlId: acknowledgementId(id, 'AE'), nowMs: this.#context.clock.nowMs(), failure }),
		]);
	}

	#count(outcome: Reply['outcome'], messageType: string, code: FailureCode | undefined): void {
		this.#context.metrics.hl7Messages.inc({ surface: 'mllp', type: eventOf(messageType)?.messageType ?? 'other', outcome });
		if (code !== undefined) this.#context.metrics.hl7Refusals.inc({ surface: 'mllp', code });
	}

	#deliver(entry: Entry, grant: ClientGrant): void {
		const { gateway, clock } = this.#context;
		entry.triedAtMs ??= clock.nowMs();
		this.#startPatience();
		if (!gateway.available() || !gateway.hasRoom(grant.siteId, grant.clientId, entry.bytes.length)) {
			this.#hold(grant.siteId);
			return;
		}
		entry.state = 'delivering';
		this.#delivering += 1;
		const { id, bytes, receivedAtMs } = entry;
		const { siteId, clientId, settings } = grant;
		const delivery: Hl7v2Delivery = {
			id,
			kind: 'hl7v2',
			siteId,
			clientId,
			surface: 'mllp',
			source: this.#address,
			receivedAtMs,
			bytes,
			settings,
		};
		if (entry.batchFlag) delivery.batchFlag = entry.batchFlag;
		if (entry.trace !== undefined) {
			entry.site = grant.siteSlug;
			delivery.trace = entry.trace.ids;
		}
		gateway.deliver(delivery).then(
			(reply) => {
				this.#delivering -= 1;
				if (this.#finished) return;
				this.#count(reply.outcome, reply.messageType, reply.failure?.code);
				this.#context.metrics.siteMessages.inc({ site: grant.siteSlug, outcome: reply.outcome });
				this.#answer(entry, reply.answer.acknowledgements);
				this.#settled(siteId);
			},
			(error: unknown) => {
				this.#delivering -= 1;
				if (this.#finished) return;
				// A failure of the service is not the message's fault: the message is tried again and never answered with AE.
				if (!(error instanceof Failure && error.code === 'unavailable'))
					this.#context.log.error({ err: error, id, ...entry.trace?.ids }, 'delivery failed');
				entry.state = 'failed';
				this.#failed += 1;
				this.#settled(siteId);
			},
		);
	}

	#answer(entry: Entry, acks: readonly Uint8Array[]): void {
		entry.acks = acks;
		entry.state = 'answered';
		entry.bytes = noBytes;
	}

	/** After a failure it waits until no later message is under way and then tries again from the earliest. */
	#settled(siteId: string): void {
		if (this.#failed > 0 && this.#ending !== undefined) {
			this.#dropFrom('failed');
			this.#failed = 0;
		} else if (this.#failed > 0 && this.#delivering === 0) {
			for (const entry of this.#entries) if (entry.state === 'failed') entry.state = 'waiting';
			this.#failed = 0;
			this.#hold(siteId);
		}
		this.#pump();
	}

	/** Stops delivering for a moment, at most until the site's mailbox may have room. */
	#hold(siteId?: string, ms = holdMs): void {
		if (this.#held) return;
		this.#held = true;
		const pause = new Promise<void>((resolve) => {
			this.#holdTimer = setTimeout(resolve, ms);
		});
		const resume = () => {
			if (this.#finished) return;
			this.#held = false;
			this.#pump();
		};
		const room = siteId === undefined ? undefined : this.#context.gateway.whenRoom(siteId);
		Promise.all([pause, room]).then(resume, (error: unknown) => {
			this.#context.log.error({ err: error }, 'waiting for room failed');
			resume();
		});
	}

	#startPatience(): void {
		if (this.#patience === undefined) this.#checkPatienceIn(this.#context.limits.unavailableMsMax);
	}

	#checkPatienceIn(ms: number): void {
		this.#patience = setTimeout(() => {
			this.#patience = undefined;
			this.#checkPatience();
		}, ms);
	}

	#checkPatience(): void {
		const first = this.#entries[0];
		const triedAtMs = first?.triedAtMs;
		if (this.#finished || first === undefined || triedAtMs === undefined) return;
		const remainingMs = triedAtMs + this.#context.limits.unavailableMsMax - this.#context.clock.nowMs();
		if (remainingMs <= 0) this.#host.abandon(first.isPaused ? 'paused' : 'unavailable');
		else this.#checkPatienceIn(remainingMs);
	}

	#flush(): void {
		const unanswered = this.#entries.findIndex(({ state }) => state !== 'answered');
		const ready = this.#entries.splice(0, unanswered === -1 ? this.#entries.length : unanswered);
		if (ready.length > 0) {
			// The acknowledgement is sent only here, after `deliver` resolved and thus after the commit.
			this.#host.send(ready.flatMap(({ acks }) => acks));
			const now = performance.now();
			for (const { receivedTick, trace, site, refusal } of ready) {
				this.#acknowledgementSeconds.observe((now - receivedTick) / 1000);
				trace?.end({ error: refusal, attributes: traced(site, refusal) });
			}
		}
		if (this.#finished) return;
		if (this.#ending !== undefined && this.#entries.length === 0) {
			this.#finished = true;
			clearTimeout(this.#patience);
			clearTimeout(this.#holdTimer);
			this.#host.finished(this.#ending);
		} else {
			this.#host.progress();
		}
	}
}

function traced(site: string | undefined, refusal: FailureCode | undefined): TraceAttributes {
	return { ...(site && { 'tributary.site': site }), ...(refusal && { 'tributary.outcome': 'refused' }) };
}

const noBytes = new Uint8Array(0);
/** The head of bytes that do not begin with MSH. It matches clients that leave both fields open. */
const noHead: MessageHead = { application: '', facility: '', messageType: '', controlId: '' };

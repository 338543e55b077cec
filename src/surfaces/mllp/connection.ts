import type { Socket } from 'node:net';
import { proxySignature } from '../tcp/proxy-header.ts';
import type { EndReason, MllpContext } from './context.ts';
import { Exchange } from './exchange.ts';
import { type Frame, FrameReader, frameAll } from './frame.ts';

/** Bytes of acknowledgements that the peer has not read yet. Above this nothing more is read from it. No peer is refused for it, so it is no setting. */
const unsentBytesMax = 256 * 1024;
/** How long nothing must follow a FS for it to end a block without a CR. Senders without CR are rare, and wait for their answer. */
const endSilenceMs = 1000;
/** The time that a peer has to close its side after ours, so that the last acknowledgement is not lost to a reset. */
const lingerMs = 2000;

/** One MLLP connection from an allowed address. It ends by itself; `closed` resolves when the socket is gone. */
export class MllpConnection {
	readonly closed: Promise<void>;
	readonly #context: MllpContext;
	readonly #socket: Socket;
	readonly #address: string;
	readonly #reader: FrameReader;
	readonly #exchange: Exchange;
	/** The first bytes, held until they can no longer be a PROXY signature. */
	#preamble: Buffer | undefined;
	#paused = false;
	#inputEnded = false;
	#endReason: EndReason | undefined;
	#lastActivityMs: number;
	#watch: NodeJS.Timeout | undefined;
	#linger: NodeJS.Timeout | undefined;
	#endSilence: NodeJS.Timeout | undefined;

	/** `proxied` means that the address came with a PROXY header. From any other peer such a header is refused. */
	constructor(socket: Socket, address: string, proxied: boolean, context: MllpContext) {
		this.#context = context;
		this.#socket = socket;
		this.#address = address;
		this.#reader = new FrameReader(context.limits.mllpFrameBytesMax);
		this.#preamble = proxied ? undefined : Buffer.alloc(0);
		this.#lastActivityMs = context.clock.nowMs();
		this.#exchange = new Exchange(context, address, {
			send: (acks) => this.#send(acks),
			progress: () => this.#regulate(),
			finished: (reason) => this.#end(reason),
			abandon: (reason) => this.#destroy(reason),
		});
		this.closed = new Promise((resolve) => {
			socket.once('close', () => {
				this.#onClose();
				resolve();
			});
		});
		context.metrics.mllpConnections.inc();
		socket.on('data', (chunk: Buffer) => this.#onData(chunk));
		socket.on('end', () => this.#onInputEnd());
		socket.on('drain', () => this.#onDrain());
		socket.on('error', (error) => {
			this.#endReason ??= 'error';
			this.#context.log.debug({ address, code: (error as NodeJS.ErrnoException).code }, 'MLLP connection failed');
		});
		socket.resume();
		this.#watchIn(Math.min(context.limits.mllpFrameMsMax, context.limits.mllpIdleMsMax));
	}

	/** Reads nothing more, answers the messages under way, then ends. */
	drain(): void {
		this.#exchange.end('drained');
		this.#regulate();
	}

	destroy(): void {
		this.#destroy('drained');
	}

	#onData(chunk: Buffer): void {
		if (this.#endReason !== undefined) return;
		this.#lastActivityMs = this.#context.clock.nowMs();
		this.#context.metrics.mllpReceivedBytes.inc(chunk.length);
		const bytes = this.#preamble === undefined ? chunk : this.#passPreamble(chunk, this.#preamble);
		if (bytes === undefined) return;
		this.#take(this.#reader.push(bytes));
		if (this.#reader.mayEnd) this.#awaitEnd();
		this.#regulate();
	}

	#take(frames: readonly Frame[]): void {
		this.#count(frames.length);
		for (const frame of frames) if (frame.kind === 'too-long') this.#context.metrics.mllpFrameErrors.inc({ reason: 'too-long' });
		this.#exchange.take(frames);
	}

	/** A FS that nothing follows ends its block. What follows may wait in the socket, while reading pauses or the process was busy. */
	#awaitEnd(): void {
		clearTimeout(this.#endSilence);
		const timer = setTimeout(() => setImmediate(() => this.#settle(timer)), endSilenceMs);
		this.#endSilence = timer;
	}

	#settle(timer: NodeJS.Timeout): void {
		if (this.#endReason !== undefined || timer !== this.#endSilence || !this.#reader.mayEnd) return;
		if (this.#paused) {
			this.#awaitEnd();
			return;
		}
		this.#take(this.#reader.settle());
		this.#regulate();
	}

	/** Only a trusted proxy may state on whose behalf it calls. */
	#passPreamble(chunk: Buffer, before: Buffer): Buffer | undefined {
		const bytes = before.length === 0 ? chunk : Buffer.concat([before, chunk]);
		const signature = proxySignature(bytes);
		if (signature === 'maybe') {
			this.#preamble = bytes;
			return undefined;
		}
		this.#preamble = undefined;
		if (signature === 'no') return bytes;
		this.#context.metrics.accessRefusals.inc({ protocol: 'hl7-mllp', reason: 'proxy' });
		this.#context.audit({ address: this.#address, reason: 'proxy' });
		this.#destroy('proxy');
		return undefined;
	}

	#count(frames: number): void {
		const { metrics } = this.#context;
		const { skipped, restarted, empty } = this.#reader.takeCounts();
		if (frames > 0) metrics.mllpFrames.inc(frames);
		if (skipped > 0) metrics.mllpSkippedBytes.inc(skipped);
		if (restarted > 0) metrics.mllpFrameErrors.inc({ reason: 'restarted' }, restarted);
		if (empty > 0) metrics.mllpFrameErrors.inc({ reason: 'empty' }, empty);
	}

	#onInputEnd(): void {
		this.#inputEnded = true;
		if (this.#endReason !== undefined) return;
		this.#take(this.#reader.settle());
		this.#countUnfinished();
		this.#regulate();
	}

	#countUnfinished(): void {
		if (this.#reader.insideFrame && this.#endReason !== 'frame-timeout')
			this.#context.metrics.mllpFrameErrors.inc({ reason: 'unfinished' });
	}

	#onDrain(): void {
		this.#lastActivityMs = this.#context.clock.nowMs();
		this.#regulate();
	}

	#send(acks: readonly Uint8Array[]): void {
		if (acks.length === 0 || !this.#socket.writable) return;
		this.#lastActivityMs = this.#context.clock.nowMs();
		this.#socket.write(frameAll(acks));
	}

	/** Reads while there is room for more and the peer reads its answers. Ends when a peer that has ended has all its answers. */
	#regulate(): void {
		if (this.#endReason !== undefined) return;
		if (this.#inputEnded) {
			if (this.#exchange.empty) this.#end('peer');
			return;
		}
		const pause = !this.#exchange.wantsMore || this.#socket.writableLength > unsentBytesMax;
		if (pause === this.#paused) return;
		this.#paused = pause;
		if (pause) {
			this.#context.metrics.mllpConnectionsPaused.inc();
			this.#socket.pause();
		} else {
			this.#context.metrics.mllpConnectionsPaused.dec();
			this.#lastActivityMs = this.#context.clock.nowMs();
			this.#socket.resume();
		}
	}

	#watchIn(ms: number): void {
		this.#watch = setTimeout(() => this.#checkSilence(), Math.max(1, ms));
	}

	/** Checks for an incomplete frame and for a connection without traffic. Neither counts while answers are owed or reading pauses. */
	#checkSilence(): void {
		const { mllpFrameMsMax, mllpIdleMsMax } = this.#context.limits;
		const silentMs = this.#context.clock.nowMs() - this.#lastActivityMs;
		const unread = this.#socket.writableLength > 0;
		const begun = !this.#paused && (this.#reader.insideFrame || (this.#preamble?.length ?? 0) > 0);
		if (begun && silentMs >= mllpFrameMsMax) {
			this.#context.metrics.mllpFrameErrors.inc({ reason: 'timeout' });
			this.#exchange.end('frame-timeout');
		} else if (silentMs >= mllpIdleMsMax && (unread || this.#exchange.empty)) {
			if (unread) this.#destroy('slow-reader');
			else this.#exchange.end('idle');
		} else {
			const next = begun ? mllpFrameMsMax - silentMs : Math.min(mllpFrameMsMax, mllpIdleMsMax - silentMs);
			this.#watchIn(next > 0 ? next : mllpFrameMsMax);
		}
	}

	/** Ends our side. Bytes that the peer still sends are discarded, because closing with unread bytes resets the connection. */
	#end(reason: EndReason): void {
		if (this.#endReason !== undefined) return;
		this.#endReason = reason;
		if (reason !== 'peer') this.#countUnfinished();
		if (this.#paused) this.#context.metrics.mllpConnectionsPaused.dec();
		this.#paused = false;
		this.#exchange.close();
		clearTimeout(this.#watch);
		clearTimeout(this.#endSilence);
		this.#socket.end();
		this.#socket.resume();
		this.#lingerWhile(this.#socket.writableLength);
	}

	/** Waits for the peer as long as it keeps reading its answers. */
	#lingerWhile(unsent: number): void {
		this.#linger = setTimeout(() => {
			const left = this.#socket.writableLength;
			if (left > 0 && left < unsent) this.#lingerWhile(left);
			else this.#socket.destroy();
		}, lingerMs);
	}

	#destroy(reason: EndReason): void {
		this.#endReason ??= reason;
		this.#socket.destroy();
	}

	#onClose(): void {
		const reason = this.#endReason ?? 'peer';
		if (this.#endReason === undefined || this.#endReason === 'error') this.#countUnfinished();
		clearTimeout(this.#watch);
		clearTimeout(this.#endSilence);
		clearTimeout(this.#linger);
		this.#exchange.close();
		if (this.#paused) this.#context.metrics.mllpConnectionsPaused.dec();
		this.#paused = false;
		this.#context.metrics.mllpConnections.dec();
		this.#context.metrics.mllpConnectionsEnded.inc({ reason });
		this.#context.log.debug({ address: this.#address, reason }, 'MLLP connection ended');
	}
}

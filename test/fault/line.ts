import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * A line treats all that goes over it in one of these ways.
 * `plain`: as it comes. `delayed`: so many milliseconds later. `dripping`: one byte a second. `mute`: nothing arrives, and nobody is told.
 */
export type Mood = { kind: 'plain' } | { kind: 'delayed'; ms: number } | { kind: 'dripping' } | { kind: 'mute' };

const plain: Mood = { kind: 'plain' };

interface Pair {
	near: Socket;
	far: Socket;
	/** Undefined: that of the line. */
	mood: Mood | undefined;
}

/** Counts the harm that a line has done to its connections: each fault has to be found here. */
export interface Harm {
	cut: number;
	reset: number;
	delayed: number;
	dripped: number;
	swallowed: number;
	/** Connections that lost their other side without a word. */
	halved: number;
	/** Connections that could not be made. */
	refused: number;
	/** Connections that the far side ended first. */
	ended: number;
}

/** A proxy whose connections can be hurt. The far side is asked for anew with each connection, because ports change when a service starts again. */
export class Line implements Disposable {
	readonly harm: Harm = { cut: 0, reset: 0, delayed: 0, dripped: 0, swallowed: 0, halved: 0, refused: 0, ended: 0 };
	readonly #server: Server;
	readonly #pairs = new Set<Pair>();
	#mood: Mood = plain;
	#timers = new Map<NodeJS.Timeout, () => void>();
	port = 0;

	/** `watch` sees what comes from the far side, one watcher a connection. */
	constructor(far: () => { port: number } | { path: string }, watch?: () => (chunk: Buffer) => void) {
		this.#server = createServer({ noDelay: true }, (near) => this.#join(near, far(), watch?.()));
	}

	async listen(): Promise<this> {
		await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
		const address = this.#server.address();
		if (address === null || typeof address === 'string') throw new Error('the line has no port');
		this.port = address.port;
		return this;
	}

	get connections(): number {
		return this.#pairs.size;
	}

	#join(near: Socket, target: { port: number } | { path: string }, watch: ((chunk: Buffer) => void) | undefined): void {
		// A service knows senders by their address.
		const far = 'path' in target ? connect(target.path) : connect({ ...target, host: '127.0.0.1', localAddress: near.remoteAddress });
		far.setNoDelay(true);
		const pair: Pair = { near, far, mood: undefined };
		this.#pairs.add(pair);
		far.once('error', () => {
			if (far.connecting || far.bytesRead === 0) this.harm.refused++;
		});
		for (const [socket, other] of [
			[near, far],
			[far, near],
		] as const) {
			socket.on('error', () => undefined);
			socket.on('close', () => {
				if (socket === far && !near.destroyed && !near.readableEnded) this.harm.ended++;
				if (pair.mood?.kind === 'mute') return;
				other.destroy();
				this.#pairs.delete(pair);
			});
			socket.on('end', () => {
				if (pair.mood?.kind !== 'mute') other.end();
			});
			socket.on('data', (chunk: Buffer) => {
				if (socket === far) watch?.(chunk);
				this.#pass(pair, socket, other, chunk);
			});
		}
	}

	#moodOf(pair: Pair): Mood {
		return pair.mood ?? this.#mood;
	}

	#pass(pair: Pair, from: Socket, to: Duplex, chunk: Buffer): void {
		const { kind } = this.#moodOf(pair);
		if (kind === 'mute') {
			this.harm.swallowed += chunk.length;
		} else if (kind === 'plain') {
			if (to.writable && !to.write(chunk)) {
				from.pause();
				to.once('drain', () => from.resume());
			}
		} else {
			from.pause();
			void this.#slowly(pair, to, chunk).then(() => from.resume());
		}
	}

	/** In its turn: the side that it comes from is paused meanwhile. */
	async #slowly(pair: Pair, to: Duplex, chunk: Buffer): Promise<void> {
		let left = chunk;
		while (left.length > 0) {
			const mood = this.#moodOf(pair);
			if (mood.kind === 'mute') {
				this.harm.swallowed += left.length;
				return;
			}
			if (mood.kind === 'delayed') {
				this.harm.delayed++;
				await this.#wait(mood.ms);
			} else if (mood.kind === 'dripping') {
				this.harm.dripped++;
				await this.#wait(1000);
			}
			const count = mood.kind === 'dripping' && this.#moodOf(pair).kind === 'dripping' ? 1 : left.length;
			if (to.writable) to.write(left.subarray(0, count));
			left = left.subarray(count);
		}
	}

	/** A line that becomes plain again goes on at once. */
	#wait(ms: number): Promise<void> {
		return new Promise((resolve) => {
			const timer = setTimeout(() => {
				this.#timers.delete(timer);
				resolve();
			}, ms);
			this.#timers.set(timer, resolve);
		});
	}

	/** Treats all connections so, and those to come. */
	become(mood: Mood): void {
		this.#mood = mood;
		if (mood.kind !== 'plain') return;
		for (const [timer, resolve] of this.#timers) {
			clearTimeout(timer);
			resolve();
		}
		this.#timers.clear();
	}

	/** Ends every connection, as a host does that goes down in order. */
	cut(): void {
		for (const { near, far } of this.#pairs) {
			this.harm.cut++;
			near.end();
			far.end();
			setTimeout(() => {
				near.destroy();
				far.destroy();
			}, 50).unref();
		}
	}

	reset(): void {
		for (const { near, far } of this.#pairs) {
			this.harm.reset++;
			abort(near);
			abort(far);
		}
	}

	/** One side of every connection is gone, and the other is not told. */
	halve(gone: 'near' | 'far'): void {
		for (const pair of this.#pairs) {
			if (pair.mood !== undefined) continue;
			pair.mood = { kind: 'mute' };
			abort(pair[gone]);
			this.harm.halved++;
		}
	}

	/** Ends what `halve` has left. */
	bury(): void {
		for (const pair of this.#pairs) {
			if (pair.mood?.kind !== 'mute') continue;
			this.#pairs.delete(pair);
			pair.near.destroy();
			pair.far.destroy();
		}
	}

	heal(): void {
		this.become(plain);
		this.bury();
	}

	[Symbol.dispose](): void {
		this.become(plain);
		this.#server.close();
		for (const { near, far } of this.#pairs) {
			near.destroy();
			far.destroy();
		}
	}
}

/** Only TCP knows resets: a Unix socket is closed. */
function abort(socket: Socket): void {
	if (socket.remoteAddress === undefined) socket.destroy();
	else socket.resetAndDestroy();
}

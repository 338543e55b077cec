import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { eventually } from './eventually.ts';

/** A sender: writes framed messages, answers come back in order. */
export class MllpClient {
	readonly socket: Socket;
	readonly #waiting: { resolve(ack: string): void; reject(error: Error): void }[] = [];
	#received: Buffer = Buffer.alloc(0);
	/** Answers for which no message waited: always a fault. */
	readonly extra: string[] = [];

	private constructor(socket: Socket) {
		this.socket = socket;
		socket.setNoDelay(true);
		socket.on('data', (chunk) => this.#read(chunk));
		const lost = () => {
			for (const waiting of this.#waiting.splice(0)) waiting.reject(new Error('the connection was closed without an answer'));
		};
		socket.on('error', lost);
		socket.on('close', lost);
	}

	/** `from` is the loopback address that the sender has. */
	static connect(port: number, from = '127.0.0.1'): Promise<MllpClient> {
		return new Promise((resolve, reject) => {
			const socket = connect({ port, host: '127.0.0.1', localAddress: from });
			socket.once('error', reject);
			socket.once('connect', () => {
				socket.off('error', reject);
				resolve(new MllpClient(socket));
			});
		});
	}

	/** A sender on a connection that stands, one with TLS for example. */
	static over(socket: Socket): MllpClient {
		return new MllpClient(socket);
	}

	/** Sends a message and resolves with its acknowledgement; may be called again before that. */
	send(message: string | Uint8Array): Promise<string> {
		const answer = this.#awaited();
		this.#write(message);
		return answer;
	}

	/** Sends a frame that is answered so many times, as a batch is; resolves with each acknowledgement. */
	sendAll(frame: string | Uint8Array, count: number): Promise<string>[] {
		const answers = Array.from({ length: count }, () => this.#awaited());
		this.#write(frame);
		return answers;
	}

	/** The acknowledgement that comes next, behind those that are waited for already. */
	#awaited(): Promise<string> {
		return new Promise((resolve, reject) => {
			if (this.socket.destroyed) reject(new Error('the connection was closed without an answer'));
			else this.#waiting.push({ resolve, reject });
		});
	}

	#write(frame: string | Uint8Array): void {
		if (this.socket.destroyed) return;
		this.socket.write(Buffer.concat([Buffer.of(0x0b), typeof frame === 'string' ? Buffer.from(frame) : frame, Buffer.of(0x1c, 0x0d)]));
	}

	#read(chunk: Buffer): void {
		this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
		for (;;) {
			const end = this.#received.indexOf(0x1c);
			if (end < 0) return;
			const ack = this.#received.subarray(this.#received.indexOf(0x0b) + 1, end).toString('utf8');
			this.#received = this.#received.subarray(end + 2);
			const waiting = this.#waiting.shift();
			if (waiting) waiting.resolve(ack);
			else this.extra.push(ack);
		}
	}

	close(): void {
		this.socket.destroy();
	}
}

/** MSA-1, MSA-2 and MSA-3 of an acknowledgement, by the delimiter that it declares. */
export function msa(ack: string): { code: string; controlId: string; text: string } {
	const delimiter = ack.charAt(3);
	const fields =
		ack
			.split('\r')
			.find((segment) => segment.startsWith(`MSA${delimiter}`))
			?.split(delimiter) ?? [];
	return { code: fields[1] ?? '', controlId: fields[2] ?? '', text: fields[3] ?? '' };
}

/** Sends messages one by one over a connection of their own, and returns the codes of their acknowledgements. */
export async function sendAll(service: { port(name: string): number }, ...messages: string[]): Promise<string[]> {
	const client = await MllpClient.connect(service.port('mllp'));
	const codes: string[] = [];
	for (const message of messages) codes.push(msa(await client.send(message)).code);
	client.close();
	return codes;
}

/** Sends as senders do: anew, on another connection, until there is an answer. It is AA. */
export async function sendUntilStored(service: { port(name: string): number }, message: string, from?: string): Promise<void> {
	await eventually(async () => {
		const client = await MllpClient.connect(service.port('mllp'), from);
		try {
			const answer = await client.send(message).catch(() => undefined);
			if (answer === undefined) return false;
			assert.equal(msa(answer).code, 'AA');
			return true;
		} finally {
			client.close();
		}
	}, 'AA');
}

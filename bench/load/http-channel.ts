import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { LoadRequest } from './http-driver.ts';
import type { Channel } from './loops.ts';

/** Length of the first answer in `text`, head included; undefined while it is not whole. */
export function answerLength(text: string): number | undefined {
	const head = text.indexOf('\r\n\r\n');
	if (head === -1) return undefined;
	const [, length] = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head + 2)) ?? [];
	if (length !== undefined) return text.length >= head + 4 + Number(length) ? head + 4 + Number(length) : undefined;
	if (!/\r\ntransfer-encoding: *chunked/i.test(text.slice(0, head + 2))) return head + 4;
	const end = text.indexOf('\r\n0\r\n\r\n', head + 2);
	return end === -1 ? undefined : end + 7;
}

/** A connection kept open, with one request under way. It does so little that one process drives some ten thousand a second. */
class HttpChannel implements Channel {
	readonly #socket: Socket;
	readonly #head: string;
	readonly #requestOf: (number: number) => LoadRequest;
	#received = '';
	#waiting: { resolve(isAccepted: boolean): void; reject(error: Error): void } | undefined;

	constructor(socket: Socket, head: string, requestOf: (number: number) => LoadRequest) {
		this.#socket = socket;
		this.#head = head;
		this.#requestOf = requestOf;
		socket.setEncoding('latin1');
		socket.on('data', (chunk) => this.#read(String(chunk)));
		const lost = () => {
			this.#waiting?.reject(new Error('the connection was closed without an answer'));
			this.#waiting = undefined;
		};
		socket.on('error', lost);
		socket.on('close', lost);
	}

	send(number: number): Promise<boolean> {
		const { method, path, body = '' } = this.#requestOf(number);
		this.#socket.write(`${method} ${path} HTTP/1.1\r\n${this.#head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
		return new Promise((resolve, reject) => {
			this.#waiting = { resolve, reject };
		});
	}

	#read(chunk: string): void {
		this.#received += chunk;
		const length = answerLength(this.#received);
		if (length === undefined) return;
		const status = Number(this.#received.slice(9, 12));
		this.#received = this.#received.slice(length);
		const waiting = this.#waiting;
		this.#waiting = undefined;
		waiting?.resolve(status >= 200 && status < 400);
	}

	close(): void {
		this.#socket.destroy();
	}
}

export interface HttpTarget {
	port: number;
	key: string;
	contentType: string;
	requestOf(number: number): LoadRequest;
}

export async function httpChannel({ port, key, contentType, requestOf }: HttpTarget): Promise<Channel> {
	const socket = connect({ port, host: '127.0.0.1', noDelay: true });
	await once(socket, 'connect');
	return new HttpChannel(socket, `Host: 127.0.0.1:${port}\r\nX-API-Key: ${key}\r\nContent-Type: ${contentType}\r\n`, requestOf);
}

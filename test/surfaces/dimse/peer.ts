import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { ctImage, explicitLittleEndian, verification } from './support.ts';

/** The other side of an association, made of single bytes, so that it can do what no library does. */

export function item(type: number, ...parts: (Buffer | string)[]): Buffer {
	const value = Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1')));
	const head = Buffer.from([type, 0, 0, 0]);
	head.writeUInt16BE(value.length, 2);
	return Buffer.concat([head, value]);
}

export function pdu(type: number, body: Buffer, length: number = body.length): Buffer {
	const head = Buffer.from([type, 0, 0, 0, 0, 0]);
	head.writeUInt32BE(length, 2);
	return Buffer.concat([head, body]);
}

export function uint32(value: number): Buffer {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32BE(value);
	return bytes;
}

export interface Proposal {
	called?: string;
	calling?: string;
	version?: number;
	applicationContext?: string;
	/** Presentation contexts by number: abstract syntax and transfer syntaxes. */
	contexts?: Record<number, [string, ...string[]]>;
	pduBytesMax?: number;
	/** Further items of the user information, and of the PDU itself. */
	user?: Buffer[];
	items?: Buffer[];
}

export const usualContexts: Record<number, [string, ...string[]]> = {
	1: [verification, explicitLittleEndian],
	3: [ctImage, explicitLittleEndian],
};

export function associateRequest(proposal: Proposal = {}): Buffer {
	const { called = 'WEST', calling = 'CT1', version = 1, applicationContext = '1.2.840.10008.3.1.1.1' } = proposal;
	const contexts = Object.entries(proposal.contexts ?? usualContexts).map(([id, [abstractSyntax, ...transferSyntaxes]]) =>
		item(0x20, Buffer.from([Number(id), 0, 0, 0]), item(0x30, abstractSyntax), ...transferSyntaxes.map((uid) => item(0x40, uid))),
	);
	const user = item(0x50, item(0x51, uint32(proposal.pduBytesMax ?? 16_384)), item(0x52, '1.2.3'), ...(proposal.user ?? []));
	const titles = Buffer.from(called.padEnd(16) + calling.padEnd(16), 'latin1');
	const fixed = Buffer.concat([Buffer.from([0, version, 0, 0]), titles, Buffer.alloc(32)]);
	return pdu(1, Buffer.concat([fixed, item(0x10, applicationContext), ...contexts, ...(proposal.items ?? []), user]));
}

type Elements = Record<number, number | string>;

/** Elements of group 0000 by their number: a number is US, a text UI. */
export function commandSet(elements: Elements): Buffer {
	return Buffer.concat(
		Object.entries(elements).map(([number, content]) => {
			const value =
				typeof content === 'number'
					? Buffer.from([content & 0xff, content >> 8])
					: Buffer.from(content.padEnd(Math.ceil(content.length / 2) * 2, '\0'), 'latin1');
			const head = Buffer.alloc(8);
			head.writeUInt16LE(Number(number), 2);
			head.writeUInt32LE(value.length, 4);
			return Buffer.concat([head, value]);
		}),
	);
}

export const echo = (messageId = 1) => commandSet({ 2: verification, 256: 0x0030, 272: messageId, 2048: 0x0101 });

export const store = (messageId = 1, more: Elements = {}) =>
	commandSet({ 2: ctImage, 256: 1, 272: messageId, 1792: 0, 2048: 0, 4096: `1.2.3.${messageId}`, ...more });

/** A presentation data value. */
export function value(contextId: number, kind: 'command' | 'data', bytes: Buffer, isLast = true): Buffer {
	const head = Buffer.concat([uint32(bytes.length + 2), Buffer.from([contextId, (kind === 'command' ? 1 : 0) | (isLast ? 2 : 0)])]);
	return Buffer.concat([head, bytes]);
}

export const data = (...values: Buffer[]) => pdu(4, Buffer.concat(values));

export const releaseRequest = pdu(5, Buffer.alloc(4));
export const abortPdu = pdu(7, Buffer.alloc(4));

export interface ReceivedPdu {
	type: number;
	body: Buffer;
}

/** Text and numbers of a response's command set by element number. */
export function responseOf({ body }: ReceivedPdu): Map<number, Buffer> {
	const elements = new Map<number, Buffer>();
	for (let at = 6; at < body.length; ) {
		const end = at + 8 + body.readUInt32LE(at + 4);
		elements.set(body.readUInt16LE(at + 2), body.subarray(at + 8, end));
		at = end;
	}
	return elements;
}

export const statusOf = (received: ReceivedPdu) => responseOf(received).get(0x0900)?.readUInt16LE(0);
export const textOf = (received: ReceivedPdu, element: number) =>
	responseOf(received)
		.get(element)
		?.toString('latin1')
		.replace(/[\0 ]+$/, '');

/** Result and transfer syntax of each presentation context of an A-ASSOCIATE-AC, and its user items. */
export function acceptOf({ body }: ReceivedPdu): { contexts: Record<number, [number, string]>; user: Map<number, Buffer[]> } {
	const contexts: Record<number, [number, string]> = {};
	const user = new Map<number, Buffer[]>();
	const walk = (bytes: Buffer, visit: (type: number, content: Buffer) => void) => {
		for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt16BE(at + 2)) {
			visit(bytes[at] as number, bytes.subarray(at + 4, at + 4 + bytes.readUInt16BE(at + 2)));
		}
	};
	walk(body.subarray(68), (type, content) => {
		if (type === 0x21) contexts[content[0] as number] = [content[2] as number, content.toString('latin1', 8)];
		if (type === 0x50) walk(content, (userType, bytes) => user.set(userType, [...(user.get(userType) ?? []), bytes]));
	});
	return { contexts, user };
}

export class Peer {
	readonly socket: Socket;
	readonly received: ReceivedPdu[] = [];
	readonly closed: Promise<void>;
	#bytes: Buffer = Buffer.alloc(0);
	#taken = 0;
	#isClosed = false;
	#wake: () => void = () => {};

	constructor(socket: Socket) {
		this.socket = socket;
		socket.on('error', () => undefined);
		socket.on('data', (chunk: Buffer) => {
			this.#bytes = Buffer.concat([this.#bytes, chunk]);
			while (this.#bytes.length >= 6 && this.#bytes.length >= 6 + this.#bytes.readUInt32BE(2)) {
				const end = 6 + this.#bytes.readUInt32BE(2);
				this.received.push({ type: this.#bytes[0] as number, body: this.#bytes.subarray(6, end) });
				this.#bytes = this.#bytes.subarray(end);
			}
			this.#wake();
		});
		this.closed = new Promise((resolve) => {
			socket.once('close', () => {
				this.#isClosed = true;
				this.#wake();
				resolve();
			});
		});
	}

	write(...pdus: Buffer[]): void {
		this.socket.write(Buffer.concat(pdus));
	}

	/** The next PDU that was not taken yet. */
	async next(): Promise<ReceivedPdu> {
		while (this.received.length <= this.#taken) {
			if (this.#isClosed) throw new Error('the connection was closed without a further PDU');
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
		}
		return this.received[this.#taken++] as ReceivedPdu;
	}

	/** Sends, and awaits as many PDUs as are asked for. */
	async ask(bytes: Buffer, count = 1): Promise<ReceivedPdu[]> {
		this.write(bytes);
		const answers: ReceivedPdu[] = [];
		while (answers.length < count) answers.push(await this.next());
		return answers;
	}
}

/** Where a peer is ended: a test, or who calls it so. */
interface Scope {
	after(end: () => void): void;
}

export async function connect(test: Scope, port: number): Promise<Peer> {
	const socket = createConnection({ port, host: '127.0.0.1', noDelay: true });
	await once(socket, 'connect');
	test.after(() => socket.destroy());
	return new Peer(socket);
}

/** A peer whose association is accepted. */
export async function associate(test: Scope, port: number, proposal: Proposal = {}): Promise<Peer> {
	const peer = await connect(test, port);
	const [answer] = await peer.ask(associateRequest(proposal));
	if (answer?.type !== 2) throw new Error(`the association was answered with PDU ${answer?.type}`);
	return peer;
}

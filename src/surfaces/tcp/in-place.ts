import { Socket } from 'node:net';

/** Holds the longest read of a socket. All sockets share it: one is read after the other, and its bytes are handed out at once. */
const shared = Buffer.allocUnsafeSlow(256 * 1024);

/** The fields that Node.js keeps for a socket created with the option `onread`. */
interface Internals {
	handle: { useUserBuffer(buffer: Buffer): void };
	buffer: symbol;
	callback: symbol;
}

/**
 * Reads a socket into memory that all sockets share; `take` must not keep the bytes. This does what `onread` of `net.connect` does.
 * Accepted
 * sockets have no such option, so its fields are set here (docs/decisions/0028). With TLS, or with a Node.js without these fields, the
 * bytes arrive by the event `data` in memory of their own.
 */
export function readInPlace(socket: Socket, take: (bytes: Buffer) => void): void {
	const internals = internalsOf(socket);
	if (internals === undefined) {
		socket.on('data', take);
		return;
	}
	const { handle, buffer, callback } = internals;
	// These bytes came after a PROXY header.
	const early: unknown = socket.read();
	if (Buffer.isBuffer(early)) process.nextTick(() => take(early));
	handle.useUserBuffer(shared);
	Object.assign(socket, { [buffer]: shared, [callback]: (length: number) => take(shared.subarray(0, length)) });
}

/** Returns undefined when the socket has none of them. */
export function internalsOf(socket: Socket): Internals | undefined {
	// A socket of another class has another kind of handle.
	if (socket.constructor !== Socket) return undefined;
	const symbols = Object.getOwnPropertySymbols(socket);
	const [buffer, callback] = ['kBuffer', 'kBufferCb'].map((name) => symbols.find(({ description }) => description === name));
	const { _handle: handle } = socket as unknown as { _handle?: Partial<Internals['handle']> };
	if (buffer === undefined || callback === undefined || typeof handle?.useUserBuffer !== 'function') return undefined;
	return { handle: handle as Internals['handle'], buffer, callback };
}

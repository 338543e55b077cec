import { Socket } from 'node:net';

/** Holds the longest read of a socket, of whichever: one is read after the other, and given out at once. */
const shared = Buffer.allocUnsafeSlow(256 * 1024);

/** What Node.js keeps of a socket that was made with the option `onread`. */
interface Internals {
	handle: { useUserBuffer(buffer: Buffer): void };
	buffer: symbol;
	callback: symbol;
}

/**
 * Reads a socket into memory that all sockets share; `take` may not keep the bytes. This is `onread` of `net.connect`, for which sockets that were
 * accepted have no option: the fields that it sets are set here (docs/decisions/0028). Where this is TLS, or a Node.js without
 * these fields, the bytes come by the event `data`, in memory of their own.
 */
export function readInPlace(socket: Socket, take: (bytes: Buffer) => void): void {
	const internals = internalsOf(socket);
	if (internals === undefined) {
		socket.on('data', take);
		return;
	}
	const { handle, buffer, callback } = internals;
	// What came behind a PROXY header.
	const early: unknown = socket.read();
	if (Buffer.isBuffer(early)) process.nextTick(() => take(early));
	handle.useUserBuffer(shared);
	Object.assign(socket, { [buffer]: shared, [callback]: (length: number) => take(shared.subarray(0, length)) });
}

/** Undefined: the socket has none of them. */
export function internalsOf(socket: Socket): Internals | undefined {
	// A socket of another class has a handle of its own kind.
	if (socket.constructor !== Socket) return undefined;
	const symbols = Object.getOwnPropertySymbols(socket);
	const [buffer, callback] = ['kBuffer', 'kBufferCb'].map((name) => symbols.find(({ description }) => description === name));
	const { _handle: handle } = socket as unknown as { _handle?: Partial<Internals['handle']> };
	if (buffer === undefined || callback === undefined || typeof handle?.useUserBuffer !== 'function') return undefined;
	return { handle: handle as Internals['handle'], buffer, callback };
}

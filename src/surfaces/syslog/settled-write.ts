import type { Socket } from 'node:net';

interface WriteTimes {
	settleMs: number;
	/** The receiver reads something within this time. */
	stallMsMax: number;
}

/** Writes, and resolves when the connection has lived on for `settleMs` after that. Rejects when it ends before, or its receiver does not read. */
export async function settledWrite(socket: Socket, bytes: Uint8Array, { settleMs, stallMsMax }: WriteTimes): Promise<void> {
	let settle: NodeJS.Timeout | undefined;
	const ended = Promise.withResolvers<void>();
	const closed = () => ended.reject(new Error('the receiver closed the connection'));
	const stalled = () => ended.reject(new Error('the receiver does not read'));
	socket.once('close', closed);
	socket.setTimeout(stallMsMax, stalled);
	try {
		socket.write(bytes, (error) => {
			if (error) return ended.reject(error);
			socket.setTimeout(0, stalled);
			settle = setTimeout(ended.resolve, settleMs);
		});
		await ended.promise;
	} finally {
		clearTimeout(settle);
		// The connection lives on for weeks, and with it whatever is left on it.
		socket.off('close', closed);
		socket.setTimeout(0, stalled);
	}
}

import { createServer } from 'node:net';

/** A port that nobody has on any address: most peers listen on all of them, and a client of loopback may have the port on its own address. */
export async function freePort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, resolve));
	const address = server.address();
	await new Promise((resolve) => server.close(resolve));
	return typeof address === 'object' && address ? address.port : 0;
}

import type * as Uws from 'uWebSockets.js';
import { createServer } from 'node:net';
import { takenPort } from '#core/start-error.ts';
import { loadServer, type TemplatedApp } from './load.ts';

export interface WantedPort {
	/** The name of the surface. */
	name: string;
	host: string;
	/** 0 means any free port. */
	port: number;
	/** True if other processes of the node listen on the same port. */
	sharesPort?: boolean | undefined;
}

export interface OpenPort {
	port: number;
	close(): void;
}

/** `options`: LIBUS_LISTEN_DEFAULT (0) shares the port with others that do likewise, LIBUS_LISTEN_EXCLUSIVE_PORT (1) does not. */
type ListenWithOptions = (this: TemplatedApp, host: string, port: number, options: 0 | 1, opened: (socket: unknown) => void) => void;

/** @throws StartError when the address cannot be bound */
export async function openPort(app: TemplatedApp, wanted: WantedPort): Promise<OpenPort> {
	const { host, port, sharesPort = false } = wanted;
	if (!sharesPort || port !== 0) return listen(app, wanted);
	const reserved = await reservePort(host);
	return listen(app, { ...wanted, port: reserved.port }).finally(reserved.release);
}

function listen(app: TemplatedApp, { name, host, port, sharesPort }: WantedPort): Promise<OpenPort> {
	const { uws } = loadServer();
	return new Promise((resolve, reject) => {
		// The declarations lack this form. Without the option, a second service of the same user would share the port unnoticed.
		(app.listen as unknown as ListenWithOptions).call(app, host, port, sharesPort ? 0 : 1, (opened) => {
			if (!opened) {
				reject(takenPort(name, host, port));
				return;
			}
			const local = uws.us_socket_local_port(opened as Uws.us_socket);
			resolve({ port: local, close: () => uws.us_listen_socket_close(opened as Uws.us_listen_socket) });
		});
	});
}

/**
 * Has the system choose a port that several sockets can share, and holds it until it is released. The HTTP library shares only ports that
 * have a number.
 */
function reservePort(host: string): Promise<{ port: number; release(): void }> {
	return new Promise((resolve, reject) => {
		const server = createServer((socket) => socket.destroy());
		server.once('error', reject);
		server.listen({ host, port: 0, reusePort: true }, () => {
			const bound = server.address();
			resolve({ port: typeof bound === 'object' && bound !== null ? bound.port : 0, release: () => void server.close() });
		});
	});
}

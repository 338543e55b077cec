import { connect, createServer, type Socket } from 'node:net';

/**
 * Stands between the service and PostgreSQL, and loses the answer to a COMMIT that PostgreSQL has carried out. Then it takes no connection for
 * `awayMs`, as a server that starts anew.
 */
export async function commitLosingProxy(databaseUrl: string, awayMs = 0): Promise<{ url: string; lost: () => number } & Disposable> {
	const target = new URL(databaseUrl);
	const socketPath = `${target.searchParams.get('host')}/.s.PGSQL.${target.port || 5432}`;
	let lost = 0;
	let backMs = 0;
	const sockets = new Set<Socket>();
	const server = createServer((client) => {
		if (performance.now() < backMs) {
			client.destroy();
			return;
		}
		const database = connect(socketPath);
		for (const socket of [client, database]) {
			sockets.add(socket);
			socket.on('error', () => undefined);
			socket.on('close', () => {
				client.destroy();
				database.destroy();
			});
		}
		client.pipe(database);
		database.on('data', (chunk) => {
			if (lost === 0 && chunk.includes('COMMIT\0')) {
				lost++;
				backMs = performance.now() + awayMs;
				client.destroy();
			} else {
				client.write(chunk);
			}
		});
	});
	const port = await new Promise<number>((resolve) =>
		server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
	);
	const url = `postgresql://${target.username}@127.0.0.1:${port}${target.pathname}`;
	return {
		url,
		lost: () => lost,
		[Symbol.dispose]: () => {
			server.close();
			for (const socket of sockets) socket.destroy();
		},
	};
}

import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Kept {
	status: number;
	headers: Record<string, string | string[] | undefined>;
	body: Buffer;
	/** The values that the first request had of the headers that Vary names. */
	selected: Record<string, string | string[] | undefined>;
}

/** A shared cache as RFC 9111 lets one be: it keeps every answer to GET that does not forbid it, and serves it while Vary allows. */
export async function cachingProxy(upstreamPort: number): Promise<{ port: number; hits: () => number; close: () => Promise<void> }> {
	const kept = new Map<string, Kept[]>();
	let hits = 0;
	const server = createServer((request, response) => {
		const url = request.url ?? '/';
		const found = kept
			.get(url)
			?.find(({ selected }) => Object.entries(selected).every(([name, value]) => String(request.headers[name]) === String(value)));
		if (found !== undefined && request.method === 'GET') {
			hits++;
			response.writeHead(found.status, found.headers).end(found.body);
			return;
		}
		const { method, headers } = request;
		const forwarded = send({ port: upstreamPort, host: '127.0.0.1', path: url, method, headers, agent: false }, (answer) => {
			const pieces: Buffer[] = [];
			answer.on('data', (piece: Buffer) => pieces.push(piece));
			answer.on('end', () => {
				const body = Buffer.concat(pieces);
				const { 'cache-control': control = '', vary = '', connection, 'transfer-encoding': coding, ...others } = answer.headers;
				const passed = { ...others, ...(control ? { 'cache-control': control } : {}), ...(vary ? { vary } : {}) };
				const status = answer.statusCode ?? 502;
				const names = vary.split(',').map((name) => name.trim().toLowerCase());
				if (method === 'GET' && status === 200 && !/no-store|private/.test(control) && vary !== '*') {
					const selected = Object.fromEntries(names.filter((name) => name !== '').map((name) => [name, headers[name]]));
					kept.set(url, [...(kept.get(url) ?? []), { status, headers: passed, body, selected }]);
				}
				response.writeHead(status, passed).end(body);
			});
		});
		request.pipe(forwarded);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const close = () =>
		new Promise<void>((resolve) => {
			server.close(() => resolve());
			server.closeAllConnections();
		});
	return { port: (server.address() as AddressInfo).port, hits: () => hits, close };
}

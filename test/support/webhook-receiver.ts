import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FhirBody } from './service.ts';

export interface WebhookReceiver extends AsyncDisposable {
	url: string;
	/** The status with which it answers; undefined: it takes the request and answers nothing. */
	status: number | undefined;
	/** The statuses of the next answers, before that one. */
	first: number[];
	calls: { headers: IncomingHttpHeaders; body: string; notice: FhirBody }[];
}

export async function webhookReceiver(): Promise<WebhookReceiver> {
	const server = createServer(async (request, response) => {
		const body = await text(request);
		receiver.calls.push({ headers: request.headers, body, notice: JSON.parse(body) });
		const status = receiver.first.shift() ?? receiver.status;
		if (status === undefined) return;
		// A redirect leads to this server, which counts who follows it.
		response.writeHead(status, status < 400 ? { Location: receiver.url } : {}).end();
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	const receiver: WebhookReceiver = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`,
		status: 204,
		first: [],
		calls: [],
		[Symbol.asyncDispose]: async () => {
			server.close();
			server.closeAllConnections();
			await once(server, 'close');
		},
	};
	return receiver;
}

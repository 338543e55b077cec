import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { AdministrationError } from '../context.ts';

/** The FHIR port of a running service, and a key of the site. */
export interface Target {
	/** `http://127.0.0.1:8080` */
	origin: string;
	key: string;
}

export interface Answer {
	status: number;
	headers: Readonly<Record<string, string | string[] | undefined>>;
	body: Buffer;
}

export interface Sent {
	method: 'GET' | 'POST';
	/** A path of the origin, or a URL below it. */
	path: string;
	headers?: Record<string, string | number>;
	/** Opened anew for every try. */
	body?: () => AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>;
}

/** An answer to a request of an import is a list of references or a manifest. */
const answerBytesMax = 64 * 1024 * 1024;
/** The service, its database or its store may be away for about so many seconds. */
const triesMax = 120;

/** Sends a request with the key, and again while the service cannot take it now. What it took already it knows. */
export async function send({ origin, key }: Target, sent: Sent): Promise<Answer> {
	for (let tries = 0; ; tries++) {
		const answer = await once(new URL(sent.path, origin), { ...sent.headers, 'X-API-Key': key }, sent).catch((error: unknown) => {
			if (error instanceof AdministrationError) throw error;
			return error as Error;
		});
		const isAway = answer instanceof Error || answer.status === 503 || answer.status === 429;
		if (!isAway) return refuseStrangers(answer);
		if (tries >= triesMax) {
			const reason = answer instanceof Error ? answer.message : `it answers ${answer.status}`;
			throw new AdministrationError(`the service at ${origin} takes nothing: ${reason}; the same command goes on later`);
		}
		await pause(1000);
	}
}

function refuseStrangers(answer: Answer): Answer {
	if (answer.status === 401) throw new AdministrationError('the service does not take the key');
	if (answer.status === 403) throw new AdministrationError('the key may not do this; it needs the scopes write and imaging, or none');
	return answer;
}

function once(url: URL, headers: Record<string, string | number>, { method, body }: Sent): Promise<Answer> {
	const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, { method, headers });
	const answered = new Promise<Answer>((resolve, reject) => {
		request.on('error', reject);
		request.on('response', (response) => {
			const chunks: Buffer[] = [];
			let bytes = 0;
			response.on('data', (chunk: Buffer) => {
				bytes += chunk.length;
				if (bytes > answerBytesMax) response.destroy(new Error('the answer is too long'));
				else chunks.push(chunk);
			});
			response.on('error', reject);
			response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }));
		});
	});
	const written = writeBody(request, body);
	// An answer may come before the body is written, and then says why.
	return Promise.race([answered, written.then(() => answered)]).finally(() => request.destroy());
}

async function writeBody(request: ReturnType<typeof httpRequest>, body: Sent['body']): Promise<void> {
	try {
		if (body !== undefined) {
			for await (const chunk of await body()) {
				if (request.destroyed) return;
				if (!request.write(chunk)) await drained(request);
			}
		}
		request.end();
	} catch (error) {
		request.destroy(error as Error);
		throw error;
	}
}

function drained(request: ReturnType<typeof httpRequest>): Promise<void> {
	return new Promise((resolve) => {
		const go = () => {
			request.off('drain', go);
			request.off('close', go);
			resolve();
		};
		request.on('drain', go);
		request.on('close', go);
	});
}

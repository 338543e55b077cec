import { type ClientRequest, type IncomingMessage, request } from 'node:http';

export interface Answered {
	status: number;
	headers: IncomingMessage['headers'];
	text: string;
}

interface Asked {
	port: number;
	path: string;
	method?: string;
	headers?: Readonly<Record<string, string>>;
}

/** Asks on a connection of its own, so that another process of a node may answer. */
export function askAnew({ port, path, method = 'GET', headers = {} }: Asked): Promise<Answered> {
	return new Promise((resolve, reject) => {
		const asked = request({ port, path, method, headers, host: '127.0.0.1', agent: false }, (answer) => {
			let text = '';
			answer.setEncoding('utf8');
			answer.on('data', (chunk: string) => {
				text += chunk;
			});
			answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
			answer.on('error', reject);
		});
		asked.on('error', reject);
		asked.end();
	});
}

/** Asks so many times, each on a connection of its own. With three processes two dozen reach each of them, but for one in ten thousand times. */
export async function askManyAnew(asked: Asked, times = 24): Promise<Answered[]> {
	return Promise.all(Array.from({ length: times }, () => askAnew(asked)));
}

/** A stream of events on a connection of its own. */
export class Stream {
	/** The first text that comes; empty if the stream is refused, or ends before. */
	readonly begun: Promise<string>;
	readonly #request: ClientRequest;

	constructor(port: number, path: string, cookie: string) {
		const asked = request({ port, path, host: '127.0.0.1', agent: false, headers: { Cookie: cookie } });
		this.#request = asked;
		this.begun = new Promise((resolve) => {
			asked.on('error', () => resolve(''));
			asked.on('response', (answer) => {
				if (answer.statusCode !== 200) resolve('');
				answer.once('data', (chunk: Buffer) => resolve(chunk.toString()));
				answer.once('close', () => resolve(''));
				answer.on('error', () => resolve(''));
			});
		});
		asked.end();
	}

	close(): void {
		this.#request.destroy();
	}
}

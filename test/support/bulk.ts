import type { FhirBody, TestService } from './service.ts';

export interface BulkReply {
	status: number;
	headers: Headers;
	text: string;
}

/** Calls the bulk operations with a key; `url` is absolute, or relative to the FHIR base. */
export class BulkClient {
	readonly #service: Pick<TestService, 'port'>;
	readonly #key: string;

	constructor(service: Pick<TestService, 'port'>, key: string) {
		this.#service = service;
		this.#key = key;
	}

	async call(method: string, url: string, headers: Record<string, string> = {}, body?: string): Promise<BulkReply> {
		const target = url.startsWith('http') ? url : `http://127.0.0.1:${this.#service.port('fhir')}/fhir${url}`;
		const answer = await fetch(target, {
			method,
			headers: { 'X-API-Key': this.#key, ...headers },
			...(body === undefined ? {} : { body }),
		});
		return { status: answer.status, headers: answer.headers, text: await answer.text() };
	}

	/** Asks for an export; answers where its status is. */
	async startExport(path = '/$export'): Promise<string> {
		return location(await this.call('GET', path, { Prefer: 'respond-async' }));
	}

	/** Sends an import; answers where its status is. */
	async startImport(lines: string | readonly object[]): Promise<string> {
		const body = typeof lines === 'string' ? lines : lines.map((line) => `${JSON.stringify(line)}\n`).join('');
		return location(await this.call('POST', '/$import', { 'Content-Type': 'application/fhir+ndjson' }, body));
	}

	/** The status when the job has ended. */
	async ended(status: string): Promise<BulkReply> {
		for (;;) {
			const reply = await this.call('GET', status);
			if (reply.status !== 202) return reply;
			await new Promise((resolve) => setTimeout(resolve, 25));
		}
	}

	/** The manifest of a job that ends well. */
	async manifest(status: string): Promise<FhirBody> {
		const reply = await this.ended(status);
		if (reply.status !== 200) throw new Error(`the job ended with ${reply.status}: ${reply.text}`);
		return JSON.parse(reply.text);
	}

	/** The lines of a file of a manifest. */
	async lines(url: string): Promise<string[]> {
		const reply = await this.call('GET', url);
		if (reply.status !== 200 || !reply.text.endsWith('\n')) throw new Error(`${url} answers ${reply.status}`);
		return reply.text.slice(0, -1).split('\n');
	}

	/** Every line of an export, by type. */
	async exported(path = '/$export'): Promise<Map<string, string[]>> {
		const { output } = await this.manifest(await this.startExport(path));
		const files = (output as { type: string; url: string }[]).map(async ({ type, url }) => [type, await this.lines(url)] as const);
		return new Map(await Promise.all(files));
	}
}

function location(reply: BulkReply): string {
	const url = reply.headers.get('content-location');
	if (reply.status !== 202 || url === null) throw new Error(`the job was answered ${reply.status}: ${reply.text}`);
	return url;
}

import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a request is answered with in place of what it asks for. */
export type S3Fault = { status: number; code: string } | 'reset' | 'cut' | 'hang';

export interface S3Request {
	method: string;
	/** Below the bucket; empty for the bucket itself. */
	key: string;
	query: URLSearchParams;
}

interface Stored {
	bytes: Buffer;
	changed: Date;
	/** The headers that begin with x-amz-meta-. */
	metadata?: Record<string, string>;
}

interface Upload {
	key: string;
	initiated: Date;
	parts: Map<number, Buffer>;
	metadata?: Record<string, string>;
}

/**
 * As much of the S3 API (path-style) as the object store uses, in memory, and strict where S3 is: signatures are asked for (not
 * verified), checksums and lengths have to be right, parts are completed in order and by their ETags.
 */
export class S3Server implements AsyncDisposable {
	readonly bucket = 'images';
	readonly accessKeyId = 'TESTKEY';
	readonly objects = new Map<string, Stored>();
	readonly uploads = new Map<string, Upload>();
	readonly requests: S3Request[] = [];
	/** Asked for every request; undefined: it is carried out. */
	fault: (request: S3Request) => S3Fault | undefined = () => undefined;
	/** Entries of a page of a listing. */
	pageMax = 2;
	readonly #answering = new Set<ServerResponse>();
	readonly #server = createServer((request, response) => {
		this.#answering.add(response);
		response.once('close', () => this.#answering.delete(response));
		this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
	});

	/** Listens, and returns the variables by which a service reaches it. */
	async variables(): Promise<Record<'AWS_ENDPOINT_URL_S3' | 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY', string>> {
		return { AWS_ENDPOINT_URL_S3: await this.listen(), AWS_ACCESS_KEY_ID: this.accessKeyId, AWS_SECRET_ACCESS_KEY: 'secret' };
	}

	async listen(): Promise<string> {
		this.#server.listen(0, '127.0.0.1');
		await once(this.#server, 'listening');
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	/** Connections on which something is being answered. */
	busy(): number {
		return this.#answering.size;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		if (!this.#server.listening) return;
		const closed = once(this.#server, 'close');
		this.#server.close();
		this.#server.closeAllConnections();
		await closed;
	}

	async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const url = new URL(request.url ?? '/', 'http://s3');
		const [, bucket, ...path] = decodeURIComponent(url.pathname).split('/');
		const asked: S3Request = { method: request.method ?? '', key: path.join('/'), query: url.searchParams };
		this.requests.push(asked);
		const fault = this.fault(asked);
		if (fault === 'reset') {
			request.socket.resetAndDestroy();
			return;
		}
		// It takes the request and never answers.
		if (fault === 'hang') {
			request.resume();
			return;
		}
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const body = Buffer.concat(chunks);
		if (fault && fault !== 'cut') {
			refuse(response, fault.status, fault.code);
			return;
		}
		if (!(request.headers.authorization ?? '').includes(`Credential=${this.accessKeyId}/`)) {
			refuse(response, 403, 'AccessDenied');
			return;
		}
		if (bucket !== this.bucket) {
			refuse(response, 404, 'NoSuchBucket');
			return;
		}
		const isUpload = asked.method === 'PUT' && request.headers['x-amz-copy-source'] === undefined;
		// What S3 takes without, the product never sends without.
		if (isUpload && request.headers['content-md5'] === undefined) {
			refuse(response, 400, 'InvalidRequest');
			return;
		}
		if (isUpload && request.headers['content-md5'] !== digestOf(body, 'base64')) {
			refuse(response, 400, 'BadDigest');
			return;
		}
		if (request.headers['content-encoding'] === 'aws-chunked') {
			refuse(response, 501, 'NotImplemented');
			return;
		}
		this.#carryOut(asked, request, body, response, fault === 'cut');
	}

	#carryOut(asked: S3Request, request: IncomingMessage, body: Buffer, response: ServerResponse, isCut: boolean): void {
		const { method, key, query } = asked;
		const uploadId = query.get('uploadId');
		if (key === '' && query.has('uploads')) {
			this.#listUploads(query, response);
			return;
		}
		if (key === '') {
			this.#list(query, response);
			return;
		}
		if (method === 'POST' && query.has('uploads')) {
			this.#initiate(key, metadataOf(request), response);
			return;
		}
		if (uploadId !== null) {
			this.#part(asked, uploadId, request, body, response);
			return;
		}
		if (method === 'PUT') {
			this.#put(key, request, body, response);
			return;
		}
		if (method === 'DELETE') {
			this.objects.delete(key);
			response.writeHead(204).end();
			return;
		}
		const held = this.objects.get(key);
		if (held === undefined) {
			refuse(response, 404, method === 'HEAD' ? undefined : 'NoSuchKey');
			return;
		}
		send(held, method, request.headers.range, response, isCut);
	}

	#put(key: string, request: IncomingMessage, body: Buffer, response: ServerResponse): void {
		const source = this.#source(request);
		if (source === null) {
			refuse(response, 404, 'NoSuchKey');
			return;
		}
		const bytes = source ?? body;
		this.objects.set(key, { bytes, changed: new Date(), metadata: metadataOf(request) });
		if (source === undefined) response.writeHead(200, { ETag: etagOf(bytes) }).end();
		else xml(response, `<CopyObjectResult><ETag>${etagOf(bytes)}</ETag></CopyObjectResult>`);
	}

	/** What is to be copied; null: it is not there, undefined: nothing is to be copied. */
	#source(request: IncomingMessage): Buffer | null | undefined {
		const name = request.headers['x-amz-copy-source'];
		if (typeof name !== 'string') return undefined;
		const held = this.objects.get(decodeURIComponent(name).replace(`${this.bucket}/`, ''));
		const range = /^bytes=(\d+)-(\d+)$/.exec(String(request.headers['x-amz-copy-source-range'] ?? ''));
		if (held === undefined) return null;
		return range ? held.bytes.subarray(Number(range[1]), Number(range[2]) + 1) : held.bytes;
	}

	#initiate(key: string, metadata: Record<string, string>, response: ServerResponse): void {
		const id = randomUUID();
		this.uploads.set(id, { key, initiated: new Date(), parts: new Map(), metadata });
		xml(response, `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
	}

	#part({ method, key, query }: S3Request, id: string, request: IncomingMessage, body: Buffer, response: ServerResponse): void {
		const upload = this.uploads.get(id);
		if (upload === undefined || upload.key !== key) {
			refuse(response, 404, 'NoSuchUpload');
			return;
		}
		if (method === 'DELETE') {
			this.uploads.delete(id);
			response.writeHead(204).end();
		} else if (method === 'PUT') {
			const source = this.#source(request);
			if (source === null) {
				refuse(response, 404, 'NoSuchKey');
				return;
			}
			const bytes = source ?? body;
			upload.parts.set(Number(query.get('partNumber')), bytes);
			if (source === undefined) response.writeHead(200, { ETag: etagOf(bytes) }).end();
			else xml(response, `<CopyPartResult><ETag>${etagOf(bytes)}</ETag></CopyPartResult>`);
		} else this.#complete(id, upload, body.toString(), response);
	}

	#complete(id: string, { key, parts, metadata }: Upload, body: string, response: ServerResponse): void {
		const named = [...body.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => ({
			number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
			etag: /<ETag>(.*?)<\/ETag>/.exec(part)?.[1]?.replaceAll('&quot;', '"'),
		}));
		const whole = named.map(({ number, etag }, index) => {
			const bytes = parts.get(number);
			return bytes !== undefined && number === index + 1 && etag === etagOf(bytes) ? bytes : undefined;
		});
		if (whole.length === 0 || whole.includes(undefined)) {
			refuse(response, 400, 'InvalidPart');
			return;
		}
		this.objects.set(key, { bytes: Buffer.concat(whole as Buffer[]), changed: new Date(), ...(metadata && { metadata }) });
		this.uploads.delete(id);
		xml(response, `<CompleteMultipartUploadResult><Key>${key}</Key></CompleteMultipartUploadResult>`);
	}

	#list(query: URLSearchParams, response: ServerResponse): void {
		const prefix = query.get('prefix') ?? '';
		const after = query.get('continuation-token') ?? '';
		const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
		const page = keys.slice(0, this.pageMax);
		const contents = page.map((key) => {
			const { bytes, changed } = this.objects.get(key) as Stored;
			return `<Contents><Key>${key}</Key><Size>${bytes.length}</Size><LastModified>${changed.toISOString()}</LastModified></Contents>`;
		});
		const next = page.length < keys.length ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
		xml(response, `<ListBucketResult><IsTruncated>${next !== ''}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`);
	}

	#listUploads(query: URLSearchParams, response: ServerResponse): void {
		const prefix = query.get('prefix') ?? '';
		const after = query.get('upload-id-marker') ?? '';
		const all = [...this.uploads].filter(([id, { key }]) => key.startsWith(prefix) && id > after).sort(([a], [b]) => (a < b ? -1 : 1));
		const page = all.slice(0, this.pageMax);
		const listed = page.map(
			([id, { key, initiated }]) =>
				`<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated.toISOString()}</Initiated></Upload>`,
		);
		const [id, last] = page.at(-1) ?? [];
		const next =
			page.length < all.length ? `<NextKeyMarker>${last?.key}</NextKeyMarker><NextUploadIdMarker>${id}</NextUploadIdMarker>` : '';
		xml(
			response,
			`<ListMultipartUploadsResult><IsTruncated>${next !== ''}</IsTruncated>${next}${listed.join('')}</ListMultipartUploadsResult>`,
		);
	}
}

function digestOf(bytes: Buffer, encoding: 'hex' | 'base64'): string {
	return createHash('md5').update(bytes).digest(encoding);
}

function etagOf(bytes: Buffer): string {
	return `"${digestOf(bytes, 'hex')}"`;
}

function metadataOf({ headers }: IncomingMessage): Record<string, string> {
	return Object.fromEntries(
		Object.entries(headers).flatMap(([name, value]) => (name.startsWith('x-amz-meta-') ? [[name, String(value)]] : [])),
	);
}

/** `isCut`: the connection ends in the middle of the bytes. */
function send(
	{ bytes, changed, metadata }: Stored,
	method: string,
	range: string | undefined,
	response: ServerResponse,
	isCut: boolean,
): void {
	const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
	if (Number(start) >= bytes.length) {
		refuse(response, 416, 'InvalidRange');
		return;
	}
	const part = start === undefined ? bytes : bytes.subarray(Number(start), Number(end) + 1);
	response.writeHead(start === undefined ? 200 : 206, {
		'Content-Length': part.length,
		'Last-Modified': changed.toUTCString(),
		ETag: etagOf(bytes),
		...metadata,
	});
	if (method === 'HEAD') response.end();
	else if (isCut) response.write(part.subarray(0, part.length >> 1), () => response.socket?.destroy());
	else response.end(part);
}

function xml(response: ServerResponse, body: string): void {
	response.writeHead(200, { 'Content-Type': 'application/xml' }).end(`<?xml version="1.0" encoding="UTF-8"?>\n${body}`);
}

function refuse(response: ServerResponse, status: number, code: string | undefined): void {
	response.writeHead(status, { 'Content-Type': 'application/xml' });
	response.end(code === undefined ? '' : `<?xml version="1.0"?><Error><Code>${code}</Code><Message>as the test wants it</Message></Error>`);
}

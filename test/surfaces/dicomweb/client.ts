import assert from 'node:assert/strict';
import { part10Head } from '#dicom/part10.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { ctStorage, type SampleInstance, sampleDataSet } from '#test/support/data-set.ts';
import type { FhirBody, TestService } from '#test/support/service.ts';

export const boundary = 'a-boundary';

/** The parts of a store request, with `application/dicom` each. */
export function multipartBody(parts: readonly Uint8Array[], type = 'application/dicom'): Buffer {
	const written = parts.flatMap((part) => [Buffer.from(`--${boundary}\r\nContent-Type: ${type}\r\n\r\n`), part, Buffer.from('\r\n')]);
	return Buffer.concat([...written, Buffer.from(`--${boundary}--\r\n`)]);
}

export const multipartType = `multipart/related; type="application/dicom"; boundary=${boundary}`;

/** A DICOM file. */
export function file(
	given: Partial<SampleInstance> = {},
	transferSyntaxUid = explicitLittleEndian,
	dataSet = sampleDataSet(given),
): Buffer {
	const { sopClassUid = ctStorage, sopInstanceUid = '1.2.3.4.5' } = given;
	return Buffer.concat([part10Head({ sopClassUid, sopInstanceUid, transferSyntaxUid }), dataSet]);
}

export interface Answer {
	status: number;
	headers: Headers;
	bytes: Buffer;
	json(): FhirBody;
}

export interface DicomWebClient {
	get(path: string, headers?: Record<string, string>): Promise<Answer>;
	/** `path` behind `/studies`. */
	store(parts: readonly Uint8Array[], path?: string): Promise<Answer>;
	post(path: string, body: Uint8Array | ReadableStream, headers: Record<string, string>): Promise<Answer>;
}

export function dicomWebClient(service: TestService, key: string): DicomWebClient {
	const call = async (
		method: string,
		path: string,
		headers: Record<string, string>,
		body?: Uint8Array | ReadableStream,
	): Promise<Answer> => {
		const streamed = body instanceof ReadableStream ? { duplex: 'half' } : {};
		const init = { method, headers: { 'X-API-Key': key, ...headers }, ...(body === undefined ? {} : { body }), ...streamed };
		const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}/dicomweb${path}`, init as RequestInit);
		const bytes = Buffer.from(await answer.arrayBuffer());
		assert.match(answer.headers.get('x-request-id') ?? '', /^\S+$/);
		return { status: answer.status, headers: answer.headers, bytes, json: () => JSON.parse(bytes.toString('utf8')) };
	};
	return {
		get: (path, headers = {}) => call('GET', path, headers),
		store: (parts, path = '') => call('POST', `/studies${path}`, { 'Content-Type': multipartType }, multipartBody(parts)),
		post: (path, body, headers) => call('POST', path, headers, body),
	};
}

export interface ReadPart {
	headers: Record<string, string>;
	bytes: Buffer;
}

/** The parts of an answer, cut apart by hand. */
export function partsOf({ headers, bytes }: Answer): ReadPart[] {
	const [, name] = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '') ?? [];
	assert.ok(name);
	const text = bytes.toString('latin1');
	assert.ok(text.endsWith(`--${name}--\r\n`), 'the closing boundary');
	return text
		.split(`--${name}`)
		.slice(1, -1)
		.map((part) => {
			assert.ok(part.startsWith('\r\n') && part.endsWith('\r\n'));
			const end = part.indexOf('\r\n\r\n');
			const lines = part.slice(2, end).split('\r\n');
			return {
				headers: Object.fromEntries(lines.map((line) => line.split(': ') as [string, string])),
				bytes: Buffer.from(part.slice(end + 4, -2), 'latin1'),
			};
		});
}

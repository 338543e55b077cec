import { assertEmitted } from './emitted.ts';
import type { FhirBody, TestService } from './service.ts';

export interface FhirReply {
	status: number;
	headers: Headers;
	text: string;
	body: FhirBody;
}

export type FhirCall = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<FhirReply>;

/** Compression has tests of its own. To compress every answer, and to read it, is much of the work of a FHIR test. */
const uncompressed = { 'Accept-Encoding': 'identity' };

/** Calls the FHIR surface with a key; `path` is relative to the base. A body that is no string is sent as JSON. Every answer is validated. */
export function fhirClient(service: Pick<TestService, 'port'>, key: string): FhirCall {
	return async (method, path, body, headers = {}) => {
		const type = method === 'PATCH' ? 'application/json-patch+json' : 'application/fhir+json';
		const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
		const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir${path}`, {
			method,
			headers: { 'X-API-Key': key, ...uncompressed, ...(body === undefined ? {} : { 'Content-Type': type }), ...headers },
			...sent,
		});
		const text = await answer.text();
		const parsed = text === '' ? undefined : JSON.parse(text);
		assertEmitted(parsed);
		return { status: answer.status, headers: answer.headers, text, body: parsed };
	};
}

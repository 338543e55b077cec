/** All calls of the admin API: JSON with the session cookie, and with the CSRF token on every change. */

import { capitalized } from './format.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An answer other than 2xx. The status is 0 if no answer came. */
export class ApiFailure extends Error {
	override readonly name = 'ApiFailure';
	readonly status: number;
	/** The invalid member of the input. */
	readonly field: string | undefined;
	/** Try again after this many seconds. */
	readonly retryAfterS: number | undefined;

	constructor(status: number, message: string, field?: string, retryAfterS?: number) {
		super(message);
		this.status = status;
		this.field = field;
		this.retryAfterS = retryAfterS;
	}
}

/** Connects this client to the session; `session.ts` sets both. */
export const credentials = { csrfToken: '', onUnauthorized: () => {} };

const prefix = '/api/v1';

export interface Call<Input extends object, Output> {
	(
		...parameters: Record<never, never> extends Input ? [input?: Input, signal?: AbortSignal] : [input: Input, signal?: AbortSignal]
	): Promise<Output>;
	readonly method: Method;
	readonly path: string;
}

/** Every call of the console. A test compares them with the operations of the service. */
export const calls: { method: Method; path: string }[] = [];

/**
 * Makes a function of one operation of the API. Members of the input that the path names as `{member}` go there. The others are the
 * query of a GET or DELETE, and otherwise the body.
 */
export function call<Input extends object, Output>(method: Method, path: `/${string}`): Call<Input, Output> {
	const perform = async (input: object = {}, signal?: AbortSignal): Promise<Output> => {
		const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
		const filled = path.replace(/\{(\w+)\}/g, (_, member: string) => {
			const value = rest.get(member);
			rest.delete(member);
			return encodeURIComponent(String(value));
		});
		if (method === 'GET' || method === 'DELETE') return (await send(method, `${filled}${queryOf(rest)}`, undefined, signal)) as Output;
		return (await send(method, filled, rest.size === 0 ? undefined : Object.fromEntries(rest), signal)) as Output;
	};
	calls.push({ method, path });
	return Object.assign(perform, { method, path }) as Call<Input, Output>;
}

export function queryOf(members: Iterable<[string, unknown]>): string {
	const query = new URLSearchParams();
	for (const [name, value] of members) {
		for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined && one !== '') query.append(name, String(one));
	}
	const text = query.toString();
	return text === '' ? '' : `?${text}`;
}

async function send(method: Method, path: string, body: object | undefined, signal: AbortSignal | undefined): Promise<unknown> {
	const headers: Record<string, string> = { Accept: 'application/json' };
	if (method !== 'GET') headers['X-CSRF-Token'] = credentials.csrfToken;
	if (body !== undefined) headers['Content-Type'] = 'application/json';
	const asked = fetch(`${prefix}${path}`, {
		method,
		headers,
		credentials: 'same-origin',
		cache: 'no-store',
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
		...(signal === undefined ? {} : { signal }),
	});
	const answer = await reached(asked, signal);
	const text = await answer.text();
	if (answer.ok) return text === '' ? undefined : JSON.parse(text);
	const isSignIn = method !== 'GET' && path.startsWith('/session');
	throw refusalOf(answer, text, isSignIn);
}

/** Reads a file that the API gives, in the form that is named by its media type. @throws ApiFailure */
export async function readBytes(path: string, signal: AbortSignal, accept = '*/*'): Promise<ArrayBuffer> {
	const asked = fetch(fileAddress(path), { headers: { Accept: accept }, credentials: 'same-origin', cache: 'no-store', signal });
	const answer = await reached(asked, signal);
	if (answer.ok) return await reached(answer.arrayBuffer(), signal);
	throw refusalOf(answer, await answer.text());
}

/** Sends a file as the body of a request. @throws ApiFailure */
export async function sendFile<Output>(path: string, file: Blob, signal: AbortSignal): Promise<Output> {
	const headers = { 'Content-Type': 'application/dicom', 'X-CSRF-Token': credentials.csrfToken };
	const asked = fetch(fileAddress(path), { method: 'POST', headers, credentials: 'same-origin', body: file, signal });
	const answer = await reached(asked, signal);
	const text = await answer.text();
	if (answer.ok) return JSON.parse(text) as Output;
	throw refusalOf(answer, text);
}

/** Says in words that no answer comes, unless the page itself has broken the request off. */
async function reached<T>(asked: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
	try {
		return await asked;
	} catch (error) {
		if (signal?.aborted) throw error;
		throw new ApiFailure(0, 'The service does not answer. Your network or the service itself may be down.');
	}
}

/** @param isSignIn a refused sign-in does not say that a session has ended */
function refusalOf(answer: Response, text: string, isSignIn = false): ApiFailure {
	const failure = failureOf(answer, text);
	if (failure.status === 401 && !isSignIn) credentials.onUnauthorized();
	return failure;
}

/** The address of a file that the API gives, for links and pictures. */
export function fileAddress(path: string): string {
	return `${prefix}${path}`;
}

function failureOf(answer: Response, text: string): ApiFailure {
	let error: string | undefined;
	let field: string | undefined;
	if (answer.headers.get('Content-Type')?.includes('json')) {
		const body = JSON.parse(text) as { error?: string; field?: string };
		({ error, field } = body);
	}
	const retryAfter = Number(answer.headers.get('Retry-After') ?? Number.NaN);
	const request = answer.headers.get('X-Request-Id');
	const sentence = error ?? `The service answered ${answer.status}${request === null ? '' : ` to request ${request}`}.`;
	return new ApiFailure(answer.status, capitalized(sentence), field, Number.isFinite(retryAfter) ? retryAfter : undefined);
}

import type { KeyGrant } from '#access/directory.ts';
import type { KeyScope } from '#record/key-scopes.ts';
import type { TraceIds } from '#record/trace-ids.ts';

/** The head of a request, independent of the server library. */
interface RequestHead {
	readonly method: string;
	/** Path without the query; still percent-encoded. */
	readonly path: string;
	/** The text after the `?`, still encoded; empty when there is none. */
	readonly query: string;
	/** Values of the pattern's `:name` parts, decoded. */
	readonly params: Readonly<Record<string, string>>;
	/** Returns a header by its lower-case name. */
	header(name: string): string | undefined;
	/** The address of the sender. Behind a trusted proxy it is the one that the proxy forwards. */
	readonly source: string;
	/** True when the sender reached us, or the trusted proxy, over TLS. */
	readonly secure: boolean;
	/** Scheme, host and port for absolute links, without a trailing slash. The Host header has a say only as configured. */
	readonly origin: string;
	readonly requestId: string;
	/** Set when the request is traced. */
	readonly trace?: TraceIds | undefined;
	/** Is completed once the caller is known. */
	readonly caller: Caller;
	/** The scope of its route. */
	readonly keyScope?: KeyScope | undefined;
}

/** What the server has to know of a caller who was let in. */
export interface Caller {
	/** The grant of the key or token of the request. It is asked for again once the body is read, because access may have changed by then. */
	grant?: KeyGrant;
	/** The origins whose pages may read answers of the caller's site. */
	origins?: readonly string[];
}

/** A request with its whole, bounded body, as most handlers take it. */
export interface HttpRequest extends RequestHead {
	readonly body: Uint8Array;
}

/** A request whose handler reads the body while it arrives. */
export interface StreamedRequest extends RequestHead {
	/**
	 * Can be read once. While nobody reads, the sender is held back. Throws a Failure when the body is longer than the route allows, or when
	 * the sender goes away before its end.
	 */
	readonly body: AsyncIterable<Uint8Array>;
}

export interface HttpAnswer {
	status: number;
	headers?: Readonly<Record<string, string>>;
	/** Each becomes a Set-Cookie header of its own (RFC 6265 §3). */
	cookies?: readonly string[];
	/** An iterable is read as fast as the client takes it, and ended early when the client goes away. */
	body?: string | Uint8Array | AsyncIterable<Uint8Array>;
}

/** Tells who calls. Throws a Failure for a caller whom it does not let in, or rejects with one. */
export type Admission = (request: Pick<HttpRequest, 'header' | 'caller' | 'source' | 'keyScope'>) => KeyGrant | Promise<KeyGrant>;

interface RoutePattern {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** A pattern such as `/fhir/:type/:id`; a parameter is one path segment, `:$name` one that begins with `$`. */
	pattern: string;
	/** True when a slash behind the path changes nothing. The handler gets the path without it. */
	mayEndInSlash?: boolean;
	/** The scope that an API key needs here. Without one every key may call, and what it may do depends on what it asks for. */
	keyScope?: KeyScope | undefined;
	/** True when the answer is the same for every caller, with a key or without one. */
	isPublic?: boolean;
	/** True when the handler also answers callers without a key. */
	isOpen?: boolean;
	/** True when the handler answers whatever name the Host header has, where its surface asks for the names of its own. */
	underAnyName?: boolean;
	/** Tells who calls, where a route lets others in than its surface does. */
	admit?: Admission;
}

/** A route whose handler gets the whole request. */
export interface Route extends RoutePattern {
	streams?: false;
	handle(request: HttpRequest): HttpAnswer | Promise<HttpAnswer>;
}

/** A route whose handler gets the head and reads the body while it arrives. */
export interface StreamingRoute extends RoutePattern {
	streams: true;
	/** The limit of the body; HTTP_BODY_BYTES_MAX does not apply here. */
	bytesMax: number;
	handle(request: StreamedRequest): HttpAnswer | Promise<HttpAnswer>;
}

export type AnyRoute = Route | StreamingRoute;

export const statusTexts: Readonly<Record<number, string>> = {
	200: 'OK',
	201: 'Created',
	202: 'Accepted',
	204: 'No Content',
	304: 'Not Modified',
	400: 'Bad Request',
	401: 'Unauthorized',
	403: 'Forbidden',
	404: 'Not Found',
	405: 'Method Not Allowed',
	406: 'Not Acceptable',
	408: 'Request Timeout',
	409: 'Conflict',
	410: 'Gone',
	412: 'Precondition Failed',
	413: 'Content Too Large',
	415: 'Unsupported Media Type',
	421: 'Misdirected Request',
	422: 'Unprocessable Content',
	429: 'Too Many Requests',
	431: 'Request Header Fields Too Large',
	500: 'Internal Server Error',
	503: 'Service Unavailable',
};

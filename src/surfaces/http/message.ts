/** The head of a request, independent of the server library. */
interface RequestHead {
	readonly method: string;
	/** Path without the query; still percent-encoded. */
	readonly path: string;
	/** What follows the `?`, still encoded; empty when there is none. */
	readonly query: string;
	/** Values of the pattern's `:name` parts, decoded. */
	readonly params: Readonly<Record<string, string>>;
	/** Header by lower-case name. */
	header(name: string): string | undefined;
	/** The sender's address; behind a trusted proxy, the one that it forwards. */
	readonly source: string;
	/** Whether the sender reached us, or the trusted proxy, over TLS. */
	readonly secure: boolean;
	readonly requestId: string;
}

/** A request as most handlers see it: whole and bounded. */
export interface HttpRequest extends RequestHead {
	readonly body: Uint8Array;
}

/** A request whose handler takes the body as it comes. */
export interface StreamedRequest extends RequestHead {
	/**
	 * Can be read once. While nobody reads, the sender is held back. Throws a Failure when the body is longer than the route
	 * allows, and when the sender goes away before its end.
	 */
	readonly body: AsyncIterable<Uint8Array>;
}

export interface HttpAnswer {
	status: number;
	headers?: Readonly<Record<string, string>>;
	/** Each is a header Set-Cookie of its own (RFC 6265 §3). */
	cookies?: readonly string[];
	/** An iterable is read as fast as the client takes it, and left early when the client goes away. */
	body?: string | Uint8Array | AsyncIterable<Uint8Array>;
}

interface RoutePattern {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** `/fhir/:type/:id`; a parameter is one path segment. */
	pattern: string;
}

/** Its handler is called with the whole request. */
export interface Route extends RoutePattern {
	streams?: false;
	handle(request: HttpRequest): HttpAnswer | Promise<HttpAnswer>;
}

/** Its handler is called with the head, and reads the body as it comes. */
export interface StreamingRoute extends RoutePattern {
	streams: true;
	/** Of the body; HTTP_BODY_BYTES_MAX does not hold here. */
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
	422: 'Unprocessable Content',
	429: 'Too Many Requests',
	500: 'Internal Server Error',
	503: 'Service Unavailable',
};

/** A request as handlers see it: whole, bounded, and independent of the server library. */
export interface HttpRequest {
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
	readonly body: Uint8Array;
	readonly requestId: string;
}

export interface HttpAnswer {
	status: number;
	headers?: Readonly<Record<string, string>>;
	body?: string | Uint8Array;
}

export interface Route {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** `/fhir/:type/:id`; a parameter is one path segment. */
	pattern: string;
	handle(request: HttpRequest): HttpAnswer | Promise<HttpAnswer>;
}

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

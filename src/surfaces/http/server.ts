import { addressSet, normaliseAddress, parseAddress, parseRange } from '#core/address.ts';
import { Failure, failureCodes } from '#core/failure.ts';
import { isUuid, newId } from '#core/id.ts';
import type { Limits } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import { type Metrics, statusClass } from '#core/metrics.ts';
import { collectBody, framingFault, tooLarge, tooMuch } from './body.ts';
import { type HttpResponse, loadServer, type TemplatedApp } from './load.ts';
import { type HttpAnswer, type HttpRequest, type Route, statusTexts } from './message.ts';
import { type RouteMatch, Router } from './router.ts';

export interface HttpServerOptions {
	name: 'fhir' | 'hl7-http' | 'operations';
	host: string;
	port: number;
	tls?: { certFile: string; keyFile: string } | undefined;
	/** CIDR ranges whose X-Forwarded-For and X-Forwarded-Proto are believed. */
	trustedProxies: readonly string[];
	limits: Limits;
	metrics: Metrics;
	log: Log;
	routes: readonly Route[];
	/** How this surface words a failure; the status is the failure's. */
	renderFailure(failure: Failure, request: Pick<HttpRequest, 'header' | 'requestId'>): HttpAnswer;
}

export interface HttpServer {
	port: number;
	tls: boolean;
	/** Stops listening, lets what is under way finish, then closes every connection. */
	close(waitMs: number): Promise<void>;
}

/** @throws Error when the address cannot be bound */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
	const server = new Server(options);
	await server.listen();
	return server;
}

type Head = Omit<HttpRequest, 'params' | 'body'> & { contentLength: number };

class Server implements HttpServer {
	readonly #options: HttpServerOptions;
	readonly #router: Router;
	readonly #app: TemplatedApp;
	readonly #isTrustedProxy: (address: string) => boolean;
	#listening: unknown;
	#port = 0;
	#underWay = 0;
	/** Of bodies that are being read or answered. */
	#waitingBytes = 0;
	#drained: (() => void) | undefined;

	constructor(options: HttpServerOptions) {
		this.#options = options;
		this.#router = new Router(options.routes);
		this.#isTrustedProxy = addressSet(options.trustedProxies.map((text) => parseRange(text)).filter((range) => range !== undefined));
		const { uws } = loadServer();
		this.#app = options.tls ? uws.SSLApp({ cert_file_name: options.tls.certFile, key_file_name: options.tls.keyFile }) : uws.App();
		this.#app.any('/*', (response, request) => {
			const headers: [string, string][] = [];
			request.forEach((name, value) => {
				headers.push([name, value]);
			});
			this.#accept(response, request.getCaseSensitiveMethod(), request.getUrl(), request.getQuery() ?? '', headers);
		});
	}

	get port(): number {
		return this.#port;
	}

	get tls(): boolean {
		return this.#options.tls !== undefined;
	}

	listen(): Promise<void> {
		const { host, port, name } = this.#options;
		const { uws } = loadServer();
		return new Promise((resolve, reject) => {
			this.#app.listen(host, port, (listening) => {
				if (!listening) {
					reject(new Error(`the ${name} surface cannot listen on ${host}:${port}: the port is taken or the address is not ours`));
					return;
				}
				this.#listening = listening;
				this.#port = uws.us_socket_local_port(listening as unknown as Parameters<typeof uws.us_socket_local_port>[0]);
				resolve();
			});
		});
	}

	#accept(response: HttpResponse, method: string, path: string, query: string, headers: readonly [string, string][]): void {
		const exchange = new Exchange(response, method === 'HEAD', this.#options);
		const head = this.#headOf(response, method, path, query, headers);
		const fault = framingFault(headers);
		if (fault) {
			// Answered a moment later: should more stand behind it, the library ends the connection instead of reading it as a request.
			response.onAborted(() => exchange.abort());
			setImmediate(() => exchange.answer(this.#failed(fault, head), head, 'none', true));
			return;
		}
		const match = this.#router.match(method, path);
		if (match.kind !== 'route') {
			exchange.answer(this.#unrouted(match, head), head, 'none', head.contentLength > 0);
			return;
		}
		const { httpRequestsMax, httpBodyBytesMax, httpWaitingBytesMax } = this.#options.limits;
		const { pattern } = match.route;
		if (head.contentLength > httpBodyBytesMax) {
			exchange.answer(this.#failed(tooLarge(httpBodyBytesMax), head), head, pattern, true);
			return;
		}
		if (this.#underWay >= httpRequestsMax || this.#waitingBytes + head.contentLength > httpWaitingBytesMax) {
			exchange.answer(this.#failed(tooMuch(), head), head, pattern, true);
			return;
		}
		this.#begin(response, exchange, head, match.route, match.params);
	}

	/** Nothing is at the path, or not for this method; OPTIONS asks for just that (RFC 9110 §9.3.7). */
	#unrouted(match: Exclude<RouteMatch, { kind: 'route' }>, head: Head): HttpAnswer {
		if (match.kind === 'path') return this.#failed(new Failure('not-found', 'there is nothing at this path'), head);
		if (head.method === 'OPTIONS') return { status: 204, headers: { Allow: match.allow } };
		const answer = this.#failed(new Failure('method-not-allowed', `${head.method} is not supported here`), head);
		return { ...answer, headers: { ...answer.headers, Allow: match.allow } };
	}

	#begin(response: HttpResponse, exchange: Exchange, head: Head, route: Route, params: Record<string, string>): void {
		this.#underWay++;
		let finished = false;
		let bytes = 0;
		const take = (more: number) => {
			if (this.#waitingBytes + more > this.#options.limits.httpWaitingBytesMax) return false;
			bytes += more;
			this.#waitingBytes += more;
			return true;
		};
		const finish = () => {
			if (finished) return;
			finished = true;
			this.#waitingBytes -= bytes;
			this.#underWay--;
			if (this.#underWay === 0) this.#drained?.();
		};
		response.onAborted(() => {
			exchange.abort();
			finish();
		});
		const carryOut = (body: Uint8Array) => {
			this.#handle(route, { ...head, params, body })
				.then((answer) => exchange.answer(answer, head, route.pattern, false))
				.catch((error) => {
					this.#options.log.error({ err: error, requestId: head.requestId }, 'an answer could not be written');
					exchange.breakOff();
				})
				.finally(finish);
		};
		if (head.method === 'GET' || head.method === 'HEAD') {
			carryOut(noBody);
			return;
		}
		collectBody(response, { bytesMax: this.#options.limits.httpBodyBytesMax, take }, (body) => {
			if (!(body instanceof Failure)) return carryOut(body);
			exchange.answer(this.#failed(body, head), head, route.pattern, true);
			finish();
		});
	}

	async #handle(route: Route, request: HttpRequest): Promise<HttpAnswer> {
		try {
			return await route.handle(request);
		} catch (error) {
			if (error instanceof Failure) return this.#failed(error, request);
			this.#options.log.error({ err: error, requestId: request.requestId, route: route.pattern }, 'request failed');
			return this.#failed(new Failure('internal', 'the request could not be processed'), request);
		}
	}

	#failed(failure: Failure, request: Pick<HttpRequest, 'header' | 'requestId'>): HttpAnswer {
		const answer = this.#options.renderFailure(failure, request);
		const headers = { ...answer.headers };
		if (failure.retryAfterSeconds !== undefined) headers['Retry-After'] = String(failure.retryAfterSeconds);
		return { ...answer, status: failureCodes[failure.code].status, headers };
	}

	#headOf(response: HttpResponse, method: string, path: string, query: string, headers: readonly [string, string][]): Head {
		const byName = new Map(headers);
		const peer = normaliseAddress(Buffer.from(response.getRemoteAddressAsText()).toString('latin1'));
		const trusted = this.#isTrustedProxy(peer);
		const given = byName.get('x-request-id');
		return {
			method,
			path,
			query,
			header: (name) => byName.get(name),
			source: trusted ? this.#forwardedFor(headers, peer) : peer,
			secure: this.tls || (trusted && byName.get('x-forwarded-proto') === 'https'),
			requestId: given !== undefined && (isUuid(given) || /^[\w.-]{1,64}$/.test(given)) ? given : newId(),
			contentLength: Number(byName.get('content-length') ?? 0),
		};
	}

	/** The last address that no trusted proxy of ours stands for: what is left of it is the sender's own word. */
	#forwardedFor(headers: readonly (readonly [string, string])[], peer: string): string {
		const hop = headers
			.filter(([name]) => name === 'x-forwarded-for')
			.flatMap(([, value]) => value.split(','))
			.map((entry) => normaliseAddress(entry.trim()))
			.findLast((entry) => entry !== '' && !this.#isTrustedProxy(entry));
		return hop !== undefined && parseAddress(hop) !== undefined ? hop : peer;
	}

	async close(waitMs: number): Promise<void> {
		const { uws } = loadServer();
		if (this.#listening) uws.us_listen_socket_close(this.#listening as Parameters<typeof uws.us_listen_socket_close>[0]);
		this.#listening = undefined;
		if (this.#underWay > 0) {
			await new Promise<void>((resolve) => {
				const timer = setTimeout(resolve, waitMs);
				this.#drained = () => {
					clearTimeout(timer);
					resolve();
				};
			});
		}
		this.#app.close();
	}
}

const noBody = new Uint8Array(0);

/** One answer to one request, written in one piece, unless the sender has gone. */
class Exchange {
	readonly #response: HttpResponse;
	readonly #isHead: boolean;
	readonly #options: HttpServerOptions;
	readonly #started = performance.now();
	#over = false;
	#isGone = false;

	constructor(response: HttpResponse, isHead: boolean, options: HttpServerOptions) {
		this.#response = response;
		this.#isHead = isHead;
		this.#options = options;
	}

	abort(): void {
		this.#over = true;
		this.#isGone = true;
	}

	/** Ends the connection in the middle of an answer that went wrong. */
	breakOff(): void {
		if (!this.#isGone) this.#response.close();
	}

	answer(answer: HttpAnswer, head: Pick<Head, 'requestId'>, route: string, closeConnection: boolean): void {
		if (this.#over) return;
		this.#over = true;
		const { metrics, name } = this.#options;
		metrics.httpRequests.inc({ surface: name, route, status: statusClass(answer.status) });
		metrics.httpSeconds.observe({ surface: name, route }, (performance.now() - this.#started) / 1000);
		const response = this.#response;
		response.cork(() => {
			response.writeStatus(`${answer.status} ${statusTexts[answer.status] ?? 'Status'}`);
			response.writeHeader('X-Request-Id', head.requestId);
			for (const header in answer.headers) response.writeHeader(header, answer.headers[header] ?? '');
			if (this.#isHead) response.endWithoutBody(answer.body === undefined ? 0 : Buffer.byteLength(answer.body), closeConnection);
			else if (answer.status === 304 || answer.status === 204) response.endWithoutBody(undefined, closeConnection);
			else response.end(answer.body ?? '', closeConnection);
		});
	}
}

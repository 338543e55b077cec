import { addressSet, normaliseAddress, parseAddress, parseRange } from '#core/address.ts';
import { Failure, failureCodes } from '#core/failure.ts';
import { isUuid, newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import { type BodyBounds, collectBody, StreamedBody, tooLarge, tooMuch } from './body.ts';
import type { CrossOrigin } from './cross-origin.ts';
import { discardBody, type Remainder } from './discard.ts';
import { encoded } from './encoding.ts';
import { Exchange } from './exchange.ts';
import { credentialFault, framingFault, headBytes, headTooLarge } from './head-fault.ts';
import type { HttpLimits } from './limits.ts';
import { type HttpResponse, loadServer, type TemplatedApp } from './load.ts';
import type { AnyRoute, HttpAnswer, HttpRequest, Route, StreamedRequest, StreamingRoute } from './message.ts';
import type { HttpMetrics } from './metrics.ts';
import { type OpenPort, openPort, type WantedPort } from './open-port.ts';
import { Origins, type PublicOrigin } from './origin.ts';
import { type RouteMatch, Router } from './router.ts';

export interface HttpServerOptions extends WantedPort {
	name: 'fhir' | 'hl7-http' | 'mpps' | 'admin' | 'operations';
	tls?: { certFile: string; keyFile: string } | undefined;
	/** CIDR ranges of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted. */
	trustedProxies: readonly string[];
	/** What may stand in absolute links; without it only the address at which the server listens. */
	publicOrigin?: PublicOrigin;
	/** Which pages of other origins may read the answers; without it, none. */
	crossOrigin?: CrossOrigin;
	limits: HttpLimits;
	metrics: HttpMetrics;
	log: Log;
	routes: readonly AnyRoute[];
	/** Answers GET when no route matches. */
	elsewhere?: Route;
	/** Headers of every answer that does not set them itself. */
	headers?: Readonly<Record<string, string>>;
	/** True when answers depend on the key of the caller, so that no cache may keep them. Those of public routes do not. */
	keyed?: boolean;
	/** Renders a failure as this surface words it. The status follows from the failure. */
	renderFailure(failure: Failure, request: Pick<HttpRequest, 'header' | 'path' | 'requestId'>): HttpAnswer;
}

export interface HttpServer {
	port: number;
	tls: boolean;
	/** Stops listening, lets the requests under way finish, then closes every connection. */
	close(waitMs: number): Promise<void>;
}

/** @throws StartError when the address cannot be bound */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
	const server = new Server(options);
	await server.listen();
	return server;
}

type Head = Omit<HttpRequest, 'params' | 'body'> & { contentLength: number };

/** A request under way: its share of the limits and the means to answer it. */
interface UnderWay<R extends AnyRoute = AnyRoute> {
	response: HttpResponse;
	exchange: Exchange;
	head: Head;
	route: R;
	params: Record<string, string>;
	/** Counts bytes of the body that wait. Returns false when all requests together hold too many already. */
	take(bytes: number): boolean;
	give(bytes: number): void;
	/** Releases everything that the request holds. */
	finish(): void;
}

class Server implements HttpServer {
	readonly #options: HttpServerOptions;
	readonly #router: Router<AnyRoute>;
	readonly #app: TemplatedApp;
	readonly #isTrustedProxy: (address: string) => boolean;
	#open: OpenPort | undefined;
	#port = 0;
	#origins: Origins | undefined;
	#underWay = 0;
	/** Bytes of bodies that are being read or answered. */
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

	async listen(): Promise<void> {
		const { host, publicOrigin = { hosts: [] } } = this.#options;
		this.#open = await openPort(this.#app, this.#options);
		this.#port = this.#open.port;
		this.#origins = new Origins(publicOrigin, { host, port: this.#port, tls: this.tls });
	}

	#accept(response: HttpResponse, method: string, path: string, query: string, headers: readonly [string, string][]): void {
		const exchange = new Exchange(response, method === 'HEAD', this.#options);
		const head = this.#headOf(response, method, path, query, headers);
		const fault = framingFault(headers);
		if (fault) {
			// The answer is sent a moment later. If more bytes follow it, the library closes the connection instead of reading them as a
			// request.
			response.onAborted(() => exchange.abort());
			setImmediate(() => void exchange.answer(this.#failed(fault, head), { ...this.#answering(head), connection: 'closed' }));
			return;
		}
		const { httpHeaderBytesMax } = this.#options.limits;
		const isTooLarge = headBytes(method, path, query, headers) > httpHeaderBytesMax;
		const headFault = isTooLarge ? headTooLarge(httpHeaderBytesMax) : credentialFault(headers);
		if (headFault) {
			this.#refuse(response, exchange, head, this.#failed(headFault, head));
			return;
		}
		const match = this.#match(method, path);
		if (match.kind !== 'route') {
			this.#refuse(response, exchange, head, this.#unrouted(match, head));
			return;
		}
		const { route, params } = match;
		const routed = match.path === path ? head : { ...head, path: match.path };
		const excess = this.#excess(route, head.contentLength);
		if (excess === undefined) this.#begin(response, exchange, routed, route, params);
		else this.#refuse(response, exchange, head, this.#failed(excess, routed), route);
	}

	/** Answers without looking at the body. Nobody counts such a request, so it can be answered in an overload. */
	#refuse(response: HttpResponse, exchange: Exchange, head: Head, answer: HttpAnswer, route?: AnyRoute): void {
		const to = this.#answering(head, route);
		if (!hasBody(head)) {
			// A caller that is refused within this call may have gone. The library insists on this handler.
			response.onAborted(() => exchange.abort());
			void exchange.answer(answer, { ...to, connection: 'kept' });
			return;
		}
		const discard = discardBody(response, this.#options.limits.httpDiscardBytesMax, (rest) => {
			void exchange.answer(answer, { ...to, connection: connectionAfter[rest] });
		});
		response.onAborted(() => {
			exchange.abort();
			discard.abort();
		});
	}

	#match(method: string, path: string): RouteMatch {
		const match = this.#router.match(method, path);
		const { elsewhere } = this.#options;
		const isGet = method === 'GET' || method === 'HEAD';
		return match.kind === 'path' && isGet && elsewhere !== undefined ? { kind: 'route', route: elsewhere, params: {}, path } : match;
	}

	/** Returns the failure when the limits do not allow a request of this length. */
	#excess(route: AnyRoute, contentLength: number): Failure | undefined {
		const { httpRequestsMax, httpBodyBytesMax, httpWaitingBytesMax } = this.#options.limits;
		const bytesMax = route.streams ? route.bytesMax : httpBodyBytesMax;
		if (contentLength > bytesMax) return tooLarge(bytesMax);
		// Only pieces of a streamed body wait.
		const waitingBytes = this.#waitingBytes + (route.streams ? 0 : contentLength);
		return this.#underWay >= httpRequestsMax || waitingBytes > httpWaitingBytesMax ? tooMuch() : undefined;
	}

	/** Answers when nothing is at the path, or not for this method. OPTIONS asks for exactly that (RFC 9110 §9.3.7). */
	#unrouted(match: Exclude<RouteMatch, { kind: 'route' }>, head: Head): HttpAnswer {
		const preflight = this.#options.crossOrigin?.preflight(head);
		if (preflight) return preflight;
		if (match.kind === 'path') return this.#failed(new Failure('not-found', 'there is no such path'), head);
		if (head.method === 'OPTIONS') return { status: 204, headers: { Allow: match.allow } };
		const answer = this.#failed(new Failure('method-not-allowed', `${head.method} is not supported here`), head);
		return { ...answer, headers: { ...answer.headers, Allow: match.allow } };
	}

	#begin(response: HttpResponse, exchange: Exchange, head: Head, route: AnyRoute, params: Record<string, string>): void {
		this.#underWay++;
		let finished = false;
		let bytes = 0;
		const give = (less: number) => {
			bytes -= less;
			this.#waitingBytes -= less;
		};
		const take = (more: number) => {
			if (this.#waitingBytes + more > this.#options.limits.httpWaitingBytesMax) return false;
			give(-more);
			return true;
		};
		const finish = () => {
			if (finished) return;
			finished = true;
			give(bytes);
			this.#underWay--;
			if (this.#underWay === 0) this.#drained?.();
		};
		const underWay = { response, exchange, head, params, take, give, finish };
		if (route.streams) this.#stream({ ...underWay, route });
		else this.#collect({ ...underWay, route });
	}

	#collect(underWay: UnderWay<Route>): void {
		const { response, exchange, head, route, params, finish } = underWay;
		const carryOut = (body: Uint8Array) => this.#carryOut(underWay, () => route.handle(Object.assign(head, { params, body })), allSent);
		if (head.method === 'GET' || head.method === 'HEAD') {
			response.onAborted(() => {
				exchange.abort();
				finish();
			});
			carryOut(noBody);
			return;
		}
		const collecting = collectBody(response, this.#bounds(underWay, this.#options.limits.httpBodyBytesMax), (body, rest) => {
			if (body instanceof Failure)
				this.#carryOut(
					underWay,
					() => Promise.reject(body),
					() => rest,
				);
			else carryOut(body);
		});
		response.onAborted(() => {
			exchange.abort();
			collecting.abort();
			finish();
		});
	}

	#stream(underWay: UnderWay<StreamingRoute>): void {
		const { response, exchange, head, route, params, finish } = underWay;
		const body = new StreamedBody(response, this.#bounds(underWay, route.bytesMax));
		response.onAborted(() => {
			exchange.abort();
			body.abort();
			finish();
		});
		// The rest of a body that the handler did not read must not be read as a request.
		this.#carryOut(
			underWay,
			() => route.handle(Object.assign(head, { params, body }) satisfies StreamedRequest),
			() => body.close(),
		);
	}

	#bounds({ head, take, give }: UnderWay, bytesMax: number): BodyBounds {
		const { httpBodyStallMsMax: stallMsMax, httpDiscardBytesMax: discardBytesMax } = this.#options.limits;
		return { bytesMax, stallMsMax, discardBytesMax, isChunked: head.header('transfer-encoding') !== undefined, take, give };
	}

	/** `restOf` is called before the answer is written and tells how the body ended. */
	#carryOut(
		{ exchange, head, route, finish }: UnderWay,
		handle: () => HttpAnswer | Promise<HttpAnswer>,
		restOf: () => Remainder | Promise<Remainder>,
	): void {
		this.#handle(route, head, handle)
			.then((answer) => encoded(answer, head.header('accept-encoding')))
			.then(async (answer) => {
				const connection = connectionAfter[await restOf()];
				return exchange.answer(answer, { ...this.#answering(head, route), connection });
			})
			.catch((error) => {
				this.#options.log.error({ err: error, requestId: head.requestId }, 'an answer could not be written');
				exchange.breakOff();
			})
			.finally(finish);
	}

	/** Is called when the answer is known, because only then it is known who the caller is. */
	#answering(head: Head, { pattern, isPublic = false }: Partial<Pick<AnyRoute, 'pattern' | 'isPublic'>> = {}) {
		const { requestId } = head;
		return { requestId, route: pattern ?? 'none', isPublic, crossOrigin: this.#options.crossOrigin?.headersFor(head) };
	}

	async #handle(route: AnyRoute, head: Head, handle: () => HttpAnswer | Promise<HttpAnswer>): Promise<HttpAnswer> {
		try {
			return await handle();
		} catch (error) {
			if (error instanceof Failure) return this.#failed(error, head);
			this.#options.log.error({ err: error, requestId: head.requestId, route: route.pattern }, 'request failed');
			return this.#failed(new Failure('internal', 'the request could not be processed'), head);
		}
	}

	#failed(failure: Failure, request: Pick<HttpRequest, 'header' | 'path' | 'requestId'>): HttpAnswer {
		const answer = this.#options.renderFailure(failure, request);
		const headers = { ...answer.headers };
		if (failure.retryAfterSeconds !== undefined) headers['Retry-After'] = String(failure.retryAfterSeconds);
		return { ...answer, status: failureCodes[failure.code].status, headers };
	}

	#headOf(response: HttpResponse, method: string, path: string, query: string, headers: readonly [string, string][]): Head {
		const byName = new Map(headers);
		const address = Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
		const behindProxy = this.#options.trustedProxies.length > 0;
		const peer = () => normaliseAddress(address);
		const trusted = behindProxy && this.#isTrustedProxy(peer());
		const forwarded = () => this.#forwardedFor(headers, peer());
		const given = byName.get('x-request-id');
		const secure = this.tls || (trusted && byName.get('x-forwarded-proto') === 'https');
		const origins = this.#origins;
		return {
			method,
			path,
			query,
			header: (name) => byName.get(name),
			// Most requests never need their source, so it is computed on demand.
			get source() {
				return trusted ? forwarded() : peer();
			},
			secure,
			get origin() {
				return origins?.of({ host: byName.get('host'), secure }) ?? '';
			},
			requestId: given !== undefined && (isUuid(given) || /^[\w.-]{1,64}$/.test(given)) ? given : newId(),
			caller: {},
			contentLength: Number(byName.get('content-length') ?? 0),
		};
	}

	/** Returns the last address that is no trusted proxy. Everything to the left of it is only the sender's own claim. */
	#forwardedFor(headers: readonly (readonly [string, string])[], peer: string): string {
		const hop = headers
			.filter(([name]) => name === 'x-forwarded-for')
			.flatMap(([, value]) => value.split(','))
			.map((entry) => normaliseAddress(entry.trim()))
			.findLast((entry) => entry !== '' && !this.#isTrustedProxy(entry));
		return hop !== undefined && parseAddress(hop) !== undefined ? hop : peer;
	}

	async close(waitMs: number): Promise<void> {
		this.#open?.close();
		this.#open = undefined;
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
const allSent = () => 'sent' as const;
const connectionAfter = { sent: 'kept', paused: 'closed', endless: 'left' } as const;

function hasBody({ contentLength, header }: Head): boolean {
	return contentLength > 0 || header('transfer-encoding') !== undefined;
}

import type { KeyGrant } from '#access/directory.ts';
import { addressSet, normaliseAddress, parseRange } from '#core/address.ts';
import { Failure, failureCodes } from '#core/failure.ts';
import { isUuid, newId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { Tracing } from '#record/tracing.ts';
import { type BodyBounds, collectBody, StreamedBody, tooLarge } from './body.ts';
import type { CrossOrigin } from './cross-origin.ts';
import { discardBody, type Remainder } from './discard.ts';
import { encoded } from './encoding.ts';
import { Exchange } from './exchange.ts';
import { lastForwarded } from './forwarded.ts';
import { framingFault, headBytes, headersByName, headTooLarge } from './head-fault.ts';
import type { HttpLimits } from './limits.ts';
import { ListeningApp } from './listening-app.ts';
import type { HttpResponse } from './load.ts';
import type { Admission, AnyRoute, HttpAnswer, HttpRequest, Route, StreamedRequest, StreamingRoute } from './message.ts';
import type { HttpMetrics } from './metrics.ts';
import type { WantedPort } from './open-port.ts';
import { Origins, type PublicOrigin } from './origin.ts';
import type { OwnNames } from './own-names.ts';
import { remembering } from './remembering.ts';
import { RequestTrace, type TracedOrigin } from './request-trace.ts';
import { Room, type Stay } from './room.ts';
import { type RouteMatch, Router } from './router.ts';
import { Unanswered } from './unanswered.ts';

export interface HttpServerOptions extends WantedPort, Omit<TracedOrigin, 'name'> {
	name: 'fhir' | 'hl7-http' | 'mpps' | 'admin' | 'operations';
	tls?: { certFile: string; keyFile: string } | undefined;
	/** CIDR ranges of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted. */
	trustedProxies: readonly string[];
	/** What may stand in absolute links; without it only the address at which the server listens. */
	publicOrigin?: PublicOrigin;
	/** The names that a Host header may have; without it, any. */
	ownNames?: OwnNames | undefined;
	/** Which pages of other origins may read the answers; without it, none. */
	crossOrigin?: CrossOrigin;
	limits: HttpLimits;
	metrics: HttpMetrics;
	log: Log;
	/** Absent where requests are not traced. */
	tracing?: Tracing | undefined;
	routes: readonly AnyRoute[];
	/** Answers GET when no route matches. */
	elsewhere?: Route;
	/** Headers of every answer that does not set them itself. */
	headers?: Readonly<Record<string, string>>;
	/** True when answers depend on the key of the caller, so that no cache may keep them. Those of public routes do not. */
	keyed?: boolean;
	/** Is asked before anything is kept for a request that is not open to everyone. */
	admit?: Admission;
	/** Is told of every request that is answered 401. */
	refused?: ((request: Pick<HttpRequest, 'header' | 'source'>) => void) | undefined;
	/** Renders a failure as this surface words it. The status follows from the failure. */
	renderFailure(failure: Failure, request: Pick<HttpRequest, 'header' | 'path' | 'requestId'>): HttpAnswer;
}

export interface HttpServer {
	port: number;
	tls: boolean;
	/** Has new connections get the certificate that the files have now. */
	renew(): Promise<void>;
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
	stay: Stay;
	/** The caller, while it is still being found out. */
	admission: Promise<KeyGrant> | undefined;
}

class Server implements HttpServer {
	readonly #options: HttpServerOptions;
	readonly #router: Router<AnyRoute>;
	readonly #app: ListeningApp;
	readonly #isTrustedProxy: (address: string) => boolean;
	/** Reads the address of a connection. */
	readonly #peerOf = remembering((text) => {
		const address = normaliseAddress(text);
		return { address, isTrusted: this.#isTrustedProxy(address) };
	});
	#origins: Origins | undefined;
	readonly #unanswered: Unanswered;
	readonly #room: Room;
	#isDraining = false;

	constructor(options: HttpServerOptions) {
		this.#options = options;
		this.#router = new Router(options.routes);
		this.#room = new Room(options);
		this.#unanswered = new Unanswered(options.log);
		this.#isTrustedProxy = addressSet(options.trustedProxies.map((text) => parseRange(text)).filter((range) => range !== undefined));
		this.#app = new ListeningApp(options, (response, { method, path, query, headers }) =>
			this.#accept(response, method, path, query, headers),
		);
	}

	get port(): number {
		return this.#app.port;
	}

	get tls(): boolean {
		return this.#options.tls !== undefined;
	}

	async listen(): Promise<void> {
		const { host, publicOrigin = { hosts: [] } } = this.#options;
		await this.#app.listen();
		this.#origins = new Origins(publicOrigin, { host, port: this.port, tls: this.tls });
	}

	#accept(response: HttpResponse, method: string, path: string, query: string, headers: readonly [string, string][]): void {
		const exchange = new Exchange(response, method === 'HEAD', this.#options);
		const head = this.#headOf(response, method, path, query, headers);
		if (this.#options.tracing !== undefined) exchange.trace = RequestTrace.begin(this.#options.tracing, head, this.#options);
		const fault = framingFault(headers);
		if (fault) {
			// The answer is sent a moment later. If more bytes follow it, the library closes the connection instead of reading them as a
			// request.
			response.onAborted(() => exchange.abort());
			setImmediate(() => void exchange.answer(this.#failed(fault, head), { ...this.#answering(head), connection: 'closed' }));
			return;
		}
		const { httpHeaderBytesMax } = this.#options.limits;
		if (headBytes(method, path, query, headers) > httpHeaderBytesMax) {
			this.#refuse(response, exchange, head, this.#failed(headTooLarge(httpHeaderBytesMax), head));
			return;
		}
		const match = this.#match(method, path);
		if (match.kind !== 'route') {
			this.#refuse(response, exchange, head, this.#unrouted(match, head));
			return;
		}
		const { route, params } = match;
		const routed = Object.assign(match.path === path ? head : { ...head, path: match.path }, { keyScope: route.keyScope });
		try {
			this.#begin({ response, exchange, head: routed, route, params, ...this.#enter(route, routed) });
		} catch (error) {
			this.#refuse(response, exchange, routed, this.#answerTo(error, routed, route), route);
		}
	}

	/** Answers without looking at the body. Nobody counts such a request, so it can be answered in an overload. */
	#refuse(response: HttpResponse, exchange: Exchange, head: Head, answer: HttpAnswer, route?: AnyRoute): void {
		const to = this.#answering(head, route);
		if (!hasBody(head)) {
			// A caller that is refused within this call may have gone. The library insists on this handler.
			response.onAborted(() => exchange.abort());
			void exchange.answer(answer, { ...to, connection: this.#after('sent') });
			return;
		}
		const discard = discardBody(response, this.#options.limits.httpDiscardBytesMax, (rest) => {
			void exchange.answer(answer, { ...to, connection: this.#after(rest) });
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

	/**
	 * Finds out who calls, and takes room for the request.
	 * @throws Failure when the caller is not let in, or when the limits do not allow a request of this length
	 */
	#enter(route: AnyRoute, head: Head): Pick<UnderWay, 'stay' | 'admission'> {
		const { limits, ownNames } = this.#options;
		if (!route.underAnyName) ownNames?.check(head);
		const admit = route.admit ?? this.#options.admit;
		const caller = route.isPublic || route.isOpen ? undefined : admit?.(head);
		// Whoever finds out later that the caller is unknown says so; nobody else has to hear of it.
		if (caller instanceof Promise) caller.catch(() => undefined);
		const bytesMax = route.streams ? route.bytesMax : limits.httpBodyBytesMax;
		if (head.contentLength > bytesMax) throw tooLarge(bytesMax);
		// Only pieces of a streamed body wait.
		const bodyBytes = route.streams ? 0 : head.contentLength;
		const [grant, admission] = caller instanceof Promise ? [undefined, caller] : [caller, undefined];
		const stay = this.#room.enter(head.source, grant, bodyBytes);
		if (stay instanceof Failure) throw stay;
		return { stay, admission };
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

	#begin(underWay: UnderWay): void {
		const { route } = underWay;
		if (route.streams) this.#stream({ ...underWay, route });
		else this.#collect({ ...underWay, route });
	}

	#collect(underWay: UnderWay<Route>): void {
		const { response, exchange, head, route, params, stay, admission } = underWay;
		const run = (body: Uint8Array) => void this.#carryOut(underWay, () => route.handle(Object.assign(head, { params, body })), allSent);
		if (head.method === 'GET' || head.method === 'HEAD') {
			response.onAborted(() => {
				exchange.abort();
				stay.end();
			});
			run(noBody);
			return;
		}
		const collecting = collectBody(response, this.#bounds(underWay, this.#options.limits.httpBodyBytesMax), (body, rest) => {
			if (body instanceof Failure)
				void this.#carryOut(
					underWay,
					() => Promise.reject(body),
					() => rest,
				);
			else run(body);
		});
		admission?.then(
			(grant) => {
				const refused = stay.known(grant, 0);
				if (refused) collecting.refuse(refused);
			},
			(error: unknown) => collecting.refuse(this.#failureOf(error, head, route)),
		);
		response.onAborted(() => {
			exchange.abort();
			collecting.abort();
			stay.end();
		});
	}

	#stream(underWay: UnderWay<StreamingRoute>): void {
		const { response, exchange, head, route, params, stay, admission } = underWay;
		admission?.then(
			(grant) => stay.known(grant, 0),
			// The handler asks again, and hears it, too.
			() => undefined,
		);
		const body = new StreamedBody(response, this.#bounds(underWay, route.bytesMax));
		response.onAborted(() => {
			exchange.abort();
			body.abort();
			stay.end();
		});
		// The rest of a body that the handler did not read must not be read as a request.
		void this.#carryOut(
			underWay,
			() => route.handle(Object.assign(head, { params, body }) satisfies StreamedRequest),
			() => body.close(),
		);
	}

	#bounds({ head, stay }: UnderWay, bytesMax: number): BodyBounds {
		const { httpBodyStallMsMax: stallMsMax, httpDiscardBytesMax: discardBytesMax } = this.#options.limits;
		return { bytesMax, stallMsMax, discardBytesMax, isChunked: head.header('transfer-encoding') !== undefined, stay };
	}

	/** `restOf` is called before the answer is written and tells how the body ended. */
	async #carryOut(
		{ exchange, head, route, stay }: UnderWay,
		handle: () => HttpAnswer | Promise<HttpAnswer>,
		restOf: () => Remainder | Promise<Remainder>,
	): Promise<void> {
		try {
			const answer = await encoded(await this.#handle(route, head, handle), head.header('accept-encoding'));
			const connection = this.#after(await restOf());
			await exchange.answer(answer, { ...this.#answering(head, route), connection });
		} catch (error) {
			this.#options.log.error({ err: error, requestId: head.requestId, ...head.trace }, 'an answer could not be written');
			exchange.breakOff();
		} finally {
			stay.end();
		}
	}

	/** Is called when the answer is known, because only then it is known who the caller is. */
	#answering(head: Head, { pattern, isPublic = false }: Partial<Pick<AnyRoute, 'pattern' | 'isPublic'>> = {}) {
		const { requestId } = head;
		return { requestId, route: pattern ?? 'none', isPublic, crossOrigin: this.#options.crossOrigin?.headersFor(head) };
	}

	async #handle(route: AnyRoute, head: Head, handle: () => HttpAnswer | Promise<HttpAnswer>): Promise<HttpAnswer> {
		try {
			const answer = await handle();
			this.#unanswered.answered(answer.status, route.pattern);
			return answer;
		} catch (error) {
			return this.#answerTo(error, head, route);
		}
	}

	#answerTo(error: unknown, head: Head, route: AnyRoute): HttpAnswer {
		const failure = this.#failureOf(error, head, route);
		if (failure.code === 'unauthenticated') this.#options.refused?.(head);
		return this.#failed(failure, head);
	}

	#failureOf(error: unknown, head: Head, route: AnyRoute): Failure {
		if (error instanceof Failure) {
			this.#unanswered.failed(error, head, route.pattern);
			return error;
		}
		this.#options.log.error({ err: error, requestId: head.requestId, route: route.pattern, ...head.trace }, 'request failed');
		return new Failure('internal', 'the request could not be processed');
	}

	#failed(failure: Failure, request: Pick<HttpRequest, 'header' | 'path' | 'requestId'>): HttpAnswer {
		const answer = this.#options.renderFailure(failure, request);
		const headers = { ...answer.headers };
		if (failure.retryAfterSeconds !== undefined) headers['Retry-After'] = String(failure.retryAfterSeconds);
		return { ...answer, status: failureCodes[failure.code].status, headers };
	}

	#headOf(response: HttpResponse, method: string, path: string, query: string, headers: readonly [string, string][]): Head {
		const byName = headersByName(headers);
		const { address: peer, isTrusted } = this.#peerOf(Buffer.from(response.getRemoteAddressAsText()).toString('latin1'));
		const given = byName.get('x-request-id');
		const secure = this.tls || (isTrusted && byName.get('x-forwarded-proto') === 'https');
		return {
			method,
			path,
			query,
			header: (name) => byName.get(name),
			source: isTrusted ? lastForwarded(headers, peer, this.#isTrustedProxy) : peer,
			secure,
			origin: this.#origins?.of({ host: byName.get('host'), secure }) ?? '',
			requestId: given !== undefined && (isUuid(given) || /^[\w.-]{1,64}$/.test(given)) ? given : newId(),
			caller: {},
			contentLength: Number(byName.get('content-length') ?? 0),
		};
	}

	renew(): Promise<void> {
		return this.#app.renew();
	}

	/** Says what becomes of a connection. While the server drains each ends with its next answer: a client that sends on and on would keep it busy. */
	#after(rest: Remainder) {
		const connection = connectionAfter[rest];
		return connection === 'kept' && this.#isDraining ? 'closed' : connection;
	}

	async close(waitMs: number): Promise<void> {
		this.#isDraining = true;
		this.#app.leave();
		await this.#room.quiet(waitMs);
		this.#app.close();
	}
}

const noBody = new Uint8Array(0);
const allSent = () => 'sent' as const;
const connectionAfter = { sent: 'kept', paused: 'closed', endless: 'left' } as const;

function hasBody({ contentLength, header }: Head): boolean {
	return contentLength > 0 || header('transfer-encoding') !== undefined;
}

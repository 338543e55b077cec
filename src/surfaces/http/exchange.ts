import { answerHeaders } from './answer-headers.ts';
import { isWhole } from './encoding.ts';
import type { HttpLimits } from './limits.ts';
import type { HttpResponse } from './load.ts';
import { type HttpAnswer, statusTexts } from './message.ts';
import { type HttpMetrics, statusClass } from './metrics.ts';
import type { RequestTrace } from './request-trace.ts';

export interface ExchangeOptions {
	name: 'fhir' | 'hl7-http' | 'mpps' | 'admin' | 'operations';
	/** Headers of every answer that does not set them itself. */
	headers?: Readonly<Record<string, string>>;
	/** True when answers depend on who asks. Only those of public routes do not. */
	keyed?: boolean;
	limits: Pick<HttpLimits, 'httpStallMsMax'>;
	metrics: HttpMetrics;
}

interface AnswerTo {
	requestId: string;
	/** The pattern of the route, for the metrics. */
	route: string;
	/**
	 * `closed`: the connection ends with the answer, because it is unclear where another request would begin, or the server drains. `left`: nothing
	 * more is read from it, and the library ends it some seconds later. Its sender, who may still be sending, has the answer by then.
	 */
	connection: 'kept' | 'closed' | 'left';
	/** True when the answer is the same for every caller. */
	isPublic?: boolean;
	/** What a page of another origin needs to read the answer. */
	crossOrigin: Readonly<Record<string, string>> | undefined;
}

/** The library holds this much of a streamed answer for a client that does not read it. */
const pieceBytes = 65_536;
/** A probe of this size shows whether the library still holds something, because it tries to send that first. */
const probeBytes = 256;
/** The library closes a connection of which nothing is read for about ten seconds. A probe restarts that time. */
const probeMs = 4000;

/** Sends one answer to one request, unless the sender has gone. */
export class Exchange {
	/** Set when the request is traced. */
	trace: RequestTrace | undefined;
	readonly #response: HttpResponse;
	readonly #isHead: boolean;
	readonly #options: ExchangeOptions;
	readonly #started = performance.now();
	#over = false;
	#isGone = false;
	/** True while the library holds part of the answer because the client does not read it. */
	#isHeld = false;
	#takenAtMs = 0;
	#wake: (() => void) | undefined;

	constructor(response: HttpResponse, isHead: boolean, options: ExchangeOptions) {
		this.#response = response;
		this.#isHead = isHead;
		this.#options = options;
	}

	/** Marks that the sender has gone; nothing can be written from here on. */
	abort(): void {
		this.#over = true;
		this.#isGone = true;
		this.trace?.aborted();
		this.#wake?.();
	}

	/** Closes the connection in the middle of an answer that failed. */
	breakOff(): void {
		this.trace?.aborted();
		if (!this.#isGone) this.#response.close();
	}

	/** An answer of one piece is written at once. Otherwise the result resolves when the library has the whole answer. */
	answer(answer: HttpAnswer, to: AnswerTo): Promise<void> | undefined {
		if (this.#over) return undefined;
		this.#over = true;
		const { metrics, name } = this.#options;
		metrics.httpRequests.inc({ surface: name, route: to.route, status: statusClass(answer.status) });
		const { body = '' } = answer;
		if (!isWhole(body)) return this.#stream(answer, body, to).then(() => this.#answered(answer, to));
		this.#writeWhole(answer, body, to);
		this.#answered(answer, to);
		return undefined;
	}

	#answered(answer: HttpAnswer, to: AnswerTo): void {
		const { metrics, name } = this.#options;
		metrics.httpSeconds.observe({ surface: name, route: to.route }, (performance.now() - this.#started) / 1000);
		this.trace?.answered(answer.status, to.route);
	}

	#writeHead({ status, headers: own, cookies = [] }: HttpAnswer, { requestId, isPublic, crossOrigin, connection }: AnswerTo): void {
		const response = this.#response;
		response.writeStatus(`${status} ${statusTexts[status] ?? 'Status'}`);
		const { headers: standing, keyed = false } = this.#options;
		const headers = answerHeaders(own, { standing, isKeyed: keyed && !isPublic, crossOrigin });
		// Each call of the library costs more than all that it writes, so one call writes all headers.
		let lines = requestId;
		for (const header in headers) lines += `\r\n${header}: ${headers[header] ?? ''}`;
		if (connection === 'left') lines += '\r\nConnection: close';
		for (const cookie of cookies) lines += `\r\nSet-Cookie: ${cookie}`;
		response.writeHeader('X-Request-Id', lines);
	}

	#writeWhole(answer: HttpAnswer, body: string | Uint8Array, to: AnswerTo): void {
		const response = this.#response;
		const closeConnection = to.connection === 'closed';
		if (to.connection === 'left') response.pause();
		response.cork(() => {
			this.#writeHead(answer, to);
			// It is called without arguments, because the library would write an undefined length as a length.
			if (answer.status === 304 || answer.status === 204) {
				// The library does not close behind such an answer, so the client is asked to.
				if (closeConnection) response.writeHeader('Connection', 'close');
				response.endWithoutBody();
			} else if (!this.#isHead) response.end(body, closeConnection);
			else if (closeConnection) response.endWithoutBody(Buffer.byteLength(body), true);
			else {
				// The library that is told a length waits for a body of that length, and drops the next request of the connection.
				response.writeHeader('Content-Length', String(Buffer.byteLength(body)));
				response.endWithoutBody();
			}
		});
	}

	/** Sends the body in chunked coding, as fast as the client reads it. */
	async #stream(answer: HttpAnswer, body: AsyncIterable<Uint8Array>, to: AnswerTo): Promise<void> {
		const response = this.#response;
		if (to.connection === 'left') response.pause();
		response.onWritable(() => {
			this.#takenAtMs = performance.now();
			this.#wake?.();
			return true;
		});
		response.cork(() => {
			this.#writeHead(answer, to);
			if (to.connection === 'closed') response.writeHeader('Connection', 'close');
			if (!this.#isHead) return;
			// As GET is answered. A client that is told neither this nor a length ends the connection.
			response.writeHeader('Transfer-Encoding', 'chunked');
			// It is called without arguments, as above. The answer to HEAD has no body after which the connection would have to be closed.
			response.endWithoutBody();
		});
		if (this.#isHead) return;
		for await (const chunk of body) {
			await this.#writeChunk(chunk);
			if (this.#isGone) return;
		}
		// Asked to close here, the library would write a header into the body.
		if (!this.#isGone) response.cork(() => response.end());
	}

	async #writeChunk(chunk: Uint8Array): Promise<void> {
		for (let offset = 0; offset < chunk.length && !this.#isGone; ) {
			if (this.#isHeld && !(await this.#room())) return;
			const piece = chunk.subarray(offset, offset + (this.#isHeld ? probeBytes : pieceBytes));
			this.#response.cork(() => {
				const isTaken = this.#response.write(piece);
				if (!isTaken && !this.#isHeld) this.#takenAtMs = performance.now();
				this.#isHeld = !isTaken;
			});
			offset += piece.length;
		}
	}

	/** Waits until the client reads something or a probe is due. Returns false when the connection has ended. */
	async #room(): Promise<boolean> {
		await new Promise<void>((resolve) => {
			const timer = setTimeout(resolve, Math.min(probeMs, this.#options.limits.httpStallMsMax));
			this.#wake = () => {
				clearTimeout(timer);
				resolve();
			};
		});
		this.#wake = undefined;
		if (!this.#isGone && performance.now() - this.#takenAtMs > this.#options.limits.httpStallMsMax) this.#response.close();
		return !this.#isGone;
	}
}

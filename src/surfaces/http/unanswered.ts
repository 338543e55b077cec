import { type Failure, failureCodes } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import { RepeatedTrouble } from '#core/repeated.ts';

/** A request that the log tells of. */
interface Asked {
	requestId: string;
	trace?: object | undefined;
}

/** Tells why a server cannot answer: while the database is away, every request that needs it fails alike. */
export class Unanswered {
	readonly #trouble: RepeatedTrouble;
	/** The patterns of routes that have failed since it was over last. Others may need nothing of what is away, so they do not tell that it is back. */
	readonly #routes = new Set<string>();

	constructor(log: Log) {
		this.#trouble = new RepeatedTrouble(log, 'requests cannot be answered');
	}

	failed({ code, cause, message }: Failure, { requestId, trace }: Asked, route: string): void {
		if (cause === undefined || failureCodes[code].status < 500) return;
		this.#routes.add(route);
		this.#trouble.happened(cause, { reason: message, requestId, route, ...trace });
	}

	answered(status: number, route: string): void {
		if (status >= 500 || !this.#routes.has(route)) return;
		this.#routes.clear();
		this.#trouble.over();
	}
}

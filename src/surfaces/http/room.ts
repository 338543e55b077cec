import { setTimeout as pause } from 'node:timers/promises';
import type { KeyGrant } from '#access/directory.ts';
import { holderOf } from '#core/address.ts';
import { Failure } from '#core/failure.ts';
import type { HttpLimits } from './limits.ts';
import type { HttpMetrics, HttpSurfaceName } from './metrics.ts';
import { remembering } from './remembering.ts';

/** A client that has its answer may be about to ask again on the same connection. Closed at once, it would not know what became of its request. */
const quietMs = 100;

/** The holders of a share of a surface. */
export type Holder = 'address' | 'key' | 'site';

interface Share {
	readonly by: Holder;
	readonly name: string;
	requests: number;
	bytes: number;
}

type Most = Readonly<Record<Holder, number>>;

export interface RoomOptions {
	name: HttpSurfaceName;
	limits: HttpLimits;
	metrics: Pick<HttpMetrics, 'httpShareRefusals'>;
}

/** Requests under way on a surface and the bytes of their bodies, in all and by address, key and site. */
export class Room {
	readonly #options: RoomOptions;
	readonly #requestsMax: Most;
	readonly #bytesMax: Most;
	readonly #shares: Readonly<Record<Holder, Map<string, Share>>> = { address: new Map(), key: new Map(), site: new Map() };
	readonly #holderOf = remembering(holderOf);
	#requests = 0;
	#bytes = 0;
	#emptied: (() => void) | undefined;
	#leftAtMs = Number.NEGATIVE_INFINITY;

	constructor(options: RoomOptions) {
		this.#options = options;
		const { limits } = options;
		this.#requestsMax = { address: limits.httpAddressRequestsMax, key: limits.httpKeyRequestsMax, site: limits.httpSiteRequestsMax };
		// A share is never less than one body, or that body could never be sent.
		const atLeast = (bytes: number) => Math.max(bytes, limits.httpBodyBytesMax);
		this.#bytesMax = {
			address: atLeast(limits.httpAddressWaitingBytesMax),
			key: atLeast(limits.httpKeyWaitingBytesMax),
			site: atLeast(limits.httpSiteWaitingBytesMax),
		};
	}

	/**
	 * Takes room for a request, and says whether its body has room as well.
	 * @param grant the caller, if it is known already
	 * @returns Failure `unavailable` when the surface is full, `too-many-requests` when only the caller's share is
	 */
	enter(address: string, grant: KeyGrant | undefined, bodyBytes: number): Stay | Failure {
		const { httpRequestsMax, httpWaitingBytesMax } = this.#options.limits;
		if (this.#requests >= httpRequestsMax || this.#bytes + bodyBytes > httpWaitingBytesMax) return tooMuch();
		const stay = new Stay(this);
		this.#requests++;
		const refused = stay.count('address', this.#holderOf(address), bodyBytes) ?? (grant && stay.known(grant, bodyBytes));
		if (refused === undefined) return stay;
		stay.end();
		return refused;
	}

	/** Resolves when no request is under way and none has been for a moment, or after this time. */
	async quiet(waitMs: number): Promise<void> {
		const untilMs = performance.now() + waitMs;
		for (;;) {
			const isBusy = this.#requests > 0;
			const restMs = (isBusy ? untilMs : Math.min(untilMs, this.#leftAtMs + quietMs)) - performance.now();
			if (restMs <= 0) return;
			await (isBusy ? this.#empty(restMs) : pause(restMs));
		}
	}

	/** Resolves when no request is under way, or after this time. */
	#empty(waitMs: number): Promise<void> {
		return new Promise((resolve) => {
			const timer = setTimeout(resolve, waitMs);
			this.#emptied = () => {
				clearTimeout(timer);
				resolve();
			};
		});
	}

	/** Counts a request among those of a holder. Returns the failure if it has too many, or no room for the body. */
	join(by: Holder, name: string, bodyBytes: number): Share | Failure {
		const shares = this.#shares[by];
		const share = shares.get(name) ?? { by, name, requests: 0, bytes: 0 };
		if (share.requests >= this.#requestsMax[by]) return this.#refused(by, 'requests');
		if (share.bytes + bodyBytes > this.#bytesMax[by]) return this.#refused(by, 'bytes');
		if (share.requests++ === 0) shares.set(name, share);
		return share;
	}

	leave(shares: readonly Share[]): void {
		for (const share of shares) if (--share.requests === 0) this.#shares[share.by].delete(share.name);
		this.#requests--;
		if (this.#requests > 0) return;
		this.#leftAtMs = performance.now();
		this.#emptied?.();
	}

	/** Counts bytes that wait. Returns the failure when there are too many. */
	take(shares: readonly Share[], bytes: number): Failure | undefined {
		if (this.#bytes + bytes > this.#options.limits.httpWaitingBytesMax) return tooMuch();
		for (const { by, bytes: held } of shares) if (held + bytes > this.#bytesMax[by]) return this.#refused(by, 'bytes');
		this.give(shares, -bytes);
		return undefined;
	}

	give(shares: readonly Share[], bytes: number): void {
		this.#bytes -= bytes;
		for (const share of shares) share.bytes -= bytes;
	}

	#refused(holder: Holder, of: 'requests' | 'bytes'): Failure {
		const { metrics, name } = this.#options;
		metrics.httpShareRefusals.inc({ surface: name, holder, of });
		const text =
			of === 'requests' ? `too many requests of this ${holder} are in progress` : `bodies of this ${holder} take too much memory`;
		return new Failure('too-many-requests', text, { retryAfterSeconds: 1 });
	}
}

/** A request under way, with the room that it takes. */
export class Stay {
	readonly #room: Room;
	readonly #shares: Share[] = [];
	#bytes = 0;
	#isOver = false;

	constructor(room: Room) {
		this.#room = room;
	}

	/** Counts the request for its key and its site, too. Returns the failure when one of them has too much already. */
	known({ keyId, siteId }: KeyGrant, bodyBytes: number): Failure | undefined {
		return this.count('key', keyId, bodyBytes) ?? this.count('site', siteId, bodyBytes);
	}

	count(by: Holder, name: string, bodyBytes: number): Failure | undefined {
		if (this.#isOver) return undefined;
		const share = this.#room.join(by, name, bodyBytes);
		if (share instanceof Failure) return share;
		share.bytes += this.#bytes;
		this.#shares.push(share);
		return undefined;
	}

	/** Counts bytes of the body that wait. Returns the failure when the surface or one of the shares holds too many already. */
	take(bytes: number): Failure | undefined {
		const failure = this.#room.take(this.#shares, bytes);
		if (failure === undefined) this.#bytes += bytes;
		return failure;
	}

	give(bytes: number): void {
		this.#bytes -= bytes;
		this.#room.give(this.#shares, bytes);
	}

	/** Gives everything back. */
	end(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.give(this.#bytes);
		this.#room.leave(this.#shares);
	}
}

function tooMuch(): Failure {
	return new Failure('unavailable', 'too many requests are in progress', { retryAfterSeconds: 1 });
}

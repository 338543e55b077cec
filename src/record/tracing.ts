import type { BatchStages } from './batch-stages.ts';
import type { Delivery, Reply } from './delivery.ts';
import type { TraceIds } from './trace-ids.ts';

/** Words that are bounded in number: never what a sender wrote. */
export type TraceAttributes = Readonly<Record<string, string | number>>;

export interface TraceStart {
	/** `server`: a request. `consumer`: a message over a connection that stands. `client`: a request of the service to somebody else. */
	kind: 'server' | 'consumer' | 'client';
	name: string;
	surface: string;
	/** A time of performance.now() in the thread that owns the sockets, like all times here. */
	startedMs: number;
	/** The headers of these names. Invalid ones are ignored. */
	traceparent?: string | undefined;
	tracestate?: string | undefined;
	attributes?: TraceAttributes;
}

export interface TraceEnd {
	/** Set when the name is known only now. */
	name?: string;
	attributes?: TraceAttributes;
	/** The kind of the error: a code of the product or of the protocol. */
	error?: string | undefined;
}

/** One request or message that is sampled. */
export interface Trace {
	readonly ids: TraceIds;
	/** Ends now. A second call changes nothing. */
	end(end: TraceEnd): void;
}

/** A batch as its deliveries were in it. */
export interface TracedBatch {
	deliveries: readonly Delivery[];
	startedMs: number;
	endedMs: number;
	/** An error says why nothing was carried out; then the deliveries wait again. */
	result: { stages: BatchStages; replies: readonly (Reply | undefined)[] } | { error: 'unavailable' | 'crashed' };
}

/** Follows requests and messages from the socket to the commit. It is absent while nothing is traced. */
export interface Tracing {
	/** Returns undefined for what is not sampled. */
	begin(start: TraceStart): Trace | undefined;
	/** A delivery begins to wait for its turn. */
	enqueued(delivery: Delivery): void;
	carriedOut(batch: TracedBatch): void;
}

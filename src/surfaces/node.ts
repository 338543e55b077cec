import type { Access } from '#access/access.ts';
import type { Audit } from '#access/audit.ts';
import type { Passwords } from '#access/password.ts';
import type { Refusals } from '#access/refusals.ts';
import type { BulkJobs } from '#bulk/jobs.ts';
import type { Clock } from '#core/clock.ts';
import type { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import type { NodeLine, Quotas } from '#core/node-line.ts';
import type { HttpReach } from '#core/permitted-request.ts';
import type { Place } from '#core/place.ts';
import type { TargetPolicy } from '#core/target-policy.ts';
import type { OpenApiPart } from '#fhir/openapi.ts';
import type { InstanceIntake } from '#imaging/intake.ts';
import type { Tracing } from '#record/tracing.ts';
import type { Renderer } from '#rendering/renderer.ts';
import type { Shards } from '#site/shards.ts';
import type { Database } from '#storage/database.ts';
import type { FeedCounts } from '#storage/feeds/counts.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';
import type { StoreHealth } from '#storage/objects/store-health.ts';
import type { SurfaceAddress } from '#storage/runtime-file.ts';
import type { Certificates } from '../certificates.ts';
import type { Config } from '../config.ts';
import type { Metrics } from '../metrics.ts';
import type { AnyRoute, HttpAnswer, HttpRequest } from './http/message.ts';

/** A node as its surfaces see it. Each surface takes the parts that it needs; the service creates them once. */
export interface ServiceNode extends Readonly<Access> {
	readonly config: Config;
	readonly version: string;
	readonly log: Log;
	readonly metrics: Metrics;
	readonly clock: Clock;
	readonly certificates: Certificates;
	readonly gateway: Shards;
	/** Undefined while nothing is traced. */
	readonly tracing: Tracing | undefined;
	/** Follows the calls of webhooks; undefined while nothing is traced. */
	readonly traceWebhook: HttpReach['trace'];
	/** Counts in this process what each feed sends. */
	readonly feeds: FeedCounts;
	readonly database: Database;
	readonly audit: Audit;
	readonly refusals: Refusals;
	readonly passwords: Passwords;
	/** The addresses that this node calls for a site. */
	readonly targets: TargetPolicy;
	readonly bulk: BulkJobs;
	readonly objects: ObjectStore;
	/** The health of the object store, as far as it is known. */
	readonly objectStore: Pick<StoreHealth, 'trouble'>;
	readonly intake: InstanceIntake;
	readonly renderer: Renderer;
	/** The page from which the console is bundled. */
	readonly consolePage: URL;
	readonly state: { readonly draining: boolean; readonly listening: boolean };
	/** The addresses of the surfaces that were opened before. */
	readonly addresses: Readonly<Record<string, SurfaceAddress>>;
	/** The process within the node. */
	readonly place: Place;
	/** The line to the other processes of the node; undefined where this is the only one. */
	readonly line: NodeLine | undefined;
	/** Limits of the node, which its processes share. */
	readonly quotas: Quotas;
	/** Registers a function that closes something. The last one registered runs first. */
	onClose(close: () => Promise<void> | void): void;
	/**
	 * Registers a function that stops accepting and resolves when what is under way is answered. All of them run at the same time, before those of
	 * `onClose`, so that the end takes DRAIN_MS_MAX at most and no surface serves on while another drains.
	 */
	onDrain(drain: () => Promise<void> | void): void;
	/** Registers a function that runs before all others when this process ends and the node goes on. */
	onLeave(leave: () => Promise<void> | void): void;
}

/** One protocol of the product. It opens its sockets and returns their addresses by the names that `tributary status` shows. */
export interface Surface {
	readonly name: string;
	open(node: ServiceNode): Promise<Record<string, SurfaceAddress>>;
}

/** A surface without an origin of its own. Another one serves its routes. */
export interface GuestSurface {
	readonly name: string;
	owns(path: string): boolean;
	routes(node: ServiceNode): AnyRoute[];
	renderFailure(failure: Failure, request: Pick<HttpRequest, 'header'>): HttpAnswer;
	/** Its part of the API reference of the origin. */
	openApi: OpenApiPart;
}

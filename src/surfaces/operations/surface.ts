import { type Exposition, expositionOfNode } from '#core/exposition.ts';
import type { Failure } from '#core/failure.ts';
import type { Log } from '#core/log.ts';
import type { MetricSnapshot } from '#core/metric-snapshot.ts';
import type { ReplicaCondition } from '#storage/replica/replica-watch.ts';
import type { HttpLimits } from '../http/limits.ts';
import { listening, operatorNames } from '../http/listen.ts';
import { acceptedRanges, preferredType } from '../http/media-type.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import type { HttpMetrics } from '../http/metrics.ts';
import type { OwnNames } from '../http/own-names.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import type { ServiceNode, Surface } from '../node.ts';

/** Something that must be up before the node takes traffic, with its name in the answer: `database`, `workers`, `objects`, `listeners`. */
export interface ReadinessCheck {
	name: string;
	up(): boolean;
	/** Says why it is not up, where more is known than that. */
	reason?(): string | undefined;
}

export interface OperationsContext {
	checks: readonly ReadinessCheck[];
	/** Returns true from the moment at which the node was asked to end. */
	draining(): boolean;
	/** Tells how the replica of DATABASE_READ_URL is. A node is ready without it, because the primary answers in its place. */
	replica?(): ReplicaCondition | undefined;
	limits: HttpLimits;
	metrics: Exposition & HttpMetrics;
	/** Returns the metrics of the node; undefined where this process is the whole node. */
	ofNode?: (() => Promise<readonly MetricSnapshot[]>) | undefined;
	/** The names under which the metrics may be asked for; without them, any. */
	ownNames?: OwnNames;
	log: Log;
}

function jsonAnswer(status: number, body: object): HttpAnswer {
	return {
		status,
		headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' },
		body: JSON.stringify(body),
	};
}

/** The process runs and its event loop turns. Nothing else is checked, so that a lost database does not end the node. */
function live(): HttpAnswer {
	return jsonAnswer(200, { status: 'live' });
}

function ready({ checks, draining, replica }: OperationsContext): HttpAnswer {
	const states = checks.map(({ name, up }) => [name, up() ? 'up' : 'down'] as const);
	const reasons = checks.flatMap(({ name, reason }) => {
		const text = reason?.();
		return text === undefined ? [] : [[name, text] as const];
	});
	const allUp = states.every(([, state]) => state === 'up');
	const status = draining() ? 'draining' : allUp ? 'ready' : 'not ready';
	const told = reasons.length === 0 ? {} : { reasons: Object.fromEntries(reasons) };
	const beside = replica?.();
	const ofReplica = beside === undefined ? {} : { replica: beside };
	return jsonAnswer(status === 'ready' ? 200 : 503, { status, checks: Object.fromEntries(states), ...told, ...ofReplica });
}

const openMetrics = 'application/openmetrics-text';

async function expose({ metrics, ofNode }: OperationsContext, request: HttpRequest): Promise<HttpAnswer> {
	const wanted = preferredType(acceptedRanges(request.header('accept') ?? ''), ['text/plain', openMetrics]);
	const format = wanted === openMetrics ? 'openmetrics' : 'text';
	const { contentType, body } = ofNode === undefined ? await metrics.exposition(format) : await expositionOfNode(await ofNode(), format);
	return { status: 200, headers: { 'Content-Type': contentType, 'Cache-Control': 'no-store' }, body };
}

function renderFailure(failure: Failure): HttpAnswer {
	return jsonAnswer(500, { success: false, error: failure.diagnostics });
}

/** Serves `/metrics`, `/health/live` and `/health/ready` without a key. It is bound to loopback unless OPS_HOST says otherwise. */
export function createOperationsSurface(
	context: OperationsContext,
	listen: { host: string; port: number; sharesPort?: boolean },
): Promise<HttpServer> {
	const { limits, metrics, ownNames, log } = context;
	return createHttpServer({
		...listen,
		name: 'operations',
		trustedProxies: [],
		ownNames,
		limits,
		metrics,
		log,
		routes: [
			{ method: 'GET', pattern: '/metrics', handle: (request) => expose(context, request) },
			// Balancers ask with a Host header of their own, and the answers name nobody.
			{ method: 'GET', pattern: '/health/live', underAnyName: true, handle: live },
			{ method: 'GET', pattern: '/health/ready', underAnyName: true, handle: () => ready(context) },
		],
		renderFailure,
	});
}

/** Exposition & HttpMetrics and health. It is opened first and so closed last, when the others have drained: it tells that the node is draining. */
export const operationsSurface: Surface = {
	name: 'ops',
	async open(node) {
		const { config, log, metrics, directory, database, gateway, line, objectStore, place, state } = node;
		metrics.beforeCollect(() => collect(node));
		const checks = [
			{ name: 'database', up: () => directory.answering },
			{ name: 'reads', up: () => database.reads.isUp },
			{ name: 'workers', up: () => gateway.available() },
			{ name: 'objects', up: () => objectStore.trouble === undefined, reason: () => objectStore.trouble },
			{ name: 'listeners', up: () => state.listening },
		];
		const { OPS_HOST: host, OPS_PORT: port } = config;
		const context = {
			...{ checks, draining: () => state.draining, replica: () => database.reads.replica },
			...{ limits: config.limits, metrics, ofNode: line && (() => line.metrics()), log },
			ownNames: operatorNames(config, host),
		};
		const server = await createOperationsSurface(context, { host, port, sharesPort: place.count > 1 });
		// A process that leaves must not answer for a node that goes on.
		node.onLeave(() => server.close(config.limits.drainMsMax));
		return listening(node, 'ops', host, Promise.resolve(server), node.onClose);
	},
};

/** Sets the metrics that are measured only when they are asked for. */
function collect({ metrics, gateway, directory, database }: ServiceNode): void {
	const waiting = gateway.waiting();
	metrics.mailboxMessages.set(waiting.messages);
	metrics.mailboxBytes.set(waiting.bytes);
	metrics.mailboxDeepest.set(waiting.deepest);
	metrics.databaseUp.set(directory.answering ? 1 : 0);
	metrics.readsInFlight.set(database.reads.inFlight);
	metrics.readsWaiting.set(database.reads.waiting);
}

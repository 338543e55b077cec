import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { adminMetricDefinitions } from './admin-metrics.ts';
import { dicomWebMetricDefinitions } from './dicomweb-metrics.ts';
import { dimseMetricDefinitions } from './dimse-metrics.ts';
import { type FailureCode, failureCodes } from './failure.ts';
import { latencySeconds, type MetricDefinition } from './metric-definition.ts';
import { mppsMetricDefinitions } from './mpps-metrics.ts';
import { reportMetricDefinitions } from './report-metrics.ts';

export type { MetricDefinition };

const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
export type StatusClass = (typeof statusClasses)[number];

/** 503 → `5xx`. */
export function statusClass(status: number): StatusClass {
	return statusClasses[Math.floor(status / 100) - 1] ?? '5xx';
}

const hl7Surfaces = ['mllp', 'hl7-http', 'replay'] as const;
const httpSurfaces = ['fhir', 'hl7-http', 'mpps', 'admin', 'operations'] as const;
const bulkKinds = ['export', 'import'] as const;
const outcomes = ['accepted', 'refused', 'ignored', 'duplicate'] as const;
const site = { boundedBy: 'the slugs of the configured sites' } as const;
const route = { boundedBy: 'the route patterns of the surface, never a requested path' } as const;

/**
 * Every metric of the product, declared once. No histogram carries a site label: sites × buckets × routes would
 * outgrow the service itself. `docs/operations.md` explains them; dashboards and rules in `ops/` are held against this table.
 */
export const metricDefinitions = {
	buildInfo: {
		name: 'tributary_build_info',
		kind: 'gauge',
		help: 'Always 1; the labels name the running version.',
		labels: { version: { boundedBy: 'one per process' }, node: { boundedBy: 'one per process' } },
	},
	hl7Messages: {
		name: 'tributary_hl7_messages_total',
		kind: 'counter',
		help: 'HL7 v2 and v3 messages that were answered, by outcome.',
		labels: {
			surface: hl7Surfaces,
			type: { boundedBy: 'the known events and interactions, CDA, other' },
			outcome: outcomes,
		},
	},
	hl7Refusals: {
		name: 'tributary_hl7_refusals_total',
		kind: 'counter',
		help: 'HL7 v2 and v3 messages that were refused, by failure code.',
		labels: { surface: hl7Surfaces, code: Object.keys(failureCodes) as FailureCode[] },
	},
	fhirWrites: {
		name: 'tributary_fhir_writes_total',
		kind: 'counter',
		help: 'FHIR requests that write, by resource type and by outcome.',
		labels: { type: { boundedBy: 'the resource types that are served, and Bundle' }, outcome: outcomes },
	},
	fhirRefusals: {
		name: 'tributary_fhir_refusals_total',
		kind: 'counter',
		help: 'FHIR requests that were refused in their turn, by failure code.',
		labels: { code: Object.keys(failureCodes) as FailureCode[] },
	},
	...mppsMetricDefinitions,
	...reportMetricDefinitions,
	siteMessages: {
		name: 'tributary_site_messages_total',
		kind: 'counter',
		help: 'Messages answered, by site.',
		labels: { site, outcome: outcomes },
	},
	acknowledgementSeconds: {
		name: 'tributary_hl7_acknowledgement_seconds',
		kind: 'histogram',
		help: 'From the last byte of a message to its acknowledgement handed to the socket.',
		labels: { surface: hl7Surfaces },
		buckets: latencySeconds,
	},
	mllpConnections: {
		name: 'tributary_mllp_connections',
		kind: 'gauge',
		help: 'MLLP connections that are open.',
		labels: {},
	},
	mllpConnectionsPaused: {
		name: 'tributary_mllp_connections_paused',
		kind: 'gauge',
		help: 'Open MLLP connections from which nothing is read now, because of back-pressure.',
		labels: {},
	},
	mllpConnectionsOpened: {
		name: 'tributary_mllp_connections_total',
		kind: 'counter',
		help: 'MLLP connections by what was decided at their start.',
		labels: { result: ['accepted', 'refused-address', 'refused-limit', 'refused-proxy', 'refused-tls', 'unavailable'] },
	},
	mllpConnectionsEnded: {
		name: 'tributary_mllp_connection_ends_total',
		kind: 'counter',
		help: 'Ends of accepted MLLP connections, by reason.',
		labels: { reason: ['peer', 'idle', 'frame-timeout', 'slow-reader', 'unavailable', 'address', 'proxy', 'error', 'drained'] },
	},
	mllpFrames: {
		name: 'tributary_mllp_frames_total',
		kind: 'counter',
		help: 'MLLP frames received whole.',
		labels: {},
	},
	mllpReceivedBytes: {
		name: 'tributary_mllp_received_bytes_total',
		kind: 'counter',
		help: 'Bytes received over MLLP, framing included.',
		labels: {},
	},
	mllpSkippedBytes: {
		name: 'tributary_mllp_skipped_bytes_total',
		kind: 'counter',
		help: 'Bytes between MLLP frames, skipped.',
		labels: {},
	},
	mllpFrameErrors: {
		name: 'tributary_mllp_frame_errors_total',
		kind: 'counter',
		help: 'MLLP frames that were not taken as they came.',
		labels: { reason: ['restarted', 'unfinished', 'timeout', 'too-long', 'empty'] },
	},
	...dimseMetricDefinitions,
	...dicomWebMetricDefinitions,
	...adminMetricDefinitions,
	httpRequests: {
		name: 'tributary_http_requests_total',
		kind: 'counter',
		help: 'HTTP requests answered.',
		labels: { surface: httpSurfaces, route, status: statusClasses },
	},
	httpSeconds: {
		name: 'tributary_http_request_seconds',
		kind: 'histogram',
		help: 'From the head of an HTTP request to its answer handed to the socket.',
		labels: { surface: httpSurfaces, route },
		buckets: latencySeconds,
	},
	mailboxMessages: {
		name: 'tributary_mailbox_messages',
		kind: 'gauge',
		help: 'Messages that wait in the mailboxes of all sites.',
		labels: {},
	},
	mailboxBytes: {
		name: 'tributary_mailbox_bytes',
		kind: 'gauge',
		help: 'Bytes that wait in the mailboxes of all sites.',
		labels: {},
	},
	mailboxDeepest: {
		name: 'tributary_mailbox_deepest_messages',
		kind: 'gauge',
		help: 'Messages that wait in the fullest mailbox.',
		labels: {},
	},
	mailboxFull: {
		name: 'tributary_mailbox_full_total',
		kind: 'counter',
		help: 'Messages turned away because the mailbox of their site, or all of them together, had no room.',
		labels: {},
	},
	batchMessages: {
		name: 'tributary_ingest_batch_messages',
		kind: 'histogram',
		help: 'Messages of one transaction.',
		labels: {},
		buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
	},
	batchSeconds: {
		name: 'tributary_ingest_batch_seconds',
		kind: 'histogram',
		help: 'Duration of the stages of one transaction.',
		labels: { stage: ['interpret', 'read', 'apply', 'write', 'total'] },
		buckets: latencySeconds,
	},
	batchRetries: {
		name: 'tributary_ingest_batch_retries_total',
		kind: 'counter',
		help: 'Batches that were tried again: the database asked for it or was lost, or a worker ended.',
		labels: { reason: ['database', 'worker'] },
	},
	batchBisections: {
		name: 'tributary_ingest_batch_bisections_total',
		kind: 'counter',
		help: 'Batches that were halved to find the message that the database refuses.',
		labels: {},
	},
	workerRestarts: {
		name: 'tributary_worker_restarts_total',
		kind: 'counter',
		help: 'Ingest workers that ended unasked and were started again.',
		labels: {},
	},
	shardAvailable: {
		name: 'tributary_shard_available',
		kind: 'gauge',
		help: '1 while the shard takes batches.',
		labels: { shard: { boundedBy: 'WORKERS' } },
	},
	databaseUp: {
		name: 'tributary_database_up',
		kind: 'gauge',
		help: '1 while the database answers.',
		labels: {},
	},
	readsInFlight: {
		name: 'tributary_reads_in_flight',
		kind: 'gauge',
		help: 'Statements of FHIR reads and searches that the database works on.',
		labels: {},
	},
	readFailures: {
		name: 'tributary_read_failures_total',
		kind: 'counter',
		help: 'Statements of FHIR reads and searches that failed.',
		labels: {},
	},
	bulkJobs: {
		name: 'tributary_bulk_jobs_total',
		kind: 'counter',
		help: 'Exports and imports that ended, by how.',
		labels: { kind: bulkKinds, outcome: ['done', 'failed', 'stopped'] },
	},
	bulkRunning: {
		name: 'tributary_bulk_running',
		kind: 'gauge',
		help: 'Exports and imports that this node carries out now.',
		labels: { kind: bulkKinds },
	},
	bulkWaiting: {
		name: 'tributary_bulk_waiting',
		kind: 'gauge',
		help: 'Exports and imports that wait until this node has ended others.',
		labels: {},
	},
	bulkBytes: {
		name: 'tributary_bulk_bytes_total',
		kind: 'counter',
		help: 'Bytes that exports wrote and imports received.',
		labels: { kind: bulkKinds },
	},
	bulkLines: {
		name: 'tributary_bulk_lines_total',
		kind: 'counter',
		help: 'Lines of exports that ended, and of imports by outcome.',
		labels: { outcome: ['exported', 'created', 'updated', 'unchanged', 'refused'] },
	},
	accessSnapshotAge: {
		name: 'tributary_access_snapshot_age_seconds',
		kind: 'gauge',
		help: 'Time since keys and integration clients were last known to be current.',
		labels: {},
	},
	accessRefusals: {
		name: 'tributary_access_refusals_total',
		kind: 'counter',
		help: 'Callers that were turned away.',
		labels: {
			protocol: ['hl7-mllp', 'http', 'dicom'],
			reason: ['address', 'sender', 'tie', 'key', 'proxy', 'certificate', 'called', 'calling'],
		},
	},
	unmatchedMessages: {
		name: 'tributary_unmatched_messages_total',
		kind: 'counter',
		help: 'Messages that belong to no site; dropped ones were answered but not logged, the log was full.',
		labels: { reason: ['no-sender', 'tie'], result: ['logged', 'dropped'] },
	},
} as const satisfies Record<string, MetricDefinition>;

type Definitions = typeof metricDefinitions;
export type MetricName = keyof Definitions;

type ValueOf<D> = D extends readonly (infer V)[] ? V : string;
export type LabelsOf<N extends MetricName> = { [L in keyof Definitions[N]['labels']]: ValueOf<Definitions[N]['labels'][L]> };

interface Plain {
	counter: { inc(value?: number): void };
	gauge: { set(value: number): void; inc(value?: number): void; dec(value?: number): void };
	histogram: { observe(value: number): void };
}
interface Labelled<L> {
	counter: { inc(labels: L, value?: number): void };
	gauge: { set(labels: L, value: number): void; inc(labels: L, value?: number): void; dec(labels: L, value?: number): void };
	histogram: { observe(labels: L, value: number): void };
}
/** With labels, `labels(…)` binds them once for a hot path. */
export type Handle<N extends MetricName> = keyof Definitions[N]['labels'] extends never
	? Plain[Definitions[N]['kind']]
	: Labelled<LabelsOf<N>>[Definitions[N]['kind']] & { labels(labels: LabelsOf<N>): Plain[Definitions[N]['kind']] };

export type ExpositionFormat = 'text' | 'openmetrics';

export type Metrics = { readonly [N in MetricName]: Handle<N> } & {
	readonly registry: Registry;
	/** `sample` runs before every exposition, and whenever `refresh` is called, and sets the gauges that are cheaper to read than to follow. */
	beforeCollect(sample: () => void): void;
	refresh(): void;
	exposition(format: ExpositionFormat): Promise<{ contentType: string; body: string }>;
};

const constructors = { counter: Counter, gauge: Gauge, histogram: Histogram };

function register(registry: Registry, definition: MetricDefinition): unknown {
	return new constructors[definition.kind]({
		name: definition.name,
		help: definition.help,
		labelNames: Object.keys(definition.labels),
		registers: [registry],
		...(definition.buckets === undefined ? {} : { buckets: [...definition.buckets] }),
	});
}

/**
 * OpenMetrics 1.0 from the Prometheus text: a counter's family is named without `_total`, no blank lines, `# EOF`.
 * prom-client's own OpenMetrics mode renames the counters for good, so the next plain scrape would lose the suffix.
 */
function openMetrics(text: string): string {
	const counters = new Set<string>();
	for (const [, name] of text.matchAll(/^# TYPE (\S+)_total counter$/gm)) if (name !== undefined) counters.add(name);
	const lines = text.split('\n').filter((line) => line !== '');
	const renamed = lines.map((line) =>
		line.replace(/^# (HELP|TYPE) (\S+)_total /, (whole, keyword, name) => (counters.has(name) ? `# ${keyword} ${name} ` : whole)),
	);
	return `${renamed.join('\n')}\n# EOF\n`;
}

/** Handles on a registry of their own. `processMetrics: false` leaves out Node's process and event loop metrics (tests). */
export function createMetrics(options: { version?: string; processMetrics?: boolean } = {}): Metrics {
	const registry = new Registry();
	const samples: (() => void)[] = [];
	const handles = Object.fromEntries(
		Object.entries(metricDefinitions).map(([name, definition]) => [name, register(registry, definition)]),
	) as { [N in MetricName]: Handle<N> };
	if (options.processMetrics !== false) collectDefaultMetrics({ register: registry });
	handles.buildInfo.set({ version: options.version ?? 'unknown', node: process.version }, 1);
	const refresh = () => {
		for (const sample of samples) sample();
	};
	return Object.freeze({
		...handles,
		registry,
		beforeCollect: (sample: () => void) => {
			samples.push(sample);
		},
		refresh,
		exposition: async (format: ExpositionFormat) => {
			refresh();
			const text = await registry.metrics();
			return format === 'openmetrics'
				? { contentType: Registry.OPENMETRICS_CONTENT_TYPE, body: openMetrics(text) }
				: { contentType: Registry.PROMETHEUS_CONTENT_TYPE, body: text };
		},
	});
}

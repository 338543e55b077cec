import { latencySeconds, type MetricDefinitions, type MetricsOf } from '#core/metric-definition.ts';

const dimseOperations = ['C-ECHO', 'C-STORE', 'C-FIND', 'C-GET', 'C-MOVE', 'N-CREATE', 'N-SET', 'N-ACTION', 'other'] as const;

/** Associations in both directions, their requests, and storage commitment. */
export const dimseMetricDefinitions = {
	dimseConnectionsOpened: {
		name: 'tributary_dimse_connections_total',
		kind: 'counter',
		help: 'DIMSE connections by the decision at their start.',
		labels: { result: ['accepted', 'refused-limit', 'refused-address-limit', 'refused-proxy', 'refused-tls'] },
	},
	dimseAssociations: {
		name: 'tributary_dimse_associations',
		kind: 'gauge',
		help: 'Open DIMSE associations.',
		labels: {},
	},
	dimseAssociationsPaused: {
		name: 'tributary_dimse_associations_paused',
		kind: 'gauge',
		help: 'DIMSE associations whose reading is paused while their data is being stored or answered.',
		labels: {},
	},
	dimseAssociationRequests: {
		name: 'tributary_dimse_association_requests_total',
		kind: 'counter',
		help: 'Requested DIMSE associations, by answer.',
		labels: {
			result: [
				'accepted',
				'rejected-called',
				'rejected-calling',
				'rejected-unavailable',
				'rejected-limit',
				'rejected-client-limit',
				'rejected-site-limit',
				'rejected-version',
				'rejected-application-context',
			],
		},
	},
	dimseAssociationEnds: {
		name: 'tributary_dimse_association_ends_total',
		kind: 'counter',
		help: 'Ends of accepted DIMSE connections, by reason.',
		labels: {
			reason: ['released', 'rejected', 'peer-abort', 'closed', 'protocol', 'artim', 'idle', 'stalled', 'access', 'error', 'drained'],
		},
	},
	dimseReceivedBytes: {
		name: 'tributary_dimse_received_bytes_total',
		kind: 'counter',
		help: 'Bytes received over DIMSE, headers included.',
		labels: {},
	},
	dimseMessages: {
		name: 'tributary_dimse_messages_total',
		kind: 'counter',
		help: 'DIMSE requests by operation and status class. Abandoned requests broke off.',
		labels: { operation: dimseOperations, outcome: ['success', 'warning', 'failure', 'abandoned'] },
	},
	dimseMatches: {
		name: 'tributary_dimse_find_matches_total',
		kind: 'counter',
		help: 'Matches returned by C-FIND.',
		labels: {},
	},
	dimseSubOperations: {
		name: 'tributary_dimse_sub_operations_total',
		kind: 'counter',
		help: 'C-STORE sub-operations of retrievals, by operation and outcome.',
		labels: { operation: ['C-GET', 'C-MOVE'], outcome: ['completed', 'failed', 'warning'] },
	},
	dimseSeconds: {
		name: 'tributary_dimse_request_seconds',
		kind: 'histogram',
		help: 'Time from the command set of a DIMSE request until its answer is handed to the socket.',
		labels: { operation: dimseOperations },
		buckets: latencySeconds,
	},
	dimseAssociationsRequested: {
		name: 'tributary_dimse_associations_requested_total',
		kind: 'counter',
		help: 'DIMSE associations that this service requested from remote AEs, by outcome.',
		labels: { result: ['accepted', 'unreachable', 'rejected', 'no-context', 'timeout', 'aborted', 'protocol', 'cancelled'] },
	},
	dimseRequestsSent: {
		name: 'tributary_dimse_requests_sent_total',
		kind: 'counter',
		help: 'DIMSE requests that this service sent to remote AEs, by status class. Abandoned requests were not answered.',
		labels: { operation: ['C-ECHO', 'C-STORE', 'N-EVENT-REPORT'], outcome: ['success', 'warning', 'failure', 'abandoned'] },
	},
	commitmentRequests: {
		name: 'tributary_commitment_requests_total',
		kind: 'counter',
		help: 'Storage commitment requests, by outcome. Repeated requests are reported again.',
		labels: { outcome: ['noted', 'repeated', 'refused'] },
	},
	commitmentInstances: {
		name: 'tributary_commitment_instances_total',
		kind: 'counter',
		help: 'Instances that delivered commitment reports confirm or refuse. Damaged instances are in the index but not intact in the object store.',
		labels: { outcome: ['committed', 'missing', 'class-conflict', 'conflict', 'damaged', 'duplicate-transaction'] },
	},
	commitmentReports: {
		name: 'tributary_commitment_reports_total',
		kind: 'counter',
		help: 'Commitment reports by the association that carried them. A report is given up when its last attempt fails.',
		labels: { association: ['same', 'new'], outcome: ['delivered', 'failed', 'given-up'] },
	},
} as const satisfies MetricDefinitions;

export type DimseMetrics = MetricsOf<typeof dimseMetricDefinitions>;

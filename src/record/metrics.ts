import { type FailureCode, failureCodes } from '#core/failure.ts';
import { latencySeconds, type MetricDefinitions, type MetricsOf } from '#core/metric-definition.ts';

const hl7Surfaces = ['mllp', 'hl7-http', 'replay'] as const;
const site = { boundedBy: 'the slugs of the configured sites' } as const;
export const outcomes = ['accepted', 'refused', 'ignored', 'duplicate'] as const;

/** Deliveries that were answered, over whichever surface they came. */
export const deliveryMetricDefinitions = {
	hl7Messages: {
		name: 'tributary_hl7_messages_total',
		kind: 'counter',
		help: 'Answered HL7 v2 and v3 messages, by outcome.',
		labels: {
			surface: hl7Surfaces,
			type: { boundedBy: 'the known events and interactions, CDA, other' },
			outcome: outcomes,
		},
	},
	hl7Refusals: {
		name: 'tributary_hl7_refusals_total',
		kind: 'counter',
		help: 'Refused HL7 v2 and v3 messages, by failure code.',
		labels: { surface: hl7Surfaces, code: Object.keys(failureCodes) as FailureCode[] },
	},
	siteMessages: {
		name: 'tributary_site_messages_total',
		kind: 'counter',
		help: 'Answered messages, by site.',
		labels: { site, outcome: outcomes },
	},
	acknowledgementSeconds: {
		name: 'tributary_hl7_acknowledgement_seconds',
		kind: 'histogram',
		help: 'Time from the last byte of a message until its acknowledgement is handed to the socket.',
		labels: { surface: hl7Surfaces },
		buckets: latencySeconds,
	},
} as const satisfies MetricDefinitions;

export type DeliveryMetrics = MetricsOf<typeof deliveryMetricDefinitions>;

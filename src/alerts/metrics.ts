import type { MetricDefinitions, MetricsOf } from '#core/metric-definition.ts';

/** Notifications about alerts. */
export const alertMetricDefinitions = {
	notifications: {
		name: 'tributary_notifications_total',
		kind: 'counter',
		help: 'Attempts to send a notification, by what became of them; `given-up` is the last one.',
		labels: { by: ['email', 'webhook'], outcome: ['sent', 'retried', 'given-up', 'withheld'] },
	},
	notificationsWaiting: {
		name: 'tributary_notifications_waiting',
		kind: 'gauge',
		help: 'Notifications of the network that wait to be sent.',
		across: 'max',
		labels: {},
	},
	notificationRecipients: {
		name: 'tributary_notification_recipients',
		kind: 'gauge',
		help: 'Recipients of alerts about nodes whom this node remembers, and tells of its own alerts while the database is away.',
		across: 'max',
		labels: {},
	},
	notificationsFailing: {
		name: 'tributary_notifications_failing',
		kind: 'gauge',
		help: 'Recipients of the network whose latest notification of the last day failed three times or was given up.',
		across: 'max',
		labels: {},
	},
} as const satisfies MetricDefinitions;

export type AlertMetrics = MetricsOf<typeof alertMetricDefinitions>;

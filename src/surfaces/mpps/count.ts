import type { Metrics } from '#core/metrics.ts';
import { mppsTypeLabel } from '#core/mpps-metrics.ts';
import type { Reply } from '#record/delivery.ts';

/** Counts a report that was answered. */
export function countReport(metrics: Metrics, surface: 'mpps' | 'dimse', siteSlug: string, reply: Reply): void {
	const { messageType, outcome, failure } = reply;
	metrics.mppsReports.inc({ surface, type: mppsTypeLabel(messageType), outcome });
	metrics.siteMessages.inc({ site: siteSlug, outcome });
	if (failure !== undefined) metrics.mppsRefusals.inc({ surface, code: failure.code });
}

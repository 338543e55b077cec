import type { Reply } from '#record/delivery.ts';
import type { DeliveryMetrics } from '#record/metrics.ts';
import { type MppsMetrics, mppsTypeLabel } from './metrics.ts';

/** Counts a report that was answered. */
export function countReport(metrics: MppsMetrics & DeliveryMetrics, surface: 'mpps' | 'dimse', siteSlug: string, reply: Reply): void {
	const { messageType, outcome, failure } = reply;
	metrics.mppsReports.inc({ surface, type: mppsTypeLabel(messageType), outcome });
	metrics.siteMessages.inc({ site: siteSlug, outcome });
	if (failure !== undefined) metrics.mppsRefusals.inc({ surface, code: failure.code });
}

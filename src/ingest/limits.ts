import type { DocumentLimits } from '#cda/limits.ts';
import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';
import type { FhirLimits } from '#fhir/limits.ts';
import type { Hl7v2Limits } from '#hl7v2/limits.ts';
import type { XmlLimits } from '#hl7v3/limits.ts';
import type { MppsLimits } from '#mpps/limits.ts';

/** Limits of reports that a person writes. */
export const reportLimitDefinitions = {
	reportBytesMax: {
		variable: 'REPORT_BYTES_MAX',
		default: 32 * 1024 * 1024,
		min: 1024,
		max: 256 * 1024 * 1024,
		answer: 'bytes of a report that a person writes, with attachments in base64; it is refused',
	},
} as const satisfies LimitDefinitions;

export type ReportLimits = LimitsOf<typeof reportLimitDefinitions>;

/** The limits that a worker needs to read deliveries of every kind. */
export type IngestLimits = ReportLimits & FhirLimits & Hl7v2Limits & XmlLimits & DocumentLimits & MppsLimits;

import { accessLimitDefinitions } from '#access/limits.ts';
import { administrationLimitDefinitions } from '#administration/limits.ts';
import { alertLimitDefinitions } from '#alerts/limits.ts';
import { bulkLimitDefinitions } from '#bulk/limits.ts';
import { documentLimitDefinitions } from '#cda/limits.ts';
import { defaultsOf, dividedLimits, type LimitDefinitions, type LimitsOf } from '#core/limit-definition.ts';
import { fhirLimitDefinitions } from '#fhir/limits.ts';
import { hl7v2LimitDefinitions } from '#hl7v2/limits.ts';
import { xmlLimitDefinitions } from '#hl7v3/limits.ts';
import { imagingLimitDefinitions } from '#imaging/limits.ts';
import { reportLimitDefinitions } from '#ingest/limits.ts';
import { mppsLimitDefinitions } from '#mpps/limits.ts';
import { deliveryLimitDefinitions } from '#record/limits.ts';
import { renderingLimitDefinitions } from '#rendering/limits.ts';
import { retentionLimitDefinitions } from '#retention/limits.ts';
import { mailboxLimitDefinitions } from '#site/limits.ts';
import { storageLimitDefinitions } from '#storage/limits.ts';
import { adminLimitDefinitions } from '#surfaces/admin/limits.ts';
import { dicomWebLimitDefinitions } from '#surfaces/dicomweb/limits.ts';
import { dimseLimitDefinitions } from '#surfaces/dimse/limits.ts';
import { httpLimitDefinitions } from '#surfaces/http/limits.ts';
import { mllpLimitDefinitions } from '#surfaces/mllp/limits.ts';
import { drainLimitDefinitions } from '#surfaces/tcp/limits.ts';
import { tracingLimitDefinitions } from '#tracing/limits.ts';

/** Every limit that can be set, from the rooms that declare them. docs/configuration.md lists them in this order. */
export const limitDefinitions = {
	...mllpLimitDefinitions,
	...dimseLimitDefinitions,
	...imagingLimitDefinitions,
	...dicomWebLimitDefinitions,
	...renderingLimitDefinitions,
	...deliveryLimitDefinitions,
	...httpLimitDefinitions,
	...fhirLimitDefinitions,
	...hl7v2LimitDefinitions,
	...xmlLimitDefinitions,
	...documentLimitDefinitions,
	...mppsLimitDefinitions,
	...reportLimitDefinitions,
	...mailboxLimitDefinitions,
	...storageLimitDefinitions,
	...retentionLimitDefinitions,
	...administrationLimitDefinitions,
	...bulkLimitDefinitions,
	...accessLimitDefinitions,
	...alertLimitDefinitions,
	...adminLimitDefinitions,
	...drainLimitDefinitions,
	...tracingLimitDefinitions,
} as const satisfies LimitDefinitions;

export type Limits = LimitsOf<typeof limitDefinitions>;

export const defaultLimits: Limits = defaultsOf(limitDefinitions);

/**
 * Returns the limits of one of the processes of a node. One request has room for a whole body in any process, and a connection to the database
 * that waits leaves another one.
 */
export function limitsOfProcess(limits: Limits, count: number): Limits {
	const atLeast = { httpWaitingBytesMax: limits.httpBodyBytesMax, readConnectionsMax: 2, peopleConnectionsMax: 2 };
	return dividedLimits(limitDefinitions, limits, count, atLeast);
}

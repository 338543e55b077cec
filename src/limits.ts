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

/** So many whole bodies have room in a process, so that one of them, which comes slowly, leaves room for those of others. */
const wholeBodies = 4;

/**
 * Returns the limits of one of the processes of a node. In any process, a connection to the database that waits leaves another one, and four whole
 * bodies have room. The shares of bodies are divided as their whole is, so a sender who has a half of it on the node has no more in a process.
 */
export function limitsOfProcess(limits: Limits, count: number): Limits {
	const { httpBodyBytesMax, mllpFrameBytesMax } = limits;
	const partsOf = (whole: number, body: number) => Math.max(1, Math.min(count, whole / (wholeBodies * body)));
	const bodies = partsOf(limits.httpWaitingBytesMax, httpBodyBytesMax);
	const messages = partsOf(limits.waitingBytesMax, Math.max(httpBodyBytesMax, mllpFrameBytesMax));
	return dividedLimits(limitDefinitions, limits, count, {
		atLeast: { readConnectionsMax: 2, peopleConnectionsMax: 2 },
		parts: {
			httpWaitingBytesMax: bodies,
			httpAddressWaitingBytesMax: bodies,
			httpKeyWaitingBytesMax: bodies,
			httpSiteWaitingBytesMax: bodies,
			waitingBytesMax: messages,
			mailboxBytesMax: messages,
			mailboxClientBytesMax: messages,
		},
	});
}

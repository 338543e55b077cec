import type { Audit } from '#access/audit.ts';
import type { AccessDirectory, KeyGrant } from '#access/directory.ts';
import type { AccessMetrics } from '#access/metrics.ts';
import type { Tokens } from '#access/tokens/tokens.ts';
import type { BulkLimits } from '#bulk/limits.ts';
import type { Clock } from '#core/clock.ts';
import type { FhirLimits } from '#fhir/limits.ts';
import type { ResourceDefinition } from '#fhir/resource.ts';
import type { DeliveryLimits } from '#record/limits.ts';
import type { DeliveryMetrics } from '#record/metrics.ts';
import type { SiteGateway } from '#site/gateway.ts';
import type { Reader } from '#storage/reader.ts';
import type { ResourceReads } from '#storage/resource-reads.ts';
import type { HttpLimits } from '../http/limits.ts';
import type { HttpRequest } from '../http/message.ts';
import type { HttpMetrics } from '../http/metrics.ts';
import type { Cursors } from './cursor.ts';
import type { LongSearches } from './long-searches.ts';
import type { FhirMetrics } from './metrics.ts';
import type { SiteLibraries } from './site-libraries.ts';

export interface FhirContext {
	directory: AccessDirectory;
	tokens: Pick<Tokens, 'areTaken' | 'endpointsOf' | 'grantOf'>;
	reader: Reader;
	reads: ResourceReads;
	gateway: SiteGateway;
	libraries: SiteLibraries;
	clock: Clock;
	audit: Pick<Audit, 'recordAccess'>;
	cursors: Cursors;
	longSearches: LongSearches;
	limits: FhirLimits & HttpLimits & DeliveryLimits & BulkLimits;
	metrics: AccessMetrics & DeliveryMetrics & FhirMetrics & HttpMetrics;
	version: string;
	/** True with PUBLIC_METADATA: /fhir/metadata answers without a key. */
	publicMetadata: boolean;
}

/** The input of an interaction on a resource type. The caller, media type and resource type are already checked. */
export interface Interacting {
	context: FhirContext;
	request: HttpRequest;
	grant: KeyGrant;
	definition: ResourceDefinition;
	/** Media type of the answer. */
	mediaType: string;
	/** The FHIR base URL of links, without a trailing slash. */
	base: string;
}

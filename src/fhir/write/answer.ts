import { type Failure, failureCodes } from '#core/failure.ts';
import type { ResourceResult, Row } from '#record/apply/rows.ts';
import { storedOf } from '#record/apply/rows.ts';
import type { FhirAnswer } from '#record/delivery.ts';
import type { Notice } from '#record/kinds/resource.ts';
import { allOk, operationOutcome } from '../operation-outcome.ts';
import { renderStored } from '../stored.ts';

/** `Prefer: return=…` (FHIR R4 §3.1.0.7) */
export type Returned = 'representation' | 'minimal' | 'OperationOutcome';

export function preferredReturn(header: string | undefined): Returned {
	const [, wish = ''] = /\breturn\s*=\s*"?(representation|minimal|OperationOutcome)\b/i.exec(header ?? '') ?? [];
	if (wish.toLowerCase() === 'operationoutcome') return 'OperationOutcome';
	return wish.toLowerCase() === 'minimal' ? 'minimal' : 'representation';
}

/** Builds the body of a single write's answer; empty under `return=minimal`. */
export function bodyOf(result: ResourceResult, returned: Returned, notices: readonly Notice[] = []): string {
	if (returned === 'minimal') return '';
	if (result.status === 204) return returned === 'OperationOutcome' ? allOk('the resource is not there any more') : '';
	const { status, row } = result;
	if (returned === 'OperationOutcome') return allOk(status === 201 ? 'the resource was created' : 'the resource is stored', notices);
	return renderStored(row.resourceType, storedOf(row));
}

export function factsOf(row: Row): NonNullable<(FhirAnswer & { kind: 'resource' })['resource']> {
	const { id, lastUpdated } = storedOf(row);
	return { type: row.resourceType, id, version: row.version, lastUpdated };
}

/** An entry of a batch-response or transaction-response. */
export function responseEntry(result: ResourceResult, returned: Returned, notices: readonly Notice[] = []): string {
	if (result.status === 204) return deletedEntry(result.row, bodyOf(result, returned));
	const { type, id, version, lastUpdated } = factsOf(result.row);
	const response = {
		status: result.status === 201 ? '201 Created' : '200 OK',
		location: `${type}/${id}/_history/${version}`,
		etag: `W/"${version}"`,
		lastModified: lastUpdated,
	};
	if (returned === 'minimal') return `{"response":${JSON.stringify(response)}}`;
	if (returned === 'OperationOutcome')
		return `{"response":{${JSON.stringify(response).slice(1, -1)},"outcome":${bodyOf(result, returned, notices)}}}`;
	return `{"resource":${bodyOf(result, returned)},"response":${JSON.stringify(response)}}`;
}

export function refusedEntry(failure: Failure): string {
	return `{"response":{"status":"${failureCodes[failure.code].status}","outcome":${operationOutcome(failure)}}}`;
}

function deletedEntry(row: Row | undefined, outcome: string): string {
	const facts = row && factsOf(row);
	const validators = facts && { etag: `W/"${facts.version}"`, lastModified: facts.lastUpdated };
	const response = JSON.stringify({ status: outcome === '' ? '204 No Content' : '200 OK', ...validators });
	return outcome === '' ? `{"response":${response}}` : `{"response":{${response.slice(1, -1)},"outcome":${outcome}}}`;
}

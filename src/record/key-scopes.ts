import { Failure } from '#core/failure.ts';

/**
 * The scopes to which an API key may be limited. `read` and `write` are about FHIR, `ingest` about HL7 and MPPS over HTTP, `imaging` about
 * DICOMweb. A route says which one it needs (surfaces/http/message.ts).
 */
export const keyScopes = ['read', 'write', 'ingest', 'imaging'] as const;
export type KeyScope = (typeof keyScopes)[number];

export function missingKeyScope(...scopes: readonly KeyScope[]): Failure {
	return new Failure('insufficient-scope', `the API key does not have the scope ${scopes.join(' and ')}`);
}

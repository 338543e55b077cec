import type { PatientChange } from '../kinds/patient.ts';
import type { Identifier } from '../resource-patch.ts';
import { identifierKey } from './identifier-key.ts';

/**
 * Returns the survivor of a merge as its message names them, matched by the numbers that the prior patient is not stated to have. A number
 * of both, such as that of an enterprise index, tells nobody who survives.
 */
export function survivorBeside(change: PatientChange, prior: readonly Identifier[]): PatientChange {
	const priors = new Set(prior.map(identifierKey));
	const own = change.identifiers.filter((identifier) => !priors.has(identifierKey(identifier)));
	if (own.length === 0 || own.length === change.identifiers.length) return change;
	const { identifier } = change.patch.parts;
	const list = (identifier?.['PID-3'] ?? []).filter((item) => !priors.has(identifierKey(item as Identifier)));
	const patch = { ...change.patch, parts: { ...change.patch.parts, identifier: { ...identifier, 'PID-3': list } } };
	return { ...change, patch, matchedBy: own };
}

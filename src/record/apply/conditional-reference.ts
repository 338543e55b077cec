import { Failure } from '#core/failure.ts';
import type { Condition } from '../condition.ts';
import type { Token } from '../search-plan.ts';
import type { ResourceType } from '../table-shape.ts';

/** A resource that a transaction writes. */
export interface WrittenResource {
	resourceType: ResourceType;
	/** The FHIR id. */
	id: string;
	identifiers: readonly Token[];
}

/**
 * Resolves a conditional reference (FHIR R4 §3.1.0.11.2.2). That is done after all writes of the transaction, so what it writes counts too. It is
 * found by its identifier alone, since no index has it yet.
 * @throws Failure `precondition-failed` unless there is exactly one such resource
 */
export function referenceFound({ plan, identifier, matched }: Condition, written: readonly WrittenResource[]): string {
	const [known, several] = matched?.ids ?? [];
	const all = new Set(known === undefined ? [] : [known]);
	for (const { resourceType, id, identifiers } of written)
		if (identifier && resourceType === plan.resourceType && identifiers.some((stated) => isMeant(identifier, stated))) all.add(id);
	const [found] = all;
	if (found === undefined || several !== undefined || all.size > 1) {
		throw new Failure(
			'precondition-failed',
			`a conditional reference matches ${found === undefined ? 'no' : 'more than one'} ${plan.resourceType}`,
		);
	}
	return `${plan.resourceType}/${found}`;
}

/** Tells whether a search for an identifier means this one (FHIR R4 §3.1.1.4.10). */
function isMeant({ system, value }: Token, stated: Token): boolean {
	return (system === undefined || system === (stated.system ?? '')) && (value === undefined || value === stated.value);
}

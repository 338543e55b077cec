import type { ChangeSet } from '../change-set.ts';
import { type Change, kindOf } from '../kinds/index.ts';
import type { ApplyContext } from './context.ts';
import { referring } from './refer.ts';
import { References } from './references.ts';
import type { SiteKeys } from './site-keys.ts';

/**
 * Applies one message's changes to the working set, all or none.
 * @throws Failure when one of them is refused
 */
export function applyChangeSet(context: ApplyContext, { changes }: ChangeSet): void {
	context.set.attempt(() => {
		const [first] = changes;
		const together = first && kindOf(first);
		if (together?.applyTogether) {
			if (changes.some(({ kind }) => kind !== together.kind)) throw new Error(`a message mixes ${together.kind} with other changes`);
			together.applyTogether(context, changes);
			return;
		}
		const references = new References();
		for (const change of changes) {
			const stated = current(context, change, changes);
			kindOf(change).apply(context, references.named.size === 0 ? stated : referring(stated, references.named), references);
		}
	});
}

/** Names the rows that must be read before a message is applied. */
export function nameKeys({ changes }: ChangeSet, keys: SiteKeys): void {
	for (const change of changes) kindOf(change).keys(change, keys, changes);
}

export function isAppliedAlone({ changes }: ChangeSet): boolean {
	return changes.some((change) => kindOf(change).alone === true);
}

/** Tells whether a message needs a search that only the site's turn can carry out. */
export function needsLookup({ changes }: ChangeSet): boolean {
	return changes.some((change) => kindOf(change).needsLookup?.(change) === true);
}

/** Returns the business identifier values of the patients of a message, in the order in which it names them. */
export function patientsOf({ changes }: ChangeSet): string[] {
	return changes.flatMap((change) => kindOf(change).patients?.(change) ?? []);
}

function current(context: ApplyContext, change: Change, message: readonly Change[]): Change {
	if (change.kind !== 'patient' || change.known === 'keep') return change;
	const isKept = message.some((other) => kindOf(other).keepsPatient?.(context, other, change) === true);
	return isKept ? { ...change, known: 'keep' } : change;
}

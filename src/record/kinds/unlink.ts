import { Failure } from '#core/failure.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { separate } from '../apply/merge.ts';
import type { Row } from '../apply/rows.ts';
import { patientIdentifiers } from '../holdings/patient-identifiers.ts';
import { identifying } from '../identity/identifying.ts';
import { recordsNamed } from '../identity/match.ts';
import type { Identifier } from '../resource-patch.ts';

/** ADT^A37: separates two patients that were linked by a merge. */
export interface UnlinkChange {
	kind: 'unlink';
	first: [Identifier, ...Identifier[]];
	second: [Identifier, ...Identifier[]];
}

export const unlinkKind = defineChange<UnlinkChange>({
	kind: 'unlink',
	/** It moves rows by statement. */
	alone: true,
	keys({ first, second }, keys) {
		const values = keys.of(patientIdentifiers);
		for (const { value } of [...identifying(first), ...identifying(second)]) values.add(value);
	},
	patients: ({ first, second }) => [first[0].value, second[0].value],
	apply: applyUnlink,
});

/**
 * ADT^A37 (HL7 v2.5.1 §3.3.37): undoes a merge of the two patients, whichever of them was replaced.
 * @throws Failure `ambiguous-key` when the numbers name several merges: nobody can tell which one is meant
 */
function applyUnlink(context: ApplyContext, change: UnlinkChange): void {
	const location = { segment: 'PID', sequence: 1, field: 3 };
	const first = recordsNamed(context.set, change.first, location);
	const second = recordsNamed(context.set, change.second, { ...location, sequence: 2 });
	const [pair, ...others] = first.flatMap((one) => second.flatMap((other) => replacedPair(one, other)));
	if (others.length > 0) {
		const text = 'PID-3 of the two PID segments names several merges; state a number that only one replaced patient has';
		throw new Failure('ambiguous-key', text, { location });
	}
	if (pair === undefined) {
		context.flags.push({ code: 'unlink-unknown', text: 'PID-3 of the two PID segments names no merge that could be undone' });
		return;
	}
	separate(context, ...pair);
}

function replacedPair(first: Row, second: Row): [Row, Row][] {
	if (first.links['merged_into'] === second.id) return [[first, second]];
	if (second.links['merged_into'] === first.id) return [[second, first]];
	return [];
}

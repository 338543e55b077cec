import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { separate } from '../apply/merge.ts';
import type { Row } from '../apply/rows.ts';
import { patientIdentifiers } from '../holdings/patient-identifiers.ts';
import { identifying } from '../identity/identifying.ts';
import { type PatientMatch, patientsNamed } from '../identity/match.ts';
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

/** ADT^A37 (HL7 v2.5.1 §3.3.37): undoes a merge of the two patients, whichever of them was replaced. */
function applyUnlink(context: ApplyContext, change: UnlinkChange): void {
	const first = patientsNamed(context.set, change.first, { segment: 'PID', sequence: 1, field: 3 });
	const second = patientsNamed(context.set, change.second, { segment: 'PID', sequence: 2, field: 3 });
	const [pair] = first.flatMap((one) => second.flatMap((other) => replacedPair(one, other)));
	if (pair === undefined) {
		context.flags.push({ code: 'unlink-unknown', text: 'PID-3 of the two PID segments names no merge that could be undone' });
		return;
	}
	separate(context, ...pair);
}

function replacedPair(first: PatientMatch, second: PatientMatch): [Row, Row][] {
	if (first.direct.links['merged_into'] === second.direct.id) return [[first.direct, second.direct]];
	if (second.direct.links['merged_into'] === first.direct.id) return [[second.direct, first.direct]];
	return [];
}

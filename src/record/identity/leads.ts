import type { WorkingSet } from '../apply/working-set.ts';
import { otherNumberRank, patientIdentifiers } from '../holdings/patient-identifiers.ts';
import { siteAuthorities } from '../holdings/site-authorities.ts';
import type { Identifier } from '../resource-patch.ts';
import { systemOf } from './identifier-key.ts';
import { survivorOf } from './match.ts';

/** Returns the row ids of all patients to whom a number may lead: by assigning authority and value, or by the value alone without one. */
export function patientsLedTo(set: WorkingSet, identifier: Identifier): Set<string> {
	const system = systemOf(identifier);
	const { known } = set.of(siteAuthorities);
	const found = new Set<string>();
	for (const entry of set.of(patientIdentifiers).entries(identifier.value)) {
		if (entry.rank >= otherNumberRank || (system !== '' && !known.isSame(entry.system, system))) continue;
		const row = set.row('Patient', entry.patientId);
		if (row === undefined) throw new Error('an identifier leads to a patient that was not read');
		found.add(survivorOf(set, row).id);
	}
	return found;
}

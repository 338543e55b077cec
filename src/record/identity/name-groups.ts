import { type Row, resourceOf } from '../apply/rows.ts';
import type { NewInstance } from '../imaging.ts';
import type { InstancePatient } from '../instance.ts';
import { isOtherName } from './mismatch.ts';

/**
 * Returns the ideographic and phonetic name of an image, by which its study is found where the record has none. An image changes nothing of a
 * known patient. Its names are those of another person if the alphabetic one does not agree with the record; then the study has none.
 */
export function nameGroupsOf({ name }: InstancePatient, patient: Row | undefined): NewInstance['nameGroups'] {
	if (name === undefined || (name.ideographic === '' && name.phonetic === '')) return undefined;
	const { family, given, ideographic, phonetic } = name;
	const stated = { family, given: [given] };
	return patient !== undefined && isOtherName(resourceOf(patient)['name'], [stated]) ? undefined : { ideographic, phonetic };
}

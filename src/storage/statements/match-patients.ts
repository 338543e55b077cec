import { otherNumberRank } from '#record/holdings/patient-identifiers.ts';
import { Parameters, type Query } from './parameters.ts';
import { conditionOf } from './search-conditions.ts';
import { survivorOf } from './search-through.ts';

/** A number that identifies a patient. The system is empty if its authority is not stated. */
export interface StatedNumber {
	system: string;
	value: string;
}

/**
 * Selects the patients to whom identifying numbers lead, by authority and value, or by the value alone where no authority is stated. A patient
 * who was merged stands for the survivor. The row id is followed by whether a number with its authority leads there.
 */
export function patientsByNumberQuery(siteId: string, numbers: readonly StatedNumber[], rowsMax: number): Query {
	const parameters = new Parameters(siteId);
	const column = (name: keyof StatedNumber) =>
		parameters.add(
			numbers.map((number) => number[name]),
			'text[]',
		);
	const text = `
select ${survivorOf('p')}, bool_or(k.system <> '')
from unnest(${column('system')}, ${column('value')}) as k (system, value)
join patient_identifier i on i.site_id = $1 and i.value = k.value and i.rank < ${otherNumberRank}
	and (k.system = '' or i.system = k.system or i.system = any (authority_systems($1, array[k.system])))
join patient p on p.site_id = $1 and p.id = i.patient_id
group by 1
order by 1
limit ${parameters.add(rowsMax, 'integer')}`;
	return parameters.query(text, true);
}

export interface StatedPerson {
	/** Words of names, folded and without accents. */
	words: readonly string[];
	/** The days in which the birth date lies, the last one excluded. */
	born: { from: string; to: string } | undefined;
}

/** Selects current patients who were born then and have one of the words in a name, and those whose names have all of the words. */
export function patientsByPersonQuery(siteId: string, { words, born }: StatedPerson, rowsMax: number): Query {
	const parameters = new Parameters(siteId);
	const limit = parameters.add(rowsMax, 'integer');
	const select = `select p.id from patient p where p.site_id = $1 and p.merged_into is null`;
	const named = words.map((word) => conditionOf({ kind: 'string', column: 'name', values: [word] }, 'p', parameters));
	const parts = [`(${select} and ${named.join(' and ')} limit ${limit})`];
	if (born !== undefined) {
		const days = `p.birth_date >= ${parameters.add(born.from, 'date')} and p.birth_date < ${parameters.add(born.to, 'date')}`;
		parts.unshift(`(${select} and ${days} and (${named.join(' or ')}) limit ${limit})`);
	}
	return parameters.query(parts.join('\nunion\n'), false);
}

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { gradeOf, type Lead } from '#record/identity/grade.ts';

/** `family^given|birth date|sex` */
function person(text: string): JsonObject {
	const [name = '', birthDate = '', gender = ''] = text.split('|');
	const [family = '', ...given] = name.split('^');
	return { ...(name !== '' && { name: [{ family, given }] }), ...(birthDate !== '' && { birthDate }), ...(gender !== '' && { gender }) };
}

const held = 'Doe^Jane^Anne|1970-01-31|female';
const leads: Readonly<Record<string, Lead>> = {
	'a number': { by: 'authority', isOnly: true, hasOtherNumber: false },
	'a number of several': { by: 'authority', isOnly: false, hasOtherNumber: false },
	'a number without authority': { by: 'value', isOnly: true, hasOtherNumber: false },
	'a number without authority of several': { by: 'value', isOnly: false, hasOtherNumber: false },
	'name and birth date': { by: 'person', isOnly: false, hasOtherNumber: false },
	'name and birth date beside another number': { by: 'person', isOnly: false, hasOtherNumber: true },
};

describe('a patient is graded', () => {
	for (const [lead, stated, grade] of [
		['a number', held, 'certain 1'],
		['a number', '||', 'certain 1'],
		['a number', 'Smith^Jane|1970-01-31|female', 'certain 0.95'],
		['a number', 'Roe^Mary|1970-01-31|female', 'certain 0.95'],
		['a number', 'Roe^Mary|1971-01-31|female', 'possible 0.4'],
		['a number', 'Roe^Mary|1971-01-31|male', 'certainly-not 0.05'],
		['a number of several', held, 'probable 0.8'],
		['a number without authority', held, 'probable 0.85'],
		['a number without authority of several', held, 'possible 0.5'],
		['name and birth date', held, 'probable 0.75'],
		['name and birth date', 'Doe^Jane|1970-01-31|', 'probable 0.7'],
		['name and birth date', 'DOE^Jané|1970-01-31|', 'probable 0.7'],
		['name and birth date beside another number', held, 'possible 0.55'],
		['name and birth date', 'Doe^Jane||', 'possible 0.5'],
		['name and birth date', 'Doe^Jane|1970|', 'possible 0.5'],
		['name and birth date', 'Doe|1970-01-31|', 'possible 0.5'],
		['name and birth date', 'Doe^Jane|1970-01-31|male', 'possible 0.25'],
		['name and birth date', 'Doe^Jane|1971-01-31|female', 'possible 0.25'],
		['name and birth date', 'Roe^Mary|1970-01-31|female', 'possible 0.25'],
		['name and birth date', 'Doe|1971-01-31|', undefined],
		['name and birth date', 'Doe||', undefined],
		['name and birth date', 'Roe^Mary|1970-01-31|male', undefined],
	] as const) {
		test(`${grade ?? 'not at all'} by ${lead}, stated as ${stated}`, () => {
			const graded = gradeOf(person(held), person(stated), leads[lead] ?? assert.fail());
			assert.equal(graded && `${graded.grade} ${graded.score}`, grade);
		});
	}
});

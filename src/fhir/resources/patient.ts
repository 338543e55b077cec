import type { JsonObject } from '#core/json.ts';
import { dayBounds } from '../date.ts';
import { asObjects, asText, asTexts } from '../elements.ts';
import { folded } from '../fold.ts';
import { defineResource, readInteractions, writeInteractions } from '../resource.ts';
import { codeColumn, codeParameter, oneColumn } from '../search-columns.ts';

/** https://hl7.org/fhir/R4/patient.html */
export const patient = defineResource({
	type: 'Patient',
	interactions: [...readInteractions, ...writeInteractions],
	table: 'patient',
	links: [{ name: 'merged_into', sqlType: 'uuid' }],
	statedLinks: () => ({}),
	columns: [
		oneColumn('active', 'boolean', (resource) => resource['active'] !== false),
		oneColumn('name', 'text', nameText),
		{
			columns: [
				{ name: 'birth_date', sqlType: 'date' },
				{ name: 'birth_date_end', sqlType: 'date' },
			],
			valuesOf: (resource) => dayBounds(asText(resource['birthDate'])),
		},
		codeColumn('gender'),
	],
	search: {
		identifier: {
			type: 'token',
			match: 'identifier',
			documentation: 'A business identifier of the site, also one that a merge carried over',
		},
		name: { type: 'string', match: 'substring', column: 'name', documentation: 'Any part of any name, upper and lower case alike' },
		birthdate: {
			type: 'date',
			columnType: 'date',
			startColumn: 'birth_date',
			endColumn: 'birth_date_end',
			documentation: 'The date of birth',
		},
		gender: codeParameter('gender', 'http://hl7.org/fhir/administrative-gender', 'Administrative gender'),
	},
});

/** All names folded, each as it is displayed and by its parts, so that any part of either is found. */
function nameText(resource: JsonObject): string {
	const names = asObjects(resource['name']).map((name) => {
		const parts = [...asTexts(name['prefix']), ...asTexts(name['given']), asText(name['family']) ?? '', ...asTexts(name['suffix'])].filter(
			(part) => part !== '',
		);
		const built = folded(parts.join(' '));
		const text = folded(asText(name['text']) ?? '');
		return text === '' || text === built ? built : `${text}\n${built}`;
	});
	return names.join('\n');
}

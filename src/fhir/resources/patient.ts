import type { JsonObject } from '#core/json.ts';
import type { ColumnValue } from '#record/table-shape.ts';
import { dayBounds } from '../date.ts';
import { asObjects, asText, asTexts } from '../elements.ts';
import { folded } from '../fold.ts';
import { defineResource } from '../resource.ts';

/** https://hl7.org/fhir/R4/patient.html */
export const patient = defineResource({
	type: 'Patient',
	interactions: ['read', 'search-type'],
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
		gender: {
			type: 'token',
			match: 'code',
			column: 'gender',
			system: 'http://hl7.org/fhir/administrative-gender',
			documentation: 'Administrative gender',
		},
	},
	table: {
		resourceType: 'Patient',
		table: 'patient',
		links: [{ name: 'merged_into', sqlType: 'uuid' }],
		search: [
			{ name: 'active', sqlType: 'boolean' },
			{ name: 'name', sqlType: 'text' },
			{ name: 'birth_date', sqlType: 'date' },
			{ name: 'birth_date_end', sqlType: 'date' },
			{ name: 'gender', sqlType: 'text' },
		],
		searchValues,
	},
});

function searchValues(resource: JsonObject): ColumnValue[] {
	return [
		resource['active'] !== false,
		nameText(resource),
		...dayBounds(asText(resource['birthDate'])),
		asText(resource['gender']) ?? null,
	];
}

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

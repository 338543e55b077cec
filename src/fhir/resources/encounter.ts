import type { JsonObject } from '#core/json.ts';
import type { ColumnValue } from '#record/table-shape.ts';
import { periodBounds } from '../date.ts';
import { asObject, asText } from '../elements.ts';
import { defineResource } from '../resource.ts';

/** https://hl7.org/fhir/R4/encounter.html */
export const encounter = defineResource({
	type: 'Encounter',
	interactions: ['read', 'search-type'],
	search: {
		patient: { type: 'reference', column: 'patient_id', target: 'Patient', documentation: 'The patient present at the encounter' },
		subject: { type: 'reference', column: 'patient_id', target: 'Patient', documentation: 'The patient present at the encounter' },
		status: {
			type: 'token',
			match: 'code',
			column: 'status',
			system: 'http://hl7.org/fhir/encounter-status',
			documentation: 'Status of the visit',
		},
		class: {
			type: 'token',
			match: 'code',
			column: 'class',
			system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode',
			documentation: 'Inpatient, outpatient, emergency …',
		},
		date: {
			type: 'date',
			columnType: 'timestamptz',
			startColumn: 'period_start',
			endColumn: 'period_end',
			documentation: 'The period of the visit',
		},
	},
	table: {
		resourceType: 'Encounter',
		table: 'encounter',
		links: [
			{ name: 'patient_id', sqlType: 'uuid' },
			{ name: 'visit_key', sqlType: 'text' },
		],
		search: [
			{ name: 'status', sqlType: 'text' },
			{ name: 'class', sqlType: 'text' },
			{ name: 'period_start', sqlType: 'timestamptz' },
			{ name: 'period_end', sqlType: 'timestamptz' },
		],
		searchValues,
	},
});

function searchValues(resource: JsonObject): ColumnValue[] {
	const period = asObject(resource['period']);
	return [
		asText(resource['status']) ?? 'unknown',
		asText(asObject(resource['class'])?.['code']) ?? null,
		...periodBounds(asText(period?.['start']), asText(period?.['end'])),
	];
}

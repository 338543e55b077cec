import type { JsonObject } from '#core/json.ts';
import type { ColumnValue } from '#record/table-shape.ts';
import { startInstant } from '../date.ts';
import { asObject, asObjects, asText } from '../elements.ts';
import { defineResource } from '../resource.ts';

/** https://hl7.org/fhir/R4/observation.html */
export const observation = defineResource({
	type: 'Observation',
	interactions: ['read', 'search-type'],
	search: {
		patient: { type: 'reference', column: 'patient_id', target: 'Patient', documentation: 'The patient that the observation is about' },
		subject: { type: 'reference', column: 'patient_id', target: 'Patient', documentation: 'The patient that the observation is about' },
		code: {
			type: 'token',
			match: 'coding',
			systemColumn: 'code_system',
			valueColumn: 'code_value',
			furtherColumn: 'code_further',
			documentation: 'What was observed',
		},
		status: {
			type: 'token',
			match: 'code',
			column: 'status',
			system: 'http://hl7.org/fhir/observation-status',
			documentation: 'Status of the result',
		},
		date: {
			type: 'date',
			columnType: 'timestamptz',
			startColumn: 'effective_at',
			documentation: 'When it was observed; of a period its start',
		},
	},
	table: {
		resourceType: 'Observation',
		table: 'observation',
		links: [
			{ name: 'patient_id', sqlType: 'uuid' },
			{ name: 'encounter_id', sqlType: 'uuid' },
			{ name: 'order_key', sqlType: 'text' },
			{ name: 'item_key', sqlType: 'text' },
		],
		search: [
			{ name: 'status', sqlType: 'text' },
			{ name: 'code_system', sqlType: 'text' },
			{ name: 'code_value', sqlType: 'text' },
			{ name: 'code_further', sqlType: 'text[]' },
			{ name: 'effective_at', sqlType: 'timestamptz' },
		],
		searchValues,
	},
});

function searchValues(resource: JsonObject): ColumnValue[] {
	const codings = asObjects(asObject(resource['code'])?.['coding']).filter((coding) => asText(coding['code']) !== undefined);
	const [first, ...further] = codings;
	const tokens = further.flatMap((coding) => [`${asText(coding['system']) ?? ''}|${coding['code']}`, String(coding['code'])]);
	const effective =
		asText(resource['effectiveDateTime']) ??
		asText(resource['effectiveInstant']) ??
		asText(asObject(resource['effectivePeriod'])?.['start']);
	return [
		asText(resource['status']) ?? 'unknown',
		asText(first?.['system']) ?? null,
		asText(first?.['code']) ?? null,
		tokens.length === 0 ? null : tokens,
		startInstant(effective),
	];
}

import type { JsonObject } from '#core/json.ts';
import type { ColumnValue } from '#record/table-shape.ts';
import { type Bounds, instantBounds, periodBounds } from '../date.ts';
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
			startColumn: 'effective_start',
			endColumn: 'effective_end',
			documentation: 'When it was observed',
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
			{ name: 'effective_start', sqlType: 'timestamptz' },
			{ name: 'effective_end', sqlType: 'timestamptz' },
		],
		searchValues,
	},
});

function searchValues(resource: JsonObject): ColumnValue[] {
	const codings = asObjects(asObject(resource['code'])?.['coding']).filter((coding) => asText(coding['code']) !== undefined);
	const [first, ...further] = codings;
	const tokens = further.flatMap((coding) => codingTokens(asText(coding['system']) ?? '', asText(coding['code']) ?? ''));
	return [
		asText(resource['status']) ?? 'unknown',
		asText(first?.['system']) ?? null,
		asText(first?.['code']) ?? null,
		tokens.length === 0 ? null : tokens,
		...effectiveBounds(resource),
	];
}

/** What a search may name a coding by: `system|code`, `system|` and `code`, three for each and in this order. */
function codingTokens(system: string, code: string): string[] {
	return [`${system}|${code}`, `${system}|`, code];
}

/** A Timing (effectiveTiming) is not searched by date. */
function effectiveBounds(resource: JsonObject): Bounds {
	const period = asObject(resource['effectivePeriod']);
	if (period) return periodBounds(asText(period['start']), asText(period['end']));
	return instantBounds(asText(resource['effectiveDateTime']) ?? asText(resource['effectiveInstant']));
}

import type { JsonObject } from '#core/json.ts';
import { type Bounds, instantBounds, periodBounds } from '../date.ts';
import { asObject, asText } from '../elements.ts';
import { encounterLink, patientLink, subjectLinks } from '../links.ts';
import { defineResource, readInteractions, writeInteractions } from '../resource.ts';
import {
	codeColumn,
	codeParameter,
	codingColumns,
	codingParameter,
	encounterParameter,
	instantColumns,
	instantParameter,
	patientParameter,
} from '../search-columns.ts';

/** https://hl7.org/fhir/R4/observation.html */
export const observation = defineResource({
	type: 'Observation',
	interactions: [...readInteractions, ...writeInteractions],
	table: 'observation',
	links: [patientLink, encounterLink, { name: 'order_key', sqlType: 'text' }, { name: 'item_key', sqlType: 'text' }],
	statedLinks: subjectLinks,
	columns: [
		codeColumn('status', 'unknown'),
		codingColumns('code', (resource) => [resource['code']]),
		instantColumns('effective', effectiveBounds),
	],
	search: {
		patient: patientParameter('The patient that the observation is about'),
		subject: patientParameter('The patient that the observation is about'),
		encounter: encounterParameter('The visit during which it was made'),
		code: codingParameter('code', 'What was observed'),
		status: codeParameter('status', 'http://hl7.org/fhir/observation-status', 'Status of the result'),
		date: instantParameter('effective', 'When it was observed'),
	},
});

/** A Timing (effectiveTiming) is not searched by date. */
function effectiveBounds(resource: JsonObject): Bounds {
	const period = asObject(resource['effectivePeriod']);
	if (period) return periodBounds(asText(period['start']), asText(period['end']));
	return instantBounds(asText(resource['effectiveDateTime']) ?? asText(resource['effectiveInstant']));
}

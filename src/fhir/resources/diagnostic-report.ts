import type { JsonObject } from '#core/json.ts';
import { type Bounds, instantBounds, periodBounds } from '../date.ts';
import { asObject, asText } from '../elements.ts';
import { encounterLink, itemLink, patientLink, subjectLinks } from '../links.ts';
import { defineResource, readInteractions } from '../resource.ts';
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

/** https://hl7.org/fhir/R4/diagnosticreport.html; backed by the reports of the site, and so read only. */
export const diagnosticReport = defineResource({
	type: 'DiagnosticReport',
	interactions: readInteractions,
	table: 'diagnostic_report',
	links: [patientLink, encounterLink, itemLink],
	statedLinks: subjectLinks,
	columns: [
		codeColumn('status'),
		codingColumns('code', (resource) => [resource['code']]),
		instantColumns('effective', effectiveBounds),
		instantColumns('issued', (resource) => instantBounds(asText(resource['issued']))),
	],
	search: {
		patient: patientParameter('Whom the report is about'),
		subject: patientParameter('Whom the report is about'),
		encounter: encounterParameter('The visit during which it was made'),
		code: codingParameter('code', 'What was reported on'),
		status: codeParameter('status', 'http://hl7.org/fhir/diagnostic-report-status', 'Status of the report'),
		date: instantParameter('effective', 'When what it reports was found'),
		issued: instantParameter('issued', 'When it was made available'),
	},
});

function effectiveBounds(resource: JsonObject): Bounds {
	const period = asObject(resource['effectivePeriod']);
	if (period) return periodBounds(asText(period['start']), asText(period['end']));
	return instantBounds(asText(resource['effectiveDateTime']));
}

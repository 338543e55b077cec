import type { JsonObject } from '#core/json.ts';
import { type Bounds, instantBounds, periodBounds } from '../date.ts';
import { asObject, asText } from '../elements.ts';
import { encounterLink, itemLink, patientLink, subjectLinks } from '../links.ts';
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

/** https://hl7.org/fhir/R4/procedure.html */
export const procedure = defineResource({
	type: 'Procedure',
	interactions: [...readInteractions, ...writeInteractions],
	table: 'procedure',
	links: [patientLink, encounterLink, itemLink],
	statedLinks: subjectLinks,
	columns: [codeColumn('status'), codingColumns('code', (resource) => [resource['code']]), instantColumns('performed', performedBounds)],
	search: {
		patient: patientParameter('On whom it was performed'),
		subject: patientParameter('On whom it was performed'),
		encounter: encounterParameter('The visit during which it was performed'),
		code: codingParameter('code', 'What was performed'),
		status: codeParameter('status', 'http://hl7.org/fhir/event-status', 'Preparation, in progress, completed …'),
		date: instantParameter('performed', 'When it was performed'),
	},
});

function performedBounds(resource: JsonObject): Bounds {
	const period = asObject(resource['performedPeriod']);
	if (period) return periodBounds(asText(period['start']), asText(period['end']));
	return instantBounds(asText(resource['performedDateTime']));
}

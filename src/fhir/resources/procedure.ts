import type { JsonObject } from '#core/json.ts';
import { codedRow } from '../chart.ts';
import { type Bounds, instantBounds, periodBounds } from '../date.ts';
import { asObject, asText } from '../elements.ts';
import { itemKeyOf } from '../identity.ts';
import { encounterLink, statedEncounter } from '../links.ts';
import { defineResource, readInteractions, writeInteractions } from '../resource.ts';
import {
	codeColumn,
	codeParameter,
	codingColumns,
	codingParameter,
	conceptParameter,
	elementReference,
	encounterParameter,
	identifierParameter,
	instantColumns,
	instantParameter,
	patientParameter,
	subjectParameter,
} from '../search-columns.ts';

/** https://hl7.org/fhir/R4/procedure.html */
export const procedure = defineResource({
	type: 'Procedure',
	interactions: [...readInteractions, ...writeInteractions],
	table: 'procedure',
	compartment: {
		patient: 'subject',
		chart: {
			list: 'procedures',
			title: 'Procedures',
			noun: 'procedure',
			position: 6,
			sort: '-date',
			row: (resource) => codedRow(resource, 'performed'),
		},
	},
	identity: { item_key: itemKeyOf },
	links: [encounterLink],
	statedLinks: statedEncounter,
	columns: [codeColumn('status'), codingColumns('code', (resource) => [resource['code']]), instantColumns('performed', performedBounds)],
	search: {
		patient: patientParameter('On whom it was performed'),
		subject: subjectParameter('On whom it was performed: a patient or a group', ['Group']),
		encounter: encounterParameter('The visit during which it was performed'),
		code: codingParameter('code', 'What was performed'),
		category: conceptParameter('category', 'Kind of procedure'),
		'reason-code': conceptParameter('reasonCode', 'Why it was performed'),
		identifier: identifierParameter('An identifier of the procedure'),
		performer: elementReference(
			'performer.actor',
			['Device', 'Organization', 'Patient', 'Practitioner', 'PractitionerRole', 'RelatedPerson'],
			'Who performed it',
		),
		status: codeParameter('status', 'http://hl7.org/fhir/event-status', 'Preparation, in progress, completed …'),
		date: instantParameter('performed', 'When it was performed', [
			'$.performedPeriod',
			'$.performedAge',
			'$.performedRange',
			'$.performedString',
		]),
	},
	summary:
		'implicitRules identifier instantiatesCanonical instantiatesUri basedOn partOf status statusReason category code subject encounter performedDateTime performedPeriod performedString performedAge performedRange recorder asserter performer location reasonCode reasonReference bodySite outcome'.split(
			' ',
		),
	mandatory: ['status', 'subject'],
	example: { status: 'completed', code: { text: 'CT of the head' }, subject: { display: 'Alba Rivers' } },
});

function performedBounds(resource: JsonObject): Bounds {
	const period = asObject(resource['performedPeriod']);
	if (period) return periodBounds(asText(period['start']), asText(period['end']));
	return instantBounds(asText(resource['performedDateTime']));
}

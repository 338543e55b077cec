import type { JsonObject } from '#core/json.ts';
import { type ChartRow, codedRow } from '../chart.ts';
import { instantBounds } from '../date.ts';
import { asObjects, asText } from '../elements.ts';
import { itemLink } from '../links.ts';
import { defineResource, readInteractions, writeInteractions } from '../resource.ts';
import {
	codeParameter,
	codingColumns,
	codingParameter,
	conceptCodeColumn,
	conceptParameter,
	elementReference,
	identifierParameter,
	instantColumns,
	instantParameter,
	patientParameter,
	valueParameter,
} from '../search-columns.ts';
import { conceptCode, conceptText } from '../summaries.ts';

/** https://hl7.org/fhir/R4/allergyintolerance.html */
export const allergyIntolerance = defineResource({
	type: 'AllergyIntolerance',
	interactions: [...readInteractions, ...writeInteractions],
	table: 'allergy_intolerance',
	compartment: {
		patient: 'patient',
		chart: { list: 'allergies', title: 'Allergies', noun: 'allergy', position: 5, sort: '-_lastUpdated', row: chartRow },
	},
	links: [itemLink],
	columns: [
		conceptCodeColumn('clinical_status', 'clinicalStatus'),
		codingColumns('code', (resource) => [resource['code'], ...asObjects(resource['reaction']).map((reaction) => reaction['substance'])]),
		instantColumns('recorded', (resource) => instantBounds(asText(resource['recordedDate']))),
	],
	search: {
		patient: patientParameter('Who the sensitivity is for', '$.patient'),
		'clinical-status': codeParameter(
			'clinical_status',
			'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical',
			'Active, inactive or resolved',
			'$.clinicalStatus.coding.code',
		),
		'verification-status': conceptParameter('verificationStatus', 'Unconfirmed, confirmed, refuted …'),
		type: valueParameter('type', 'Allergy or intolerance', 'http://hl7.org/fhir/allergy-intolerance-type'),
		category: valueParameter('category', 'Food, medication, environment or biologic', 'http://hl7.org/fhir/allergy-intolerance-category'),
		criticality: valueParameter('criticality', 'How dangerous a reaction could be', 'http://hl7.org/fhir/allergy-intolerance-criticality'),
		severity: valueParameter('reaction.severity', 'How severe a reaction was', 'http://hl7.org/fhir/reaction-event-severity'),
		manifestation: conceptParameter('reaction.manifestation', 'What a reaction showed'),
		identifier: identifierParameter('An identifier of the allergy'),
		recorder: elementReference('recorder', ['Patient', 'Practitioner', 'PractitionerRole', 'RelatedPerson'], 'Who recorded it'),
		asserter: elementReference('asserter', ['Patient', 'Practitioner', 'PractitionerRole', 'RelatedPerson'], 'Who asserts it'),
		code: codingParameter('code', 'The allergy, or a substance of a reaction'),
		date: instantParameter('recorded', 'When it was first recorded'),
	},
	summary: 'implicitRules identifier clinicalStatus verificationStatus type category criticality code patient asserter'.split(' '),
	mandatory: ['patient'],
	example: {
		clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }] },
		code: { text: 'Peanut' },
		patient: { display: 'Alba Rivers' },
	},
});

function chartRow(resource: JsonObject): ChartRow {
	const reactions = asObjects(resource['reaction']).flatMap((reaction) => asObjects(reaction['manifestation']).map(conceptText));
	const detail = [asText(resource['criticality']) ?? '', reactions.join(', ')].filter((part) => part !== '').join(': ');
	return { ...codedRow(resource, 'onset', 'recordedDate'), status: conceptCode(resource['clinicalStatus']), detail };
}

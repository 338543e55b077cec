import type { JsonObject } from '#core/json.ts';
import { type ChartRow, codedRow } from '../chart.ts';
import { type Bounds, instantBounds, periodBounds } from '../date.ts';
import { asObject, asObjects, asText } from '../elements.ts';
import { itemKeyOf } from '../identity.ts';
import { encounterLink, statedEncounter } from '../links.ts';
import { defineResource, readInteractions, writeInteractions } from '../resource.ts';
import {
	codeParameter,
	codingColumns,
	codingParameter,
	conceptCodeColumn,
	conceptParameter,
	elementReference,
	encounterParameter,
	identifierParameter,
	instantColumns,
	instantParameter,
	patientParameter,
	subjectParameter,
} from '../search-columns.ts';
import { conceptCode, conceptText } from '../summaries.ts';

/** https://hl7.org/fhir/R4/condition.html */
export const condition = defineResource({
	type: 'Condition',
	interactions: [...readInteractions, ...writeInteractions],
	table: 'condition',
	compartment: {
		patient: 'subject',
		chart: { list: 'conditions', title: 'Conditions', noun: 'condition', position: 4, sort: '-_lastUpdated', row: chartRow },
	},
	identity: { item_key: itemKeyOf },
	links: [encounterLink],
	statedLinks: statedEncounter,
	columns: [
		conceptCodeColumn('clinical_status', 'clinicalStatus'),
		codingColumns('code', (resource) => [resource['code']]),
		instantColumns('onset', onsetBounds),
		instantColumns('recorded', (resource) => instantBounds(asText(resource['recordedDate']))),
	],
	search: {
		patient: patientParameter('Who has the condition'),
		subject: subjectParameter('Who has the condition: a patient or a group', ['Group']),
		encounter: encounterParameter('The visit during which it was recorded'),
		'clinical-status': codeParameter(
			'clinical_status',
			'http://terminology.hl7.org/CodeSystem/condition-clinical',
			'Active, recurrence, remission …',
			'$.clinicalStatus.coding.code',
		),
		'verification-status': conceptParameter('verificationStatus', 'Unconfirmed, provisional, confirmed …'),
		category: conceptParameter('category', 'Problem list item, encounter diagnosis …'),
		severity: conceptParameter('severity', 'How severe it is'),
		'body-site': conceptParameter('bodySite', 'Where on the body'),
		identifier: identifierParameter('An identifier of the condition'),
		asserter: elementReference('asserter', ['Patient', 'Practitioner', 'PractitionerRole', 'RelatedPerson'], 'Who asserts it'),
		code: codingParameter('code', 'The condition, problem or diagnosis'),
		'onset-date': instantParameter('onset', 'When it began, as a date or period', ['$.onsetPeriod']),
		'recorded-date': instantParameter('recorded', 'When it was recorded'),
	},
	summary:
		'implicitRules identifier clinicalStatus verificationStatus code bodySite subject encounter onsetDateTime onsetAge onsetPeriod onsetRange onsetString recordedDate recorder asserter'.split(
			' ',
		),
	mandatory: ['subject'],
	example: {
		clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }] },
		code: { text: 'Hypertension' },
		subject: { display: 'Alba Rivers' },
	},
});

function onsetBounds(resource: JsonObject): Bounds {
	const period = asObject(resource['onsetPeriod']);
	if (period) return periodBounds(asText(period['start']), asText(period['end']));
	return instantBounds(asText(resource['onsetDateTime']));
}

function chartRow(resource: JsonObject): ChartRow {
	const marks = [conceptCode(resource['clinicalStatus']), conceptCode(resource['verificationStatus'])];
	return {
		...codedRow(resource, 'onset', 'recordedDate'),
		status: marks.filter((mark) => mark !== '').join(', '),
		detail: asObjects(resource['category']).map(conceptText).join(', '),
	};
}

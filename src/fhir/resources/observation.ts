import type { JsonObject } from '#core/json.ts';
import { codedRow } from '../chart.ts';
import { type Bounds, instantBounds, periodBounds } from '../date.ts';
import { asObject, asText } from '../elements.ts';
import { encounterLink, sentLink, statedEncounter } from '../links.ts';
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
	textParameter,
} from '../search-columns.ts';

/** https://hl7.org/fhir/R4/observation.html */
export const observation = defineResource({
	type: 'Observation',
	interactions: [...readInteractions, ...writeInteractions],
	table: 'observation',
	compartment: {
		patient: 'subject',
		chart: {
			list: 'observations',
			title: 'Observations',
			noun: 'observation',
			position: 1,
			sort: '-date',
			row: (resource) => codedRow(resource, 'effective', 'issued'),
		},
	},
	links: [encounterLink, { name: 'order_key', sqlType: 'uuid' }, { name: 'item_key', sqlType: 'uuid' }, sentLink],
	statedLinks: statedEncounter,
	columns: [
		codeColumn('status', 'unknown'),
		codingColumns('code', (resource) => [resource['code']]),
		instantColumns('effective', effectiveBounds),
	],
	search: {
		patient: patientParameter('The patient that the observation is about'),
		subject: subjectParameter('The patient, group, device or location that the observation is about', ['Group', 'Device', 'Location']),
		encounter: encounterParameter('The visit during which it was made'),
		code: codingParameter('code', 'What was observed'),
		status: codeParameter('status', 'http://hl7.org/fhir/observation-status', 'Status of the result'),
		category: conceptParameter('category', 'Laboratory, vital signs, imaging …'),
		'value-quantity': { type: 'quantity', paths: ['$.valueQuantity'], documentation: 'The value, with unit' },
		'value-concept': conceptParameter('valueCodeableConcept', 'The value, where it is a code'),
		'value-string': textParameter(['$.valueString', '$.valueCodeableConcept.text'], 'The start of the value, where it is text'),
		'code-value-quantity': {
			type: 'composite',
			components: ['code', 'value-quantity'],
			documentation: 'What was observed and its value: `code$value`',
		},
		'component-code': conceptParameter('component.code', 'What a component observes'),
		'component-value-quantity': { type: 'quantity', paths: ['$.component.valueQuantity'], documentation: 'The value of a component' },
		method: conceptParameter('method', 'How it was observed'),
		identifier: identifierParameter('An identifier of the observation'),
		performer: elementReference(
			'performer',
			['CareTeam', 'Organization', 'Patient', 'Practitioner', 'PractitionerRole', 'RelatedPerson'],
			'Who observed',
		),
		'has-member': elementReference('hasMember', ['Observation', 'MolecularSequence', 'QuestionnaireResponse'], 'A member of the panel'),
		'derived-from': elementReference(
			'derivedFrom',
			['Observation', 'DocumentReference', 'ImagingStudy', 'Media', 'MolecularSequence', 'QuestionnaireResponse'],
			'What it was derived from',
		),
		date: instantParameter('effective', 'When it was observed', ['$.effectivePeriod', '$.effectiveTiming']),
	},
	summary:
		'implicitRules identifier basedOn partOf status code subject focus encounter effectiveDateTime effectivePeriod effectiveTiming effectiveInstant issued performer valueQuantity valueCodeableConcept valueString valueBoolean valueInteger valueRange valueRatio valueSampledData valueTime valueDateTime valuePeriod hasMember derivedFrom component'.split(
			' ',
		),
	mandatory: ['status', 'code'],
	example: {
		status: 'final',
		code: { coding: [{ system: 'http://loinc.org', code: '718-7' }] },
		valueQuantity: { value: 13.2, unit: 'g/dL', system: 'http://unitsofmeasure.org', code: 'g/dL' },
	},
});

/** A Timing (effectiveTiming) is not searched by date. */
function effectiveBounds(resource: JsonObject): Bounds {
	const period = asObject(resource['effectivePeriod']);
	if (period) return periodBounds(asText(period['start']), asText(period['end']));
	return instantBounds(asText(resource['effectiveDateTime']) ?? asText(resource['effectiveInstant']));
}

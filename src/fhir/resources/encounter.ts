import type { JsonObject } from '#core/json.ts';
import { indexText } from '#record/index-text.ts';
import type { ChartRow } from '../chart.ts';
import { periodBounds } from '../date.ts';
import { asObject, asObjects, asText } from '../elements.ts';
import { visitKeyOf } from '../identity.ts';
import { defineResource, readInteractions, writeInteractions } from '../resource.ts';
import {
	codeColumn,
	codeParameter,
	conceptParameter,
	identifierParameter,
	instantColumns,
	instantParameter,
	oneColumn,
	patientParameter,
	subjectParameter,
} from '../search-columns.ts';
import { conceptText, momentOf, periodText, referenceText } from '../summaries.ts';

/** https://hl7.org/fhir/R4/encounter.html. A visit number leads messages and clients to the same Encounter. */
export const encounter = defineResource({
	type: 'Encounter',
	interactions: [...readInteractions, ...writeInteractions],
	table: 'encounter',
	compartment: {
		patient: 'subject',
		chart: { list: 'visits', title: 'Visits', noun: 'visit', position: 7, sort: '-date', row: chartRow },
	},
	identity: { visit_key: visitKeyOf },
	columns: [
		codeColumn('status', 'unknown'),
		oneColumn('class', 'text', (resource) => {
			const code = asText(asObject(resource['class'])?.['code']);
			return code === undefined ? null : indexText(code);
		}),
		instantColumns('period', (resource) => {
			const period = asObject(resource['period']);
			return periodBounds(asText(period?.['start']), asText(period?.['end']));
		}),
		// A message with a number reads the open visits that have none.
		oneColumn('is_numbered', 'boolean', (resource) => resource['identifier'] !== undefined),
	],
	search: {
		patient: patientParameter('The patient present at the encounter'),
		subject: subjectParameter('The patient or group present at the encounter', ['Group']),
		status: codeParameter('status', 'http://hl7.org/fhir/encounter-status', 'Status of the visit'),
		class: codeParameter('class', 'http://terminology.hl7.org/CodeSystem/v3-ActCode', 'Inpatient, outpatient, emergency …', '$.class.code'),
		identifier: identifierParameter('An identifier of the visit'),
		type: conceptParameter('type', 'Kind of visit'),
		date: instantParameter('period', 'The period of the visit', ['$.period']),
	},
	summary:
		'implicitRules identifier status class type serviceType subject episodeOfCare participant appointment reasonCode reasonReference diagnosis'.split(
			' ',
		),
	mandatory: ['status', 'class'],
	example: {
		status: 'in-progress',
		class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'IMP' },
		subject: { display: 'Alba Rivers' },
	},
});

function chartRow(resource: JsonObject): ChartRow {
	const kind = asObject(resource['class']);
	const [place] = asObjects(resource['location']);
	return {
		at: momentOf(resource, 'period'),
		code: asText(kind?.['code']) ?? '',
		text: asObjects(resource['type']).map(conceptText).join(', ') || (asText(kind?.['display']) ?? ''),
		status: asText(resource['status']) ?? '',
		detail: [periodText(resource['period']), referenceText(place?.['location'])].filter((part) => part !== '').join(' · '),
	};
}

import type { JsonObject } from '#core/json.ts';
import { clientOrigin } from '#record/client-origin.ts';
import { codedRow } from '../chart.ts';
import { type Bounds, instantBounds, periodBounds } from '../date.ts';
import { asObject, asObjects, asText } from '../elements.ts';
import { encounterLink, itemLink, reportLinks, statedEncounter } from '../links.ts';
import { defineResource, readInteractions, writeInteractions } from '../resource.ts';
import {
	codeColumn,
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

const completed = ['final', 'amended', 'corrected', 'appended'];
const drafts = ['registered', 'partial', 'preliminary', 'cancelled', 'entered-in-error', 'unknown'];

/**
 * https://hl7.org/fhir/R4/diagnosticreport.html. Messages and people make reports; what clients write stands beside them, and only clients
 * change it.
 */
export const diagnosticReport = defineResource({
	type: 'DiagnosticReport',
	interactions: [...readInteractions, ...writeInteractions],
	writtenIf: 'report_writes',
	table: 'diagnostic_report',
	compartment: {
		patient: 'subject',
		chart: {
			list: 'reports',
			title: 'Reports',
			noun: 'report',
			position: 3,
			sort: '-date',
			row: (resource) => codedRow(resource, 'effective', 'issued'),
		},
	},
	links: [encounterLink, itemLink, ...reportLinks],
	statedLinks: (resource) => ({ ...statedEncounter(resource), origin: clientOrigin }),
	columns: [
		codeColumn('status'),
		codingColumns('code', (resource) => [resource['code']]),
		instantColumns('effective', effectiveBounds),
		instantColumns('issued', (resource) => instantBounds(asText(resource['issued']))),
	],
	search: {
		patient: patientParameter('Whom the report is about'),
		subject: subjectParameter('Whom or what the report is about: a patient, group, device or location', ['Group', 'Device', 'Location']),
		encounter: encounterParameter('The visit during which it was made'),
		code: codingParameter('code', 'What was reported on'),
		status: {
			type: 'token',
			match: 'code',
			column: 'status',
			system: 'http://hl7.org/fhir/diagnostic-report-status',
			path: '$.status',
			meaning: (code) => (code === 'final' ? completed : drafts),
			documentation:
				'`final`: completed reports, amended ones too; any other value: drafts. With its system before it (`http://hl7.org/fhir/diagnostic-report-status|preliminary`) a status is itself',
		},
		category: conceptParameter('category', 'Radiology, laboratory …'),
		conclusion: conceptParameter('conclusionCode', 'A coded conclusion'),
		identifier: identifierParameter('An identifier of the report'),
		result: elementReference('result', ['Observation'], 'An observation of the report'),
		performer: elementReference('performer', ['CareTeam', 'Organization', 'Practitioner', 'PractitionerRole'], 'Who is responsible for it'),
		'results-interpreter': elementReference(
			'resultsInterpreter',
			['CareTeam', 'Organization', 'Practitioner', 'PractitionerRole'],
			'Who interpreted the results',
		),
		'imaging-study': elementReference(
			'imagingStudy',
			['ImagingStudy'],
			'The study that it reports on. A parameter of this service, not of R4',
		),
		date: instantParameter('effective', 'When what it reports was found', ['$.effectivePeriod']),
		issued: instantParameter('issued', 'When it was made available'),
	},
	summary:
		'implicitRules identifier status category code subject encounter effectiveDateTime effectivePeriod issued performer resultsInterpreter media'.split(
			' ',
		),
	mandatory: ['status', 'code'],
	example: { status: 'final', code: { text: 'Chest X-ray' }, conclusion: 'No finding.' },
	attachments: (resource) => asObjects(resource['presentedForm']),
});

function effectiveBounds(resource: JsonObject): Bounds {
	const period = asObject(resource['effectivePeriod']);
	if (period) return periodBounds(asText(period['start']), asText(period['end']));
	return instantBounds(asText(resource['effectiveDateTime']));
}

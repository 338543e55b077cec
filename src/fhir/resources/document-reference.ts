import type { JsonObject } from '#core/json.ts';
import type { ChartRow } from '../chart.ts';
import { instantBounds } from '../date.ts';
import { asObject, asObjects, asText } from '../elements.ts';
import { documentKeyOf } from '../identity.ts';
import { documentLinks } from '../links.ts';
import { defineResource, readInteractions, writeInteractions } from '../resource.ts';
import {
	codeColumn,
	codeParameter,
	codingColumns,
	codingParameter,
	conceptParameter,
	elementReference,
	instantColumns,
	instantParameter,
	patientParameter,
	subjectParameter,
	textParameter,
	valueParameter,
} from '../search-columns.ts';
import { conceptCode, conceptText, momentOf } from '../summaries.ts';

/** https://hl7.org/fhir/R4/documentreference.html */
export const documentReference = defineResource({
	type: 'DocumentReference',
	interactions: [...readInteractions, ...writeInteractions],
	table: 'document_reference',
	compartment: {
		patient: 'subject',
		chart: { list: 'documents', title: 'Documents', noun: 'document', position: 8, sort: '-date', row: chartRow },
	},
	identity: { document_key: documentKeyOf },
	links: documentLinks,
	columns: [
		codeColumn('status'),
		codingColumns('code', (resource) => [resource['type']]),
		instantColumns('date', (resource) => instantBounds(asText(resource['date']))),
	],
	search: {
		patient: patientParameter('Whom the document is about'),
		subject: subjectParameter('Whom or what the document is about: a patient, practitioner, group or device', [
			'Practitioner',
			'Group',
			'Device',
		]),
		type: codingParameter('code', 'Kind of document', 'type'),
		category: conceptParameter('category', 'Class of document'),
		contenttype: valueParameter('content.attachment.contentType', 'Media type of the content'),
		description: textParameter(['$.description'], 'The start of the description'),
		identifier: {
			type: 'token',
			match: 'element',
			paths: ['$.identifier', '$.masterIdentifier'],
			form: 'identifier',
			ofType: ['$.identifier', '$.masterIdentifier'],
			documentation: 'An identifier of the document',
		},
		author: elementReference(
			'author',
			['Device', 'Organization', 'Patient', 'Practitioner', 'PractitionerRole', 'RelatedPerson'],
			'Who wrote the document',
		),
		encounter: elementReference('context.encounter', ['Encounter', 'EpisodeOfCare'], 'The visit that the document is about'),
		relatesto: elementReference('relatesTo.target', ['DocumentReference'], 'A document that this one replaces, transforms …'),
		status: codeParameter('status', 'http://hl7.org/fhir/document-reference-status', 'Current, superseded or entered in error'),
		date: instantParameter('date', 'When the reference was made'),
	},
	summary:
		'implicitRules masterIdentifier identifier status docStatus type category subject date author relatesTo description securityLabel content context'.split(
			' ',
		),
	mandatory: ['status', 'content'],
	attachments: (resource) => {
		const held = asObjects(resource['content']).map((content) => asObject(content['attachment']));
		return held.filter((attachment) => attachment !== undefined);
	},
	example: {
		status: 'current',
		type: { coding: [{ system: 'http://loinc.org', code: '11502-2' }] },
		content: [{ attachment: { contentType: 'text/plain', data: 'SGVsbG8=' } }],
	},
});

function chartRow(resource: JsonObject): ChartRow {
	const [content] = asObjects(resource['content']);
	const attachment = asObject(content?.['attachment']);
	return {
		at: momentOf(resource, 'date'),
		code: conceptCode(resource['type']),
		text: asText(attachment?.['title']) ?? (conceptText(resource['type']) || (asText(resource['description']) ?? '')),
		status: asText(resource['status']) ?? '',
		detail: asText(attachment?.['contentType']) ?? '',
	};
}

import { dayMs } from '#core/date-range.ts';
import type { JsonObject } from '#core/json.ts';
import { clientOrigin } from '#record/client-origin.ts';
import type { ChartRow } from '../chart.ts';
import { asText } from '../elements.ts';
import { originLink } from '../links.ts';
import { defineResource, type NumberColumn, readInteractions, writeInteractions } from '../resource.ts';
import { patientColumnParameter } from '../search-columns.ts';
import { writtenStudyColumns } from '../written-study.ts';

const accession: NumberColumn = { column: 'accession_number', system: { column: 'accession_system' } };
const studyUid: NumberColumn = { column: 'study_uid', system: { uri: 'urn:dicom:uid' }, prefix: 'urn:oid:' };

/**
 * https://hl7.org/fhir/R4/imagingstudy.html; it is rendered from the index of stored images when it is read, so only its current version
 * exists. What clients write stands beside these with all its versions, and changes neither them nor the index.
 */
export const imagingStudy = defineResource({
	type: 'ImagingStudy',
	interactions: [...readInteractions, ...writeInteractions],
	writtenIf: 'report_writes',
	table: 'imaging_study_resource',
	rendered: { from: 'imaging_study', writtenTo: 'written_imaging_study' },
	compartment: {
		patient: 'subject',
		chart: { list: 'studies', title: 'Studies', noun: 'study', position: 2, sort: '-started', summary: 'true', row: chartRow },
	},
	links: [originLink],
	statedLinks: () => ({ origin: clientOrigin }),
	columns: [writtenStudyColumns],
	search: {
		patient: patientColumnParameter('Who was imaged'),
		subject: patientColumnParameter('Who was imaged'),
		identifier: {
			type: 'token',
			match: 'numbers',
			numbers: [studyUid, accession],
			listColumn: 'identifiers',
			typed: { column: 'accession_number', system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'ACSN' },
			ofType: ['$.identifier'],
			documentation:
				'The Study Instance UID (`urn:dicom:uid|urn:oid:1.2.3`, also without `urn:oid:`) or the accession number; any identifier of a study that a client wrote',
		},
		accession: {
			type: 'token',
			match: 'numbers',
			numbers: [accession],
			documentation: 'The accession number; its system is the issuer’s. A parameter of this service, not of R4',
		},
		modality: {
			type: 'token',
			match: 'member',
			column: 'modalities',
			system: 'http://dicom.nema.org/resources/ontology/DCM',
			documentation: 'The modality of a series',
		},
		'dicom-class': {
			type: 'token',
			match: 'member',
			column: 'sop_classes',
			system: 'urn:ietf:rfc:3986',
			prefix: 'urn:oid:',
			documentation: 'The SOP class of an instance: `urn:oid:1.2.840.10008.5.1.4.1.1.2`, also without `urn:oid:`',
		},
		series: {
			type: 'token',
			match: 'part',
			table: 'imaging_series',
			uidColumn: 'series_uid',
			key: 'study_uid',
			column: 'rendered_uid',
			listColumn: 'series_uids',
			documentation: 'A Series Instance UID',
		},
		instance: {
			type: 'token',
			match: 'part',
			table: 'imaging_instance',
			uidColumn: 'sop_instance_uid',
			key: 'study_uid',
			column: 'rendered_uid',
			listColumn: 'instance_uids',
			documentation: 'A SOP Instance UID',
		},
		status: {
			type: 'token',
			match: 'code',
			column: 'status',
			system: 'http://hl7.org/fhir/imagingstudy-status',
			documentation: '`available`, as every study is whose images are here; a study that a client wrote has any status of R4',
		},
		started: {
			type: 'date',
			match: 'range',
			columnType: 'timestamptz',
			startColumn: 'started_start',
			endColumn: 'started_end',
			// A client may state a year alone.
			longestMs: 366 * dayMs,
			documentation: 'When the study began; one without a known offset is found by its day, as it is shown',
		},
	},
	summary:
		'implicitRules identifier status modality subject encounter started basedOn referrer interpreter endpoint numberOfSeries numberOfInstances procedureReference procedureCode location reasonCode reasonReference note description series'.split(
			' ',
		),
	mandatory: ['status', 'subject'],
	beyondSummary: { series: ['instance'] },
	example: { status: 'available', subject: { display: 'Alba Rivers' } },
});

function chartRow(resource: JsonObject): ChartRow {
	const text = asText(resource['description']) ?? '';
	return { at: asText(resource['started']) ?? null, code: '', text, status: asText(resource['status']) ?? '', detail: '' };
}

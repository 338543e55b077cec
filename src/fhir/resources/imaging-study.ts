import { dayMs } from '#core/date-range.ts';
import type { JsonObject } from '#core/json.ts';
import type { ChartRow } from '../chart.ts';
import { asText } from '../elements.ts';
import { defineResource, type NumberColumn } from '../resource.ts';
import { patientColumnParameter } from '../search-columns.ts';

const accession: NumberColumn = { column: 'accession_number', system: { column: 'accession_system' } };
const studyUid: NumberColumn = { column: 'study_uid', system: { uri: 'urn:dicom:uid' }, prefix: 'urn:oid:' };

/**
 * https://hl7.org/fhir/R4/imagingstudy.html; it is rendered from the index of stored images when it is read. So clients cannot write it,
 * and
 * only its current version exists.
 */
export const imagingStudy = defineResource({
	type: 'ImagingStudy',
	interactions: ['read', 'vread', 'search-type'],
	table: 'imaging_study_resource',
	renderedFrom: 'imaging_study',
	compartment: {
		patient: 'subject',
		chart: { list: 'studies', title: 'Studies', noun: 'study', position: 2, sort: '-started', summary: 'true', row: chartRow },
	},
	columns: [],
	search: {
		patient: patientColumnParameter('Who was imaged'),
		subject: patientColumnParameter('Who was imaged'),
		identifier: {
			type: 'token',
			match: 'numbers',
			numbers: [studyUid, accession],
			documentation: 'The Study Instance UID (`urn:dicom:uid|urn:oid:1.2.3`, also without `urn:oid:`) or the accession number',
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
			column: 'study_uid',
			documentation: 'A Series Instance UID',
		},
		instance: {
			type: 'token',
			match: 'part',
			table: 'imaging_instance',
			uidColumn: 'sop_instance_uid',
			column: 'study_uid',
			documentation: 'A SOP Instance UID',
		},
		status: {
			type: 'token',
			match: 'constant',
			system: 'http://hl7.org/fhir/imagingstudy-status',
			value: 'available',
			documentation: '`available`, as every study is whose images are here',
		},
		started: {
			type: 'date',
			match: 'range',
			columnType: 'timestamptz',
			startColumn: 'started_start',
			endColumn: 'started_end',
			longestMs: dayMs,
			documentation: 'When the study began; one without a known offset is found by its day, as it is shown',
		},
	},
	summary:
		'implicitRules identifier status modality subject encounter started basedOn referrer interpreter endpoint numberOfSeries numberOfInstances procedureReference procedureCode location reasonCode reasonReference note description series'.split(
			' ',
		),
	mandatory: ['status', 'subject'],
	beyondSummary: { series: ['instance'] },
});

function chartRow(resource: JsonObject): ChartRow {
	const text = asText(resource['description']) ?? '';
	return { at: asText(resource['started']) ?? null, code: '', text, status: asText(resource['status']) ?? '', detail: '' };
}
